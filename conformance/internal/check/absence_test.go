package check_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/judge"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// barred plays the cases with the reference client, which calls the tools in the order given, and returns the trace.
func barred(t *testing.T, revision server.Revision, declare string, tools []string,
	cases ...harness.Case) *trace.Trace {
	var traces []*trace.Trace
	for i := range cases {
		cases[i].Declare = json.RawMessage(declare)
	}
	r := harness.Runner{Revision: revision, Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) },
		Client: harness.InProcess(func(ctx context.Context, env harness.Env) error {
			env.Tools = tools
			return reference.Client(reference.Config{})(ctx, env)
		})}
	require.NoError(t, r.Run(t.Context(), cases, func(tr *trace.Trace) { traces = append(traces, tr) }))
	require.Len(t, traces, 1)
	return traces[0]
}

// beforeBarrier is a case that asks once, and wants a barrier behind it.
func beforeBarrier() harness.Case {
	return harness.Case{ID: "story/one", Barrier: true,
		Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Anything?"), server.Hostile()) }}
}

func TestAnAbsenceIsSettledByALaterSampleAndAnEndInOrder(t *testing.T) {
	const nothingLater = "no later sampling request was answered, so it could still come"
	const all, none = `{"sampling":{"tools":{}}}`, `{"roots":{}}`
	for name, c := range map[string]struct {
		declare string
		tools   []string
		change  func(*trace.Trace)
		want    string
	}{
		"a barrier":                            {declare: all},
		"a call, where no sample may be asked": {declare: none},
		"the barrier came first": {declare: all, tools: []string{harness.BarrierID, "story-one"},
			want: nothingLater},
		"the call of the barrier came first": {declare: none, tools: []string{harness.BarrierID, "story-one"},
			want: nothingLater},
		"the barrier was never called": {declare: all, tools: []string{"story-one"}, want: nothingLater},
		"the trace is incomplete": {declare: all, change: func(tr *trace.Trace) { tr.Whole = false },
			want: "the trace is incomplete"},
		"the client failed": {declare: all, change: endsWith(trace.Process{ExitCode: 3}),
			want: "the session did not end cleanly: it exited with status 3"},
		"the client hung": {declare: all, change: endsWith(trace.Process{Deadline: true}),
			want: "the session did not end cleanly: it was still running after 10s and was ended"},
		"the trace does not say how it ended": {declare: all, change: endsWith(trace.Process{State: trace.Started}),
			want: "the session did not end cleanly: the trace does not say how it ended"},
		"the barrier's sample was never answered": {declare: all, change: withoutAnswers, want: nothingLater},
	} {
		t.Run(name, func(t *testing.T) {
			for _, revision := range tracetest.BothEras {
				tr := barred(t, revision, c.declare, c.tools, beforeBarrier())
				if c.change != nil {
					c.change(tr)
				}
				s := evidence.Decode(tr)
				require.Len(t, s.Case("story/one").Rounds, 1)
				require.Equal(t, c.want, s.Unsettled(s.Case("story/one").Rounds[0].Asked), revision)
			}
		})
	}
}

// endsWith makes a trace end otherwise.
func endsWith(p trace.Process) func(*trace.Trace) {
	return func(tr *trace.Trace) {
		for i := range tr.Events {
			if e := &tr.Events[i]; e.Process != nil && e.Process.State == trace.Ended {
				if p.State == "" {
					p.State = trace.Ended
				}
				e.Process = &p
			}
		}
	}
}

// withoutAnswers takes out what the client said about the barrier beyond calling it.
func withoutAnswers(tr *trace.Trace) {
	called := false
	tr.Events = slices.DeleteFunc(tr.Events, func(e trace.Event) bool {
		if e.Case != harness.BarrierID || e.Frame == nil || e.Frame.Dir != trace.FromClient {
			return false
		}
		first := !called
		called = true
		return !first
	})
}

func TestABarrierIsNoCaseOfAnyScenario(t *testing.T) {
	tr := barred(t, server.V20251125, `{"sampling":{"tools":{}}}`, nil, beforeBarrier())
	rs, err := judge.Traces(check.Catalogue{basic.Scenario}, []*trace.Trace{tr}, nil)
	require.NoError(t, err)
	for _, r := range rs.Results {
		require.Equal(t, check.ClientScenario, r.Scenario)
	}
}
