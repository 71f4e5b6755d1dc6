package basic

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// The forms of a test: see package tracetest.
var (
	judges       = tracetest.Judging(Scenario)
	row          = tracetest.Row
	passes       = tracetest.Passes
	fails        = tracetest.Fails
	warns        = tracetest.Warns
	informs      = tracetest.Informs
	unobserved   = tracetest.Unobserved
	inapplicable = tracetest.Inapplicable
	legacy       = tracetest.Legacy
	modern       = tracetest.Modern
	native       = tracetest.InNative
	openAI       = tracetest.InOpenAI
)

type (
	session = tracetest.Story
	test    = tracetest.Test
	steps   = func(*session)
)

var (
	whole = tracetest.Saying(story.Answer)
	asked = tracetest.Asking(story.Question)
)

// answers is a client that returns the right result, less its changes: name and JSON value, "" for no value.
func answers(name, value string) steps {
	return tracetest.AnswersWith(tracetest.With(whole, name, value))
}

// prompts is a client that changes the question on its way to the model.
func prompts(edit func(*server.CreateMessageParams)) steps {
	return func(s *session) {
		changed := tracetest.Asking(story.Question)
		edit(changed)
		s.Asks(asked).Prompts(changed).Answers(whole)
	}
}

// silent is a client that never responds, refusing one that returns an error.
func silent(s *session)   { s.Asks(asked) }
func refusing(s *session) { s.Asks(asked).Refuses(-1, "no") }

// noModel is a client that never calls the model.
func noModel(s *session) { s.Asks(asked).Answers(whole) }
