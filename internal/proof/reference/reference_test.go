package reference_test

import (
	"runtime/debug"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

func init() { debug.SetGCPercent(400) } // the tests allocate much and keep little

func TestTheReferencePassesEveryCheck(t *testing.T) {
	edited := 0
	config := reference.Config{Dialect: dialect.Native, Edit: func(_ *harness.Env, c *client.Options, m *model.Options) {
		require.NotNil(t, c.Sampling)
		require.Equal(t, dialect.Native, m.Dialect)
		edited++
	}}
	suite := conformance.Suite{Client: harness.InProcess(reference.Client(config)), Seed: 1,
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) },
		Skip: []string{"malformed/long-string", "basic/long", // as expensive as all other cases together
			"loop/sixty-four-rounds", "consent/fifty"}}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	passed := 0
	for _, r := range rs.Results {
		require.NotContains(t, []report.Verdict{report.Fail, report.Warn, report.NotObserved, report.HarnessError},
			r.Verdict, r.ID())
		if r.Verdict == report.Pass {
			passed++
		}
	}
	require.Greater(t, passed, 200)
	require.Positive(t, edited)
}
