// Package expect compares the verdicts on a client with a table of expected verdicts, in both directions: a fixed
// fault is reported like a new one. Each row says why its verdict is right: the fault of the SDK, of the adapter, or
// nobody's. Rows that several clients share belong here, and the tools that their tests need.
//
// A project that tests its client uses [conformance.Known] instead, as demohost does: it accepts failures, by message.
// These tables test the checks by means of clients. So they also have the verdicts that are no failures, since a check
// that no longer applies to an SDK is our bug. And one row serves several clients and revisions.
package expect

import (
	"bytes"
	"cmp"
	"path"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Row is an expected verdict.
type Row struct {
	// Checks is a pattern of scenario/check.
	Checks  string
	Verdict report.Verdict
	// Or is a second accepted verdict, if chance decides; "" for none.
	Or report.Verdict
	// Why is a sentence that starts with who is at fault: "SDK: …", "adapter: …", "language: …", or "fine: …".
	Why string
	// Revision limits the row to a revision; "" for all.
	Revision server.Revision
}

// Fails returns rows for checks that fail.
func Fails(why string, checks ...string) []Row { return rows(report.Fail, why, checks) }

// Warns returns rows for checks that warn.
func Warns(why string, checks ...string) []Row { return rows(report.Warn, why, checks) }

// Passes returns rows for checks that pass. Place them before a row for their scenario.
func Passes(why string, checks ...string) []Row { return rows(report.Pass, why, checks) }

// Reports returns rows for checks with the verdict info.
func Reports(why string, checks ...string) []Row { return rows(report.Info, why, checks) }

// NotSeen returns rows for checks with nothing to judge, which may say that in another verdict.
func NotSeen(why string, checks ...string) []Row { return rows(report.NotObserved, why, checks) }

// NotApplicable returns rows for checks that do not apply to the client.
func NotApplicable(why string, checks ...string) []Row {
	return rows(report.NotApplicable, why, checks)
}

// Unsupported returns rows for checks that need more than the client's adapter can do.
func Unsupported(why string, checks ...string) []Row { return rows(report.Unsupported, why, checks) }

func rows(v report.Verdict, why string, checks []string) []Row {
	table := make([]Row, len(checks))
	for i, c := range checks {
		table[i] = Row{Checks: c, Verdict: v, Why: why}
	}
	return table
}

// OrPasses returns rows for checks that may also pass.
func OrPasses(table []Row) []Row {
	for i := range table {
		table[i].Or = report.Pass
	}
	return table
}

// In returns the rows for one revision.
func In(revision server.Revision, table []Row) []Row {
	for i := range table {
		table[i].Revision = revision
	}
	return table
}

func (row *Row) covers(r *report.Result) bool {
	matches, err := path.Match(row.Checks, r.ID())
	return err == nil && matches && (row.Revision == "" || string(row.Revision) == r.Revision)
}

// SeparateRuns are the scenarios with tables of their own, because each fault needs sessions of its own.
var SeparateRuns = []string{"malformed"}

// Rows that clients share.
var (
	// NoPipe is for clients over HTTP, NoProcess for those that also speak 2026-07-28.
	NoPipe = NotApplicable("fine: the client launches no server",
		"transport/stdio", "transport/stderr", "transport/pipe-ends", "transport/shuts-down")
	NoProcess = slices.Concat(NoPipe, NotApplicable("fine: the client launches no server", "transport/restarts"))
	// GivenIDs, NoStreams and OneHint are for clients that ask the model in the native dialect; Native is all of them.
	GivenIDs = NotApplicable("fine: the native dialect has ids and no signatures",
		"tool-use/thought-signature")
	NoStreams = NotApplicable("fine: the native dialect has no streams", "parallel/streamed-uses", "parallel/late-delta")
	OneHint   = NotApplicable("fine: the model of the native dialect is the first hint", "basic/hints-over-numbers")
	Native    = slices.Concat(GivenIDs, NoStreams, OneHint)
	// NoProgress is for clients that report no progress.
	NoProgress = NotApplicable("fine: the client reports no progress, and requests it for one call at a time",
		"time/progress-token", "time/progress-rises", "time/progress-ends", "always/token-unique")
	// ClosedStream is for clients over HTTP.
	ClosedStream = In(server.V20260728, NotApplicable(
		"fine: nothing arrives on a stream that the client has closed", "cancel/late-response"))
	// HandedOn is for clients whose handler checks no history.
	HandedOn = slices.Concat(Passes("fine: the whole history reaches the model", "balance/not-dropped"),
		Warns("adapter: it sends every history to the model, and the native dialect accepts it", "balance/*-*"))
)

// StrictMatters are the scenarios in which a strict client differs from a permissive one. All others run with the
// strict one only.
var StrictMatters = []string{"declare", "tool-use", "balance"}

// usual is the verdict without a row. None of the clients supports tasks or is a host, and all leave the tool
// loop to the server.
func usual(r *report.Result) report.Verdict {
	plainly := []string{"tasks/task-ignored", "tasks/no-task-calls"}
	loops := r.Scenario == "client-loop" || r.Scenario == "host-loop"
	if loops || r.Scenario == "tasks" && !slices.Contains(plainly, r.ID()) {
		return report.NotApplicable
	}
	return report.Pass
}

// Slow are the cases that take as long as all others together.
var Slow = []string{"malformed/long-string"}

// fits reports whether a result is as expected. A rule for every message may have no message to judge, and a check with
// nothing to judge may say so in another verdict.
func fits(r *report.Result, want report.Verdict) bool {
	idle := r.Verdict == report.NotApplicable || r.Verdict == report.NotObserved
	unjudged := r.Verdict == report.NotApplicable || r.Verdict == report.Unsupported
	return r.Verdict == want || r.Scenario == "always" && idle || want == report.NotObserved && unjudged
}

// Verdicts runs the suite, in virtual time if its client allows it, and compares every verdict with the tables. A
// result without a row must pass. The first matching row counts, and every row must match a result.
func Verdicts(t *testing.T, s conformance.Suite, tables ...[]Row) {
	t.Helper()
	table := slices.Concat(tables...)
	contained, ours := harness.Contain(t, s.Client)
	if !ours {
		return
	}
	s.Contained = contained
	s.Seed, s.Parallel = 1, runtime.GOMAXPROCS(0)
	s.Bubble = func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
	rs, _, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	used := make([]bool, len(table))
	for i := range rs.Results {
		r := &rs.Results[i]
		want, or, why := usual(r), report.Verdict(""), ""
		for j := range table {
			if table[j].covers(r) {
				want, or, why, used[j] = table[j].Verdict, table[j].Or, table[j].Why, true
				break
			}
		}
		if why == "" && r.Verdict == report.Info && r.Level == report.May {
			continue // this check only reports
		}
		if r.Verdict != or && !fits(r, want) {
			var note bytes.Buffer
			report.Note(&note, r, report.TextOptions{})
			t.Errorf("%s %s: expected %s (%s), found %s\n%s",
				r.Revision, r.ID(), want, cmp.Or(why, "no row covers it"), r.Verdict, &note)
		}
	}
	for j, row := range table {
		if !used[j] {
			t.Errorf("%s: this row covers no result", row.Checks)
		}
	}
}
