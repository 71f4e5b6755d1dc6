package compare_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/report/compare"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// run is a run with one result, in whose case the client said these messages.
func run(r report.Result, said ...trace.Event) compare.Run {
	r.Scenario, r.Check, r.Revision, r.Case = "basic", "answered", "2025-11-25", "basic/question"
	t := &trace.Trace{Header: trace.Header{Revision: r.Revision, Cases: []trace.Case{{ID: r.Case}}}}
	t.Events = append(t.Events, trace.Event{Case: r.Case}) // the case began
	for _, e := range said {
		e.Case = r.Case
		t.Events = append(t.Events, e)
	}
	return compare.Run{Results: &report.Results{Results: []report.Result{r}}, Traces: []*trace.Trace{t}}
}

func toServer(raw string) trace.Event {
	return trace.Event{Frame: &trace.Frame{Dir: trace.FromClient, Raw: trace.Bytes(raw)}}
}

func toModel(raw string) trace.Event {
	return trace.Event{Request: &trace.ModelRequest{Body: trace.Bytes(raw)}}
}

func TestWhatIsAChange(t *testing.T) {
	pass, fail := report.Result{Verdict: report.Pass}, report.Result{Verdict: report.Fail, Message: "found 3"}
	of := func(v report.Verdict) report.Result { return report.Result{Verdict: v} }
	lost := func(kind, message string, others ...string) report.Result {
		r := report.Result{Verdict: report.Fail, Message: message, Difference: kind}
		for _, other := range others {
			r.Others = append(r.Others, report.Finding{Difference: other})
		}
		return r
	}
	for name, c := range map[string]struct {
		before, after report.Result
		kind          compare.Kind
	}{
		"nothing":           {pass, pass, ""},
		"fails now":         {pass, fail, compare.Worse},
		"warns now":         {pass, of(report.Warn), compare.Worse},
		"is not seen":       {pass, of(report.NotObserved), compare.Worse},
		"is unsupported":    {pass, of(report.Unsupported), compare.Worse},
		"no longer applies": {pass, of(report.NotApplicable), compare.Otherwise},
		"applies now":       {of(report.NotApplicable), pass, ""},
		"applies and fails": {of(report.NotApplicable), fail, compare.Worse},
		"passes now":        {fail, pass, compare.Better},
		"another number":    {fail, report.Result{Verdict: report.Fail, Message: "found 4"}, ""},
		"another message":   {fail, report.Result{Verdict: report.Fail, Message: "none"}, compare.Otherwise},
		"another kind":      {lost("lost-text", "a"), lost("lost-media", "a"), compare.Worse},
		"one kind more":     {lost("lost-text", "a"), lost("lost-text", "a", "lost-media"), compare.Worse},
		"one kind less":     {lost("lost-text", "a", "lost-media"), lost("lost-text", "a"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			found := compare.Runs(run(c.before), run(c.after))
			if c.kind == "" {
				require.Empty(t, found.Changes)
				require.Equal(t, 1, found.Alike)
				return
			}
			require.Equal(t, 1, found.Count(c.kind))
		})
	}
}

