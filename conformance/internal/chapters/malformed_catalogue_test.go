package chapters_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/malformed"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

// The forms of a test: see package tracetest.
var (
	malformedJudges = tracetest.Judging(malformed.Scenario)
	malformedRow    = tracetest.Row
)
