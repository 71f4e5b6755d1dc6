package baseline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/baseline"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

const older, newer = "2025-11-25", "2026-07-28"

var checks = baseline.Checks{"parallel/reach": {older, newer}, "parallel/order": {older, newer}, "mrtr/state": {newer}}

// run is a whole run of the check parallel/reach in two revisions, which fails, and of two that pass.
func run(edit ...func(*report.Results)) *report.Results {
	rs := &report.Results{Whole: true}
	for _, revision := range []string{older, newer} {
		rs.Results = append(rs.Results,
			report.Result{Scenario: "parallel", Check: "reach", Revision: revision, Level: report.Must, Verdict: report.Fail,
				Message: `expected 2 results, found 1: "eighteen degrees"`, Dialects: []string{"openai-chat"},
				Cases: []report.CaseResult{{Case: "parallel/b", Verdict: report.Fail, Message: "expected 33 results, found none"},
					{Case: "parallel/c", Verdict: report.Pass, Message: "fine"}}},
			report.Result{Scenario: "parallel", Check: "order", Revision: revision, Level: report.Must, Verdict: report.Pass})
	}
	rs.Results = append(rs.Results,
		report.Result{Scenario: "mrtr", Check: "state", Revision: newer, Level: report.Must, Verdict: report.Pass})
	for _, e := range edit {
		e(rs)
	}
	return rs
}

// entry fits the failures of run.
func entry(edit ...func(*baseline.Entry)) baseline.Entry {
	e := baseline.Entry{Check: "parallel/reach", Reason: "later", Revisions: []string{older, newer},
		Messages: []string{`expected N results, found N: "…"`, "expected 7 results, found none"}}
	for _, change := range edit {
		change(&e)
	}
	return e
}

// is lists entries.
func is(entries ...baseline.Entry) []baseline.Entry { return entries }

func passes(at int) func(*report.Results) {
	return func(rs *report.Results) { rs.Results[at].Verdict, rs.Results[at].Cases = report.Pass, nil }
}

func allPass(rs *report.Results) { passes(0)(rs); passes(2)(rs) }

func part(rs *report.Results) { rs.Whole = false }

func always(rs *report.Results) { rs.Results[0].Scenario, rs.Results[2].Scenario = "always", "always" }

func becomes(v report.Verdict) func(*report.Results) {
	return func(rs *report.Results) { passes(0)(rs); rs.Results[0].Verdict = v }
}

func pattern(limit int) func(*baseline.Entry) {
	return func(e *baseline.Entry) { e.Check, e.Max = "parallel/*", limit }
}

func flaky(e *baseline.Entry) { e.Flaky = true }

var state = baseline.Entry{Check: "mrtr/state", Revisions: []string{newer}, Reason: "r", Messages: []string{"m"}}

func inOlder(e *baseline.Entry) { e.Revisions = []string{older} }

var runsWithBaselines = map[string]struct {
	rs      *report.Results
	entries []baseline.Entry
	kinds   []string
	fails   bool
	known   int
}{
	"fits":                   {run(), is(entry()), nil, false, 2},
	"no revisions means all": {run(), is(entry(func(e *baseline.Entry) { e.Revisions = nil })), nil, false, 2},
	"new failure":            {run(), nil, nil, true, 0},
	"new in a revision":      {run(), is(entry(inOlder)), nil, true, 1},
	"fixed":                  {run(allPass), is(entry()), []string{"stale"}, true, 0},
	"fixed in a revision":    {run(passes(0)), is(entry()), []string{"stale"}, true, 1},
	"flaky and fixed":        {run(allPass), is(entry(flaky)), nil, false, 0},
	"fixed in a part":        {run(allPass, part), is(entry()), []string{"stale"}, true, 0},
	"a rule for every case, in a part": {run(allPass, part, always),
		is(entry(func(e *baseline.Entry) { e.Check = "always/reach" })), nil, false, 0},
	"a rule for every case": {run(allPass, always),
		is(entry(func(e *baseline.Entry) { e.Check = "always/reach" })), []string{"stale"}, true, 0},
	"not applicable any more": {run(becomes(report.NotApplicable)), is(entry()), []string{"stale"}, true, 1},
	"not judged in time":      {run(becomes(report.Unsupported)), is(entry()), nil, false, 1},
	"other message": {run(), is(entry(func(e *baseline.Entry) { e.Messages = e.Messages[:1] })),
		[]string{"changed", "changed"}, true, 0},
	"two entries": {run(), is(entry(), entry(inOlder)), []string{"ambiguous"}, true, 2},
	"pattern":     {run(), is(entry(pattern(2))), nil, false, 2},
	"pattern over its limit": {run(), is(entry(pattern(1))),
		[]string{"too many"}, true, 2},
	"pattern that nothing fails": {run(allPass), is(entry(pattern(2))), []string{"stale"}, true, 0},
	"last day":                   {run(), is(entry(func(e *baseline.Entry) { e.Until = "2026-11-22" })), nil, false, 2},
	"day after": {run(), is(entry(func(e *baseline.Entry) { e.Until = "2026-11-21" })),
		[]string{"expired"}, true, 2},
	"other dialect": {run(), is(entry(), entry(func(e *baseline.Entry) { e.Dialect = "gemini" })), nil, false, 2},
	"unmatched": {run(func(rs *report.Results) { rs.Results = rs.Results[:4] }),
		is(entry(), state), []string{"unmatched"}, true, 2},
	"not selected": {run(func(rs *report.Results) { rs.Results, rs.Whole = rs.Results[:4], false }),
		is(entry(), state), nil, false, 2},
	"revision not run": {run(func(rs *report.Results) { rs.Results = rs.Results[:2] }),
		is(entry(), state),
		nil, false, 1},
	"interrupted": {run(allPass, func(rs *report.Results) { rs.Interrupted = true }), is(entry()), nil, false, 0},
	"waits for a known failure": {run(func(rs *report.Results) {
		rs.Results[1].Verdict, rs.Results[1].Prerequisite = report.NotObserved, "parallel/reach"
	}), is(entry()), nil, false, 3},
	"waits for a new failure": {run(func(rs *report.Results) {
		rs.Results[1].Verdict, rs.Results[1].Prerequisite = report.NotObserved, "mrtr/state"
	}), is(entry()), nil, true, 2},
	"harness error": {run(becomes(report.HarnessError)), is(entry()), nil, false, 1},
}

