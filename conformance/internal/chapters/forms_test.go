// Package chapters_test has the tests of all chapters: one binary links much faster than one for each.
package chapters_test

import "github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"

// The forms of a test: see package tracetest.
var (
	about        = tracetest.About
	declares     = tracetest.Declaring
	fails        = tracetest.Fails
	inapplicable = tracetest.Inapplicable
	informs      = tracetest.Informs
	legacy       = tracetest.Legacy
	modern       = tracetest.Modern
	native       = tracetest.InNative
	openAI       = tracetest.InOpenAI
	passes       = tracetest.Passes
	unobserved   = tracetest.Unobserved
	unsupported  = tracetest.Unsupported
	warns        = tracetest.Warns
)

type (
	session = tracetest.Story
	step    = func(*session)
	steps   = func(*session)
)

func inOrder(steps ...step) step {
	return func(s *session) {
		for _, next := range steps {
			next(s)
		}
	}
}

func reports(outcome string) step { return func(s *session) { s.CallEnds(outcome) } }
