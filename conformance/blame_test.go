package conformance_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// whoOn returns the reference client with an incident right after a call of the tool; "" for any tool.
func whoOn(tool string, happens func(context.Context), o ...harness.Option) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		env.HTTP = &http.Client{Transport: incident{env.HTTP.Transport, tool, happens}}
		return reference.Client(reference.Config{Plain: true})(ctx, env)
	}, o...)
}

type incident struct {
	to      http.RoundTripper
	tool    string
	happens func(context.Context)
}

func (i incident) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	to := i.to
	if to == nil {
		to = http.DefaultTransport
	}
	resp, err := to.RoundTrip(r)
	if bytes.Contains(body, []byte(`"tools/call"`)) && bytes.Contains(body, []byte(i.tool)) {
		i.happens(r.Context())
	}
	return resp, err
}

// callEndedFirst reports whether a call of the case ended before its client did, in any of the traces.
func callEndedFirst(traces []*trace.Trace, id string) bool {
	return slices.ContainsFunc(traces, func(tr *trace.Trace) bool {
		for _, e := range tr.Events {
			switch {
			case e.Process != nil && e.Process.State == trace.Ended:
				return false
			case e.Case == id && e.Mark != nil && e.Mark.Name == trace.MarkHandlerEnded:
				return true
			}
		}
		return false
	})
}

// find returns the result of a check.
func find(t *testing.T, rs *report.Results, id string) *report.Result {
	i := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == id })
	require.GreaterOrEqual(t, i, 0, id)
	return &rs.Results[i]
}

func TestACrashFailsOnlyTheCaseInWhichItHappened(t *testing.T) {
	t.Parallel()
	for _, revision := range server.DefaultRevisions() {
		right := suiteOf(t, harness.InProcess(reference.Client(reference.Config{Plain: true})))
		right.Revisions, right.Only = []server.Revision{revision}, sample("tool-use", "parallel/two-cities")
		right.Skip = sample(expensive...)
		want, _, err := right.Run(t.Context())
		require.NoError(t, err)

		suite := suiteOf(t, whoOn("tool-use-one-tool", func(context.Context) { panic("out of range") }))
		suite.Revisions, suite.Only, suite.Skip = right.Revisions, right.Only, right.Skip
		rs, traces, err := suite.Run(t.Context())
		require.NoError(t, err)
		ends := find(t, rs, "client/ends-cleanly")
		require.Equal(t, report.Fail, ends.Verdict)
		// The panic and the end of the call are concurrent: either may come first.
		require.Regexp(t, `it panicked: out of range, (in the middle of|after) tool-use/one-tool; .* \d+ of .* \d+ cases `+
			`.* 1 more of \d+ sessions`, ends.Message)
		require.Equal(t, "tool-use/one-tool: it panicked: out of range", ends.Evidence[0].Text)
		for i := range rs.Results {
			r := &rs.Results[i]
			if r.Scenario != "tool-use" && r.ID() != "client/ends-cleanly" {
				require.Equal(t, want.Results[i].Verdict, r.Verdict, "%s: %s", r.ID(), r.Message)
				if r.Verdict != report.NotApplicable { // lists the first case, which need not be the same
					require.Equal(t, want.Results[i].Cases, r.Cases, r.ID())
				}
			}
			for _, c := range r.Cases {
				if c.Case == "tool-use/one-tool" && strings.Contains(c.Message, "no response") {
					require.True(t, strings.HasSuffix(c.Message, "; it panicked: out of range") ||
						callEndedFirst(traces, c.Case), c.Message)
				}
			}
		}
		again, err := conformance.Judge(traces...)
		require.NoError(t, err)
		for i := range again.Results {
			again.Results[i].Reproduce = rs.Results[i].Reproduce
		}
		require.Equal(t, rs.Results, again.Results, "the traces suffice to judge")

		crashed := slices.IndexFunc(traces, func(tr *trace.Trace) bool {
			return slices.ContainsFunc(tr.Header.Cases, func(c trace.Case) bool { return c.ID == "tool-use/one-tool" })
		})
		alone, err := conformance.Judge(traces[crashed])
		require.NoError(t, err)
		require.Equal(t, report.NotObserved, find(t, alone, "parallel/results-reach-model").Verdict,
			"a case without another session is judged by this one")
	}
}

