package malformed

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
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
	unsupported  = tracetest.Unsupported
	legacy       = tracetest.Legacy
	modern       = tracetest.Modern
	about        = tracetest.About
)

type session = tracetest.Story
