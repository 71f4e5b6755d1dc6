package baseline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Apply returns the results with every failure and warning that an entry covers marked as known, and what is wrong
// with the entries. An entry about a check that the run did not judge is left alone. today is a day such as 2027-01-31.
func Apply(rs *report.Results, entries []Entry, today string) *report.Results {
	marked := bare(rs)
	m := matching{rs: marked, entries: entries, today: today, found: make([]judged, len(entries))}
	for i := range marked.Results {
		m.see(&marked.Results[i])
	}
	m.waiting()
	for i := range entries {
		m.judge(&entries[i], &m.found[i])
	}
	marked.Baseline = &report.Baseline{Entries: len(entries), Problems: m.problems, Unpinned: m.unpinned}
	for i := range marked.Results {
		if marked.Results[i].Known != nil {
			marked.Baseline.Known++
		}
	}
	return marked
}

func bare(rs *report.Results) *report.Results {
	clean := *rs
	clean.Baseline, clean.Results = nil, slices.Clone(rs.Results)
	for i := range clean.Results {
		clean.Results[i].Known = nil
	}
	return &clean
}

type matching struct {
	rs       *report.Results
	entries  []Entry
	today    string
	found    []judged
	problems []report.BaselineProblem
	unpinned int
}

// judged are the results that an entry is about: those that need it, and those that do not.
type judged struct {
	covers, changed, any int
	fixed                []*report.Result
	survey
}

// everyCase are the scenarios whose checks judge every case that is played, and list those that do not pass.
var everyCase = []string{"always", "client"}

// decides reports whether a result that does not fail shows that the entry is stale. In a part of a run, a check for
// every case shows it only if the cases of the entry were played.
func (e *Entry) decides(rs *report.Results, r *report.Result) bool {
	if rs.Whole || !slices.Contains(everyCase, r.Scenario) {
		return true
	}
	missing := func(p pin) bool { return !p.wasPlayed(rs.Played[r.Revision]) }
	return e.pinned() && !slices.ContainsFunc(e.pins(), missing)
}

func (m *matching) see(r *report.Result) {
	var mine []int
	for i := range m.entries {
		if m.entries[i].concerns(r) {
			mine = append(mine, i)
		}
	}
	for _, i := range mine {
		found := &m.found[i]
		found.any++
		found.add(&m.entries[i], m.rs, r)
		if !unjudged(r) && !r.Failed(true) && m.entries[i].decides(m.rs, r) {
			found.fixed = append(found.fixed, r)
		}
	}
	if !r.Failed(true) || len(mine) == 0 {
		return
	}
	e := &m.entries[mine[0]]
	if len(mine) > 1 {
		other := &m.entries[mine[1]]
		m.problem(e, "ambiguous", fmt.Sprintf("two entries cover %s in %s: this one and %s: limit or remove one",
			r.ID(), r.Revision, cmp.Or(other.place, other.Check)))
	}
	if change := e.change(r); change != "" && r.Prerequisite == "" {
		m.found[mine[0]].changed++
		m.problem(e, "changed", fmt.Sprintf("%s fails differently in %s: %s", r.ID(), r.Revision, change))
		return
	}
	m.found[mine[0]].covers++
	r.Known = &report.Known{Reason: e.Reason, Issue: e.Issue, Owner: e.Owner, Until: e.Until, Flaky: e.Flaky}
}

// change says how a failure differs from the entry; "" if it does not.
func (e *Entry) change(r *report.Result) string {
	more := uncovered(e.pins(), failures(r))
	switch messages := e.missing(forms(r)); {
	case messages != nil:
		return fmt.Sprintf("expected %s, found %q", anyOf(e.Messages), messages[0])
	case e.pinned() && more != nil:
		return "expected the entry's cases and kinds of difference, found also " + describe(more)
	}
	return ""
}

func anyOf(messages []string) string {
	if len(messages) == 1 {
		return strconv.Quote(messages[0])
	}
	return fmt.Sprintf("one of the entry's %d messages", len(messages))
}

func (m *matching) waiting() {
	for i := range m.rs.Results {
		r := &m.rs.Results[i]
		if r.Prerequisite == "" || r.Known != nil {
			continue
		}
		for j := range m.rs.Results {
			first := &m.rs.Results[j]
			if first.Known != nil && first.Revision == r.Revision && first.ID() == r.Prerequisite {
				r.Known = &report.Known{Reason: "not judged because of " + r.Prerequisite}
			}
		}
	}
}

func (m *matching) judge(e *Entry, found *judged) {
	if e.Until != "" && m.today > e.Until {
		m.problem(e, "expired", fmt.Sprintf("valid until %s: fix the client, or extend the entry", e.Until))
	}
	if e.Max > 0 && found.covers > e.Max {
		m.problem(e, "too many", fmt.Sprintf("covers %d results, but max is %d", found.covers, e.Max))
	}
	if !e.pinned() && !e.isPattern() && len(found.cases) > 0 {
		m.unpinned++
	}
	if e.Flaky || m.rs.Interrupted {
		return
	}
	before := len(m.problems)
	if m.stale(e, found); found.any > 0 && len(m.problems) == before && found.changed == 0 && !found.unjudged {
		m.partlyStale(e, found, found.complete(e, m.rs))
	}
}

// partlyStale is about an entry whose check still fails, but not in all of its cases, or not with all messages. An
// incomplete run shows that of the cases that pass.
func (m *matching) partlyStale(e *Entry, found *judged, complete bool) {
	var gone []string
	for _, p := range e.pins() {
		switch n := p.among(found.cases); {
		case n > p.count && p.count > 0:
			m.problem(e, "changed", fmt.Sprintf("expected failures in %s, found %d", p, n))
		case n == 0 && found.passes(p), complete && (n == 0 || n < p.count):
			gone = append(gone, fmt.Sprintf("%s: found %d", p, n))
		}
	}
	if e.pinned() && complete && gone == nil {
		for _, message := range e.gone(found.messages) {
			gone = append(gone, fmt.Sprintf("%q", message))
		}
	}
	if gone != nil {
		m.problem(e, "stale", fmt.Sprintf("no longer fails as the entry says: %s: remove that, or --update",
			strings.Join(gone, ", ")))
	}
}

func (m *matching) stale(e *Entry, found *judged) {
	needed := found.covers + found.changed
	switch {
	case found.any == 0 && m.rs.Whole && m.ran(e):
		m.problem(e, "unmatched", "the run has no such result: remove the entry")
	case len(found.fixed) > 0 && !e.isPattern():
		advice := "remove the entry"
		if needed > 0 {
			advice = "remove what no longer fails"
		}
		var passes []string
		for _, r := range found.fixed {
			passes = append(passes, fmt.Sprintf("%s in %s", r.Verdict, r.Revision))
		}
		m.problem(e, "stale", fmt.Sprintf("expected a failure, found %s: %s", strings.Join(passes, ", "), advice))
	case len(found.fixed) > 0 && needed == 0:
		m.problem(e, "stale", fmt.Sprintf("none of its %d results fails: remove the entry", found.any))
	}
}

func (m *matching) ran(e *Entry) bool {
	return slices.ContainsFunc(m.rs.Results, func(r report.Result) bool {
		return (e.Revisions == nil || slices.Contains(e.Revisions, r.Revision)) &&
			(e.Dialect == "" || slices.Contains(r.Dialects, e.Dialect))
	})
}

func (m *matching) problem(e *Entry, kind, message string) {
	m.problems = append(m.problems, report.BaselineProblem{Kind: kind, Check: e.Check, Place: e.place, Message: message})
}
