package reference_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// A client that runs the tool loop itself plays all of chapter client-loop, and no check of a chapter with tools fails
// it.
// Package selftest plays the others.
func TestTheReferenceWithALoopOfItsOwnPassesEveryCheck(t *testing.T) {
	suite := conformance.Suite{Seed: 1, Only: []string{"client-loop", "basic", "tool-use", "parallel", "loop"},
		Skip:   []string{"basic/long", "loop/sixty-four-rounds"}, // as expensive as all other cases together
		Client: harness.InProcess(reference.Client(reference.Config{Dialect: dialect.Anthropic, Loop: true})),
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	passed := map[string]int{}
	for _, r := range rs.Results {
		require.NotContains(t, []report.Verdict{report.Fail, report.Warn, report.NotObserved, report.HarnessError},
			r.Verdict, "%s: %s", r.ID(), r.Message)
		if r.Verdict == report.Pass {
			passed[r.Scenario]++
		}
	}
	require.Equal(t, 19, passed["client-loop"], "ten checks in 2025-11-25, and nine in 2026-07-28")
	require.Equal(t, 16, passed["basic"], "eight checks in each revision")
}