func TestTheFirstDifference(t *testing.T) {
	pass, fail := report.Result{Verdict: report.Pass}, report.Result{Verdict: report.Fail}
	for name, c := range map[string]struct {
		before, after []trace.Event
		want          *compare.Difference
	}{
		"a value": {
			[]trace.Event{toModel(`{"model":"m","max_tokens":7}`)},
			[]trace.Event{toModel(`{"max_tokens":8,"model":"m"}`)},
			&compare.Difference{Message: "client → model, request 1", Path: "max_tokens", Before: "7", After: "8"},
		},
		"a message less": {
			[]trace.Event{toServer(`{"id":1,"result":{}}`)}, []trace.Event{},
			&compare.Difference{Message: "client → server, result 1", Before: `{"id":"id 1","result":{}}`, After: "nothing"},
		},
		"a message more": {
			[]trace.Event{}, []trace.Event{toServer(`{"method":"ping"}`)},
			&compare.Difference{Message: "client → server, ping 1", Before: "nothing", After: `{"method":"ping"}`},
		},
		"another id is none": {
			[]trace.Event{toModel(`[{"id":"a"},{"tool_call_id":"a"}]`)},
			[]trace.Event{toModel(`[{"id":"b"},{"tool_call_id":"b"}]`)}, nil,
		},
		"ids that no longer match": {
			[]trace.Event{toModel(`[{"id":"a"},{"tool_call_id":"a"}]`)},
			[]trace.Event{toModel(`[{"id":"b"},{"tool_call_id":"c"}]`)},
			&compare.Difference{Message: "client → model, request 1", Path: "[1].tool_call_id",
				Before: `"id 1"`, After: `"id 2"`},
		},
		"marks, times, addresses and states are none": {
			[]trace.Event{toServer(`{"a":"mkabcdefgh2n1 at 2026-11-24T04:50:00Z","requestState":"x",` +
				`"b":"http://127.0.0.1:80/x"}`)},
			[]trace.Event{toServer(`{"a":"mkhgfedcba2n1 at 2027-01-01T00:00:00.5Z","requestState":"y",` +
				`"b":"http://127.0.0.1:9/y"}`)},
			nil,
		},
		"another order is none": {
			[]trace.Event{toModel(`{"n":1}`), toModel(`{"n":2}`)},
			[]trace.Event{toModel(`{"n":2}`), toModel(`{"n":1}`)}, nil,
		},
		"not JSON": {
			[]trace.Event{toModel("{")}, []trace.Event{toModel("[")},
			&compare.Difference{Message: "client → model, request 1", Before: `"{"`, After: `"["`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want != nil {
				c.want.Case = "basic/question"
			}
			require.Equal(t, c.want, compare.Runs(run(pass, c.before...), run(fail, c.after...)).Changes[0].Differs)
		})
	}
}

func TestRunsWithOtherChecks(t *testing.T) {
	one, other := run(report.Result{Verdict: report.Pass}), run(report.Result{Verdict: report.Pass})
	other.Results.Results[0].Revision = "2026-07-28"
	found := compare.Runs(one, other)
	require.Equal(t, "nothing changed, 0 alike, 1 judged only before, 1 judged only after", found.Summary())
}

func TestARevisionThatOnlyOneClientSpeaksIsOneChange(t *testing.T) {
	speaks := run(report.Result{Verdict: report.Pass})
	silent := run(report.Result{Verdict: report.NotApplicable, Message: "the client tried another revision"})
	mark := trace.Event{Case: "basic/question", Mark: &trace.Mark{Name: trace.MarkNotPlayed}}
	silent.Traces[0].Events = []trace.Event{mark}
	negotiated := &trace.Trace{Header: trace.Header{Revision: "2025-11-25", ServerRevisions: []string{"2025-06-18"}},
		Events: []trace.Event{toServer(`{"method":"ping"}`)}}
	silent.Traces = append(silent.Traces, negotiated)

	gained := compare.Runs(silent, speaks)
	require.Equal(t, []compare.Change{{Kind: compare.Better, Revision: "2025-11-25",
		Message: "1 of 1 checks pass; the report of the run lists the others",
		Was:     "the client tried another revision"}}, gained.Changes)
	require.Contains(t, string(compare.Text(gained, false)), "\nBETTER     2025-11-25\n           1 of 1 checks pass")
	lost := compare.Runs(speaks, silent)
	require.Equal(t, []compare.Change{{Kind: compare.Worse, Revision: "2025-11-25",
		Message: "the client tried another revision", Was: "1 of 1 checks pass"}}, lost.Changes)
	require.Contains(t, string(compare.Markdown(lost, true)), "\n- **worse** 2025-11-25\n  the client tried another")
	require.Empty(t, compare.Runs(silent, silent).Changes)
}
