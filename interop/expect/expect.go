// Package expect holds the verdicts on a client against a table of what is expected of it, in both directions: a fault that was mended
// shows up just as a new one does. Each row says why its verdict is right: whose fault it is, the SDK's, the adapter's, or ours.
package expect

import (
	"bytes"
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

// Row is a verdict and why it is right.
type Row struct {
	// Checks is a pattern of scenario/check.
	Checks  string
	Verdict report.Verdict
	// Or is another one that is right, too, where it is chance which comes; "" for none.
	Or  report.Verdict
	Why string
	// Revision is the one that the row is about; "" for every one that is judged.
	Revision server.Revision
}

// Fails returns rows for checks that fail.
func Fails(why string, checks ...string) []Row { return rows(report.Fail, why, checks) }

// Warns returns rows for checks that warn.
func Warns(why string, checks ...string) []Row { return rows(report.Warn, why, checks) }

// Passes returns rows for checks that pass, above a row for their scenario that says otherwise.
func Passes(why string, checks ...string) []Row { return rows(report.Pass, why, checks) }

// Reports returns rows for checks that only report.
func Reports(why string, checks ...string) []Row { return rows(report.Info, why, checks) }

// NotSeen returns rows for checks that find nothing to judge.
func NotSeen(why string, checks ...string) []Row { return rows(report.NotObserved, why, checks) }

// NotApplicable returns rows for checks that have no bearing on the client.
func NotApplicable(why string, checks ...string) []Row {
	return rows(report.NotApplicable, why, checks)
}

// Unsupported returns rows for checks that take more than the client's driver can do.
func Unsupported(why string, checks ...string) []Row { return rows(report.Unsupported, why, checks) }

func rows(v report.Verdict, why string, checks []string) []Row {
	table := make([]Row, len(checks))
	for i, c := range checks {
		table[i] = Row{Checks: c, Verdict: v, Why: why}
	}
	return table
}

// OrPasses returns rows for checks that may also pass, by chance.
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

// Apart are the scenarios that have tables of their own, because they take sessions of their own for each fault that they find.
var Apart = []string{"malformed"}

// NoPipe is in every table of a client over HTTP, and NoProcess in those of one that is judged in 2026-07-28, too.
var (
	NoPipe    = NotApplicable("nothing is wrong: the client launches no server", "transport/stdio", "transport/stderr", "transport/pipe-ends", "transport/shuts-down")
	NoProcess = slices.Concat(NoPipe, NotApplicable("nothing is wrong: the client launches no server", "transport/restarts"))
)

// Trusting are the scenarios in which a client that refuses what it should differs from the same client that does not: there is something in them
// to refuse. All others are played with the first alone, which does all that the second does, and more.
var Trusting = []string{"declare", "tool-use", "balance"}

// usual is the verdict where no table has a word for it. None of the clients takes samples as tasks.
func usual(r *report.Result) report.Verdict {
	plainly := []string{"tasks/task-ignored", "tasks/no-task-calls"}
	if r.Scenario == "tasks" && !slices.Contains(plainly, r.ID()) {
		return report.NotApplicable
	}
	return report.Pass
}

// Slow are the cases that take as long as all others together, which says more of the machine than of a client.
var Slow = []string{"malformed/long-string"}

// Verdicts plays the suite, in virtual time where its client allows it, and holds every verdict against the table: what is not in it has
// to pass, but for what is asked of clients that take tasks, and what is in it has to be as it says. A row further up goes before one further down, and a row for which no result is
// left is wrong.
func Verdicts(t *testing.T, s conformance.Suite, table []Row) {
	t.Helper()
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
		want, or, why := usual(r), report.Verdict(""), "it is in no table"
		for j := range table {
			if table[j].covers(r) {
				want, or, why, used[j] = table[j].Verdict, table[j].Or, table[j].Why, true
				break
			}
		}
		if r.Verdict == report.Info && r.Level == report.May && why == "it is in no table" {
			continue // what only reports has nothing to pass
		}
		if r.Verdict != want && r.Verdict != or {
			var note bytes.Buffer
			report.Note(&note, r, report.TextOptions{})
			t.Errorf("%s %s: want %s (%s), got %s\n%s", r.Revision, r.ID(), want, why, r.Verdict, &note)
		}
	}
	for j, row := range table {
		if !used[j] {
			t.Errorf("%s: no result is left for this row of the table", row.Checks)
		}
	}
}