func TestARunWithABaselineFailsIfItDoesNotFit(t *testing.T) {
	for name, c := range runsWithBaselines {
		got := baseline.Apply(c.rs, c.entries, "2026-11-22")
		var kinds []string
		for _, p := range got.Baseline.Problems {
			kinds = append(kinds, p.Kind)
		}
		require.Equal(t, c.kinds, kinds, name)
		require.Equal(t, c.fails, got.Failed(false), name)
		require.Equal(t, c.known, got.Baseline.Known, name)
		require.Equal(t, got, baseline.Apply(got, c.entries, "2026-11-22"), "%s: a second time", name)
		for _, r := range c.rs.Results {
			require.Nil(t, r.Known, "%s: the given results stay as they are", name)
		}
	}
}

func TestAWarningCanBeKnown(t *testing.T) {
	rs := run(func(rs *report.Results) {
		for i := range rs.Results {
			if rs.Results[i].Verdict == report.Fail {
				rs.Results[i].Verdict, rs.Results[i].Cases = report.Warn, nil
			}
		}
	})
	require.True(t, rs.Failed(true))
	require.False(t, baseline.Apply(rs, is(entry()), "").Failed(true))
}

func TestNormalFormsLeaveOutWhatVaries(t *testing.T) {
	for message, want := range map[string]string{
		"expected 2 results, found 1":                           "expected N results, found N",
		`role "user", text "eighteen degrees"`:                  `role "user", text "…"`,
		"the result of call_HmjRWNWYiLpUIAJrLPlVrpLF":           "the result of ID",
		"the result of toolu-1 and of 3f2a9c81d04e":             "the result of ID and of ID",
		"found error -32603 (code -1), HTTP 503":                "found error -32603 (code -1), HTTP 503",
		"it exited with status 101, found -32001 in 2026-07-28": "it exited with status 101, found -32001 in N-N-N",
		"took 1.25 s\n\tat loop (client.js:10)":                 "took N s at loop (client.js:N)",
		"expected parallelToolCalls in sampling/createMessage":  "expected parallelToolCalls in sampling/createMessage",
		"it crashed, in the middle of mrtr/null-input; so":      "it crashed, at mrtr/null-input; so",
		"it crashed, after mrtr/null-input; so":                 "it crashed, at mrtr/null-input; so",
		"no response; the client reports: code=-1 \"x\"":        "no response",
		strings.Repeat("long ", 100):                            strings.Repeat("long ", 59) + "long…",
	} {
		got := baseline.Normal(message)
		require.Equal(t, want, got)
		require.Equal(t, got, baseline.Normal(got), "idempotent")
	}
}

func FuzzNormalIsIdempotent(f *testing.F) {
	f.Add(`expected "a b" 12 call_x1`)
	f.Add("a\x00\n\t…\"\"1.1.1")
	f.Fuzz(func(t *testing.T, message string) {
		once := baseline.Normal(message)
		if again := baseline.Normal(once); again != once {
			t.Fatalf("%q becomes %q, and then %q", message, once, again)
		}
	})
}
