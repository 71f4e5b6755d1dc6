package conformance_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/mutants"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// reported runs a client and returns the report, less the times in it.
func reported(t *testing.T, run func(context.Context, harness.Env) error, skip []string, parallel int, o ...harness.Option) string {
	t.Helper()
	suite := conformance.Suite{Client: harness.InProcess(run, o...), Seed: 1, Parallel: parallel, Skip: skip,
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	for i := range rs.Results {
		rs.Results[i].DurationMS = 0
	}
	return string(report.JSON(rs))
}

func TestEqualRunsGiveEqualReports(t *testing.T) {
	long := []string{"loop/sixty-four-rounds", "malformed", "malformed/*"} // cost as much as all the others, and are of their kind
	// By a real clock, what waits comes when it comes.
	waiting := append([]string{"time", "time/*", "cancel", "cancel/*"}, long...)
	// What a client does at once comes in any order. A pass says nothing of it, and a failure shows the very frames.
	anyOrder := append([]string{"loop/two-loops", "loop/sixteen-at-once"}, long...)
	thoroughly := map[string]func(context.Context, harness.Env) error{
		"reference, streamed":      reference.Client(reference.Config{}),
		"reference, native":        reference.Client(reference.Config{Dialect: dialect.Native}),
		"reference, gemini 3":      reference.Client(reference.Config{Dialect: dialect.Gemini, Model: reference.Gemini3}),
		"mutant first-result-only": mutants.Find("first-result-only").Client(reference.Config{}, nil),
	}
	for name, run := range thoroughly {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			once := reported(t, run, long, 1)
			require.True(t, json.Valid([]byte(once)))
			require.Equal(t, once, reported(t, run, long, 4), "several sessions at once")
			require.Equal(t, reported(t, run, waiting, 1), reported(t, run, waiting, 4, harness.Loopback()), "over real sockets")
		})
	}
	for _, name := range []string{"null-content", "runs-tools", "stops-at-finish"} {
		t.Run("mutant "+name+", twice", func(t *testing.T) {
			t.Parallel()
			run := mutants.Find(name).Client(reference.Config{}, nil)
			require.Equal(t, reported(t, run, anyOrder, 1), reported(t, run, anyOrder, 4))
		})
	}
}
