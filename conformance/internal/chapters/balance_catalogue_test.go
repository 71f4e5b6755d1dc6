package chapters_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/balance"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

// The forms of a test: see package tracetest.
var (
	balanceJudges = tracetest.Judging(balance.Scenario)
)