func TestARunStopsAfterThreeSessionsThatHang(t *testing.T) {
	t.Parallel()
	client := whoOn("", func(ctx context.Context) { <-ctx.Done() }, harness.Loopback())
	client.Grace = time.Second
	suite := conformance.Suite{Client: client, Revisions: []server.Revision{server.V20260728}, Timeout: 2 * time.Second,
		CaseTimeout: 200 * time.Millisecond, Only: []string{"basic", "tool-use", "parallel"}} // One session without the hang.
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	ends := find(t, rs, "client/ends-cleanly")
	require.Equal(t, report.Fail, ends.Verdict)
	require.Contains(t, ends.Message, "it was still running after 2s and was ended, in the middle of basic/question")
	require.Contains(t, ends.Message, "5 more of 6 sessions")
	last := find(t, rs, "parallel/late-delta")
	require.Equal(t, report.NotObserved, last.Verdict)
	require.Contains(t, last.Message, "the case was not played (see client/ends-cleanly): 3 sessions in a row")
}

func TestAClientThatWaitsOutsideVirtualTimeIsAdvisedToUseLoopback(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	over := make(chan bool)
	suite := suiteOf(t, harness.InProcess(func(ctx context.Context, env harness.Env) error {
		_, err := r.Read(make([]byte, 1))
		return err
	}))
	bubble := suite.Bubble
	suite.Bubble = func(f func()) {
		defer close(over)
		bubble(f)
	}
	suite.Only, suite.Revisions, suite.Watchdog = []string{"basic"}, []server.Revision{server.V20251125}, time.Second
	suite.Skip = []string{"basic/later-page"} // a session of its own
	rs, traces, err := suite.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, traces, 1)
	require.Equal(t, report.Fail, find(t, rs, "client/connects").Verdict)
	require.Contains(t, find(t, rs, "client/ends-cleanly").Message, "run it with harness.Loopback()")
	require.NoError(t, w.Close())
	<-over
}

func TestASkippedCaseIsNotASession(t *testing.T) {
	tr := &trace.Trace{Whole: true, Header: trace.Header{Revision: "2025-11-25",
		Cases: []trace.Case{{ID: "basic/question", Tool: "basic-question"}}},
		Events: []trace.Event{{Seq: 1, Case: "basic/question",
			Mark: &trace.Mark{Name: trace.MarkNotPlayed, Text: "for a reason"}}}}
	rs, err := conformance.Judge(tr)
	require.NoError(t, err)
	for _, r := range rs.Results {
		require.NotEqual(t, "client", r.Scenario, "there was no client to judge")
		require.Equal(t, report.NotObserved, r.Verdict)
		require.Equal(t, "the case was not played (see client/ends-cleanly): for a reason", r.Message)
	}
	require.True(t, rs.Failed(false))
}

func TestAHarnessErrorIsNotAFailureOfTheClient(t *testing.T) {
	tr := &trace.Trace{Whole: true, Header: trace.Header{Revision: "2025-11-25",
		Cases: []trace.Case{{ID: "basic/question", Tool: "basic-question"}}},
		Events: []trace.Event{{Seq: 1, Mark: &trace.Mark{Name: trace.MarkHarnessError, Text: "our fault"}},
			{Seq: 1, Case: "basic/question", Mark: &trace.Mark{Name: trace.MarkHarnessError, Text: "our fault"}},
			{Seq: 2, Process: &trace.Process{State: trace.Ended, ExitCode: 1}}}}
	rs, err := conformance.Judge(tr)
	require.NoError(t, err)
	require.False(t, rs.Failed(true))
	for _, r := range rs.Results {
		require.Equal(t, report.HarnessError, r.Verdict, r.ID())
		require.Contains(t, r.Message, "our fault")
	}
	require.Equal(t, "client/connects", rs.Results[0].ID())
}
