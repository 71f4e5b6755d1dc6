package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

func TestCheckpointsGrowAndEndWithTheRun(t *testing.T) {
	earlier := []*trace.Trace{}
	calls, over := 0, false
	suite := conformance.Suite{Client: harness.InProcess(reference.Client(reference.Config{})),
		Only: []string{"basic/question", "declare"}, Revisions: []server.Revision{server.V20251125}, Parallel: 2}
	suite.Checkpoint = func(rs *report.Results, traces []*trace.Trace) {
		calls++
		assert.False(t, over)
		assert.True(t, rs.Interrupted)
		assert.False(t, rs.Failed(true), "the client is correct, and so is each part of its run")
		assert.Greater(t, len(traces), len(earlier))
		assert.Equal(t, earlier, traces[:len(earlier)])
		earlier = traces
	}
	rs, traces, err := suite.Run(t.Context())
	over = true
	require.NoError(t, err)
	require.False(t, rs.Interrupted)
	require.Positive(t, calls)
	require.Subset(t, traces, earlier)
}

// A session that ended early says nothing about the cases that are to be played again.
func TestACheckpointLeavesOutSessionsWithCasesToPlayAgain(t *testing.T) {
	session := func(revision string, cases ...trace.Case) *trace.Trace {
		return &trace.Trace{Header: trace.Header{Revision: revision, Cases: cases}}
	}
	a, b, aAgain := trace.Case{ID: "a"}, trace.Case{ID: "b", Replayed: true}, trace.Case{ID: "a", Replayed: true}
	first, other := session("1", a, b), session("2", trace.Case{ID: "b"})
	require.Equal(t, []*trace.Trace{other}, conformance.Settled([]*trace.Trace{first, other}))
	second := session("1", trace.Case{ID: "b"})
	require.Equal(t, []*trace.Trace{first, other, second}, conformance.Settled([]*trace.Trace{first, other, second}))
	require.Empty(t, conformance.Settled([]*trace.Trace{session("1", aAgain)}))
}
