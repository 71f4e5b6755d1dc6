package chapters_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/consent"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

// The forms of a test: see package tracetest.
var (
	consentJudges = tracetest.Judging(consent.Scenario)
)
