package chapters_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/provider"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

// The forms of a test: see package tracetest.
var (
	providerJudges = tracetest.Judging(provider.Scenario)
)
