package variations_test

import (
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/variations"
)

// The test runs each variation on its own cases. If MCP_CONFORM_MATRIX is "whole", it runs each on the whole catalogue,
// except malformed requests, which takes minutes.
func TestVariationsPassEveryCheck(t *testing.T) {
	whole := os.Getenv("MCP_CONFORM_MATRIX") == "whole"
	for _, v := range variations.All() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			var fired atomic.Int64
			suite := conformance.Suite{
				Client:    harness.InProcess(v.Client(v.Config, func() { fired.Add(1) })),
				Revisions: v.In, Only: v.Cases, Skip: []string{"basic/long"}, Seed: 1,
				Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) },
			}
			if whole {
				suite.Only, suite.Skip = nil, []string{"malformed", "malformed/*"} // edits need valid requests
			}
			t.Logf("%s, which is correct (%s); only %q, without %q", v.Doc, v.Allowed, suite.Only, suite.Skip)
			rs, _, err := suite.Run(t.Context())
			require.NoError(t, err)
			expected, found := map[string]report.Verdict{}, map[string]report.Verdict{}
			for _, id := range v.Warns {
				expected[id] = report.Warn
			}
			for _, r := range rs.Results {
				switch {
				case r.Verdict == report.Pass, r.Verdict == report.NotApplicable, r.Verdict == report.Info:
				case r.Verdict == report.Unsupported && v.AnyOrder:
				default:
					found[r.ID()] = r.Verdict
					t.Logf("%s %s %s: %s", r.Revision, r.ID(), r.Verdict, r.Message)
				}
			}
			require.Equal(t, expected, found)
			require.Positive(t, fired.Load(), "the variation never occurred")
		})
	}
}

func TestVariationsAreDescribed(t *testing.T) {
	names := map[string]bool{}
	for _, v := range variations.All() {
		require.False(t, names[v.Name], v.Name)
		names[v.Name] = true
		require.NotEmpty(t, v.Doc, v.Name)
		require.NotEmpty(t, v.Allowed, v.Name)
		require.NotEmpty(t, v.Cases, v.Name)
		require.Equal(t, v.Name, variations.Find(v.Name).Name)
	}
	require.Nil(t, variations.Find("no-such-variation"))
}
