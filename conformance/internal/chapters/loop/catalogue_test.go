package loop

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

// The forms of a test: see package tracetest.
var (
	judges       = tracetest.Judging(Scenario)
	passes       = tracetest.Passes
	fails        = tracetest.Fails
	warns        = tracetest.Warns
	informs      = tracetest.Informs
	unobserved   = tracetest.Unobserved
	inapplicable = tracetest.Inapplicable
	unsupported  = tracetest.Unsupported
	legacy       = tracetest.Legacy
	modern       = tracetest.Modern
	native       = tracetest.InNative
	openAI       = tracetest.InOpenAI
)

type session = tracetest.Story
