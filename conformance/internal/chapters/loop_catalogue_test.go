package chapters_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/loop"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

// The forms of a test: see package tracetest.
var (
	loopJudges = tracetest.Judging(loop.Scenario)
)
