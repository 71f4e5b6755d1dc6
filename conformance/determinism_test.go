package conformance_test

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

func init() { debug.SetGCPercent(400) } // the tests allocate much and keep little

// sample returns what a test plays: nil, for everything, if [sharedtest.Whole], else the patterns.
func sample(patterns ...string) []string {
	if sharedtest.Whole() {
		return nil
	}
	return patterns
}

// expensive are cases that cost as much as all others. Samples leave them out where another test plays them.
var expensive = []string{"basic/long", "loop/sixty-four-rounds", "consent/fifty", "malformed/long-string"}

// reported returns the report of a run without its times.
func reported(t *testing.T, suite conformance.Suite) string {
	t.Helper()
	suite.Seed = 1
	suite.Bubble = func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	for i := range rs.Results {
		rs.Results[i].DurationMS = 0
	}
	return string(report.JSON(rs))
}

func TestEqualRunsGiveEqualReports(t *testing.T) {
	long := []string{"loop/sixty-four-rounds", "malformed", // These cost as much as all others and add nothing here.
		"malformed/*"}
	long = append(long, sample(expensive...)...)
	// With a real clock, the order of events in these varies.
	waiting := append([]string{"time", "time/*", "cancel", "cancel/*"}, long...)
	// In these a client works concurrently. A pass does not show the order of events, but a failure does.
	anyOrder := append([]string{"loop/two-loops", "loop/sixteen-at-once"}, long...)
	for _, c := range []struct {
		name    string
		run     func(context.Context, harness.Env) error
		skip    []string
		sockets bool // Also over real sockets.
		sampled bool // Also without MCP_CONFORM_MATRIX=whole.
	}{
		{"reference, streamed", reference.Client(reference.Config{}), long, true, true},
		{"reference, native", reference.Client(reference.Config{Dialect: dialect.Native}), long, false, false},
		{"reference, gemini 3", reference.Client(reference.Config{Dialect: dialect.Gemini, Model: reference.Gemini3}), long,
			false, false},
		{"mutant first-result-only", mutants.Find("first-result-only").Client(reference.Config{}, nil), long, true, false},
		{"mutant null-content", mutants.Find("null-content").Client(reference.Config{}, nil), anyOrder, false, true},
		{"mutant runs-tools", mutants.Find("runs-tools").Client(reference.Config{}, nil), anyOrder, false, false},
		{"mutant stops-at-finish", mutants.Find("stops-at-finish").Client(reference.Config{}, nil), anyOrder, false, false},
	} {
		if !sharedtest.Whole() && !c.sampled {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := harness.InProcess(c.run)
			only := sample("parallel", "mrtr")
			once := reported(t, conformance.Suite{Client: client, Only: only, Skip: c.skip, Parallel: 1})
			require.True(t, json.Valid([]byte(once)))
			require.Equal(t, once, reported(t, conformance.Suite{Client: client, Only: only, Skip: c.skip, Parallel: 4}),
				"concurrent sessions")
			if c.sockets {
				suite := conformance.Suite{Client: client, Only: sample("parallel"), Skip: waiting, Parallel: 1}
				virtual := reported(t, suite)
				suite.Client, suite.Parallel = harness.InProcess(c.run, harness.Loopback()), 4
				require.Equal(t, virtual, reported(t, suite), "real sockets")
			}
		})
	}
}
