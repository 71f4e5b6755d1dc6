package conformance_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// endedAt returns the trace of a client that the harness ended after the first n events.
func endedAt(t *trace.Trace, n int, how trace.Process) *trace.Trace {
	cut := *t
	cut.Events = slices.Clip(t.Events[:n])
	last := trace.Event{At: cut.Events[n-1].At}
	for i := range cut.Events {
		if cut.Events[i].Case == "" {
			last.Seq = cut.Events[i].Seq
		}
	}
	how.State = trace.Ended
	ending, ended := last, last
	ending.Seq, ending.Mark = last.Seq+1, &trace.Mark{Name: trace.MarkEnding}
	ended.Seq, ended.Process = last.Seq+2, &how
	cut.Events = append(cut.Events, ending, ended)
	return &cut
}

func TestAClientThatTheHarnessEndsEarlyIsNotAccused(t *testing.T) {
	t.Parallel()
	suite := suiteOf(t, harness.InProcess(reference.Client(reference.Config{})))
	suite.Only = sample("parallel", "time")
	suite.Skip = sample(expensive...)
	_, traces, err := suite.Run(t.Context())
	require.NoError(t, err)
	early := []trace.Process{
		{Interrupted: true, ExitCode: -1, Signal: "terminated"},
		{Deadline: true, ExitCode: -1, Signal: "terminated", Unfinished: true},
		{Deadline: true, Err: "context canceled", Unfinished: true},
	}
	const step = 397
	for i, tr := range traces {
		for n := 1 + 31*i%min(step, len(tr.Events)); n < len(tr.Events); n += step {
			rs, err := conformance.Judge(endedAt(tr, n, early[(i+n)%len(early)]))
			require.NoError(t, err)
			for _, r := range rs.Results {
				if r.Verdict == report.Fail || r.Verdict == report.Warn {
					t.Errorf("%s, %s after %d events: %s %s: %s", r.Revision, tr.Header.Cases[0].ID, n, r.Verdict, r.ID(), r.Message)
				}
			}
		}
	}
}
