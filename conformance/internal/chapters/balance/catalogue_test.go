package balance

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

// The forms of a test: see package tracetest.
var (
	judges       = tracetest.Judging(Scenario)
	passes       = tracetest.Passes
	fails        = tracetest.Fails
	warns        = tracetest.Warns
	unobserved   = tracetest.Unobserved
	inapplicable = tracetest.Inapplicable
	unsupported  = tracetest.Unsupported
	legacy       = tracetest.Legacy
	modern       = tracetest.Modern
	native       = tracetest.InNative
	declares     = tracetest.Declaring
)

type session = tracetest.Story
