package gosdk_test

import (
	"bytes"
	"path"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// expected is a verdict and why it is right.
type expected struct {
	checks   string // a pattern of scenario/check
	verdict  report.Verdict
	why      string
	revision string // "" for every revision that is judged
}

func (e *expected) covers(r *report.Result) bool {
	matches, err := path.Match(e.checks, r.ID())
	return err == nil && matches && (e.revision == "" || e.revision == r.Revision)
}

// in returns the rows for one revision.
func in(revision server.Revision, table []expected) []expected {
	for i := range table {
		table[i].revision = string(revision)
	}
	return table
}

// requireVerdicts plays the suite and holds every verdict against the table: what is not in it has to pass, and what is in it has to
// be as it says, so that a fault that was mended shows up just as a new one does. A row further up goes before one further down.
func requireVerdicts(t *testing.T, s conformance.Suite, table []expected) {
	t.Helper()
	s.Seed = 1
	s.Bubble = func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
	rs, _, err := s.Run(t.Context())
	require.NoError(t, err)
	used := make([]bool, len(table))
	for i := range rs.Results {
		r := &rs.Results[i]
		want, why := report.Pass, "it is in no table"
		for j := range table {
			if table[j].covers(r) {
				want, why, used[j] = table[j].verdict, table[j].why, true
				break
			}
		}
		if r.Verdict != want {
			var note bytes.Buffer
			report.Note(&note, r, report.TextOptions{})
			t.Errorf("%s %s: want %s (%s), got %s\n%s", r.Revision, r.ID(), want, why, r.Verdict, &note)
		}
	}
	for j, e := range table {
		if !used[j] {
			t.Errorf("%s: no result is left for this row of the table", e.checks)
		}
	}
}

// judged are the scenarios for which clients that are broken on purpose have their tables: a new one is no news of them.
var judged = []string{"basic", "tool-use", "parallel"}

// Rows for several checks at once. What is not observed or does not apply accuses nobody; the former fails a run all the same.
func fails(why string, checks ...string) []expected   { return rows(report.Fail, why, checks) }
func passes(why string, checks ...string) []expected  { return rows(report.Pass, why, checks) }
func notSeen(why string, checks ...string) []expected { return rows(report.NotObserved, why, checks) }
func notApplicable(why string, checks ...string) []expected {
	return rows(report.NotApplicable, why, checks)
}

func rows(v report.Verdict, why string, checks []string) []expected {
	table := make([]expected, len(checks))
	for i, c := range checks {
		table[i] = expected{checks: c, verdict: v, why: why}
	}
	return table
}

// notStreamed is in every table of a client that asks the model in the native dialect.
var notStreamed = notApplicable("ours: the native dialect has no streams", "parallel/streamed-uses", "parallel/late-delta")
