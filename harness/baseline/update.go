package baseline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Fresh is what [File.Update] writes into new entries.
type Fresh struct {
	Reason, Issue, Owner, Until string
	// Strict also takes in warnings.
	Strict bool
	// Only limits new entries to the results for which it is true; nil for all.
	Only func(*report.Result) bool
}

// Update returns the text of a file that fits the results, and what changes, a line for each entry. It adds entries
// for new failures, changes messages, and removes what no longer fails. Everything else stays as it is.
func (f *File) Update(rs *report.Results, fresh Fresh) (text string, changes []string) {
	var kept []string
	var entries []Entry
	rs = bare(rs)
	for i := range f.Entries {
		e, change := f.Entries[i].fitted(rs)
		changes = append(changes, change...)
		switch {
		case e == nil:
		case len(change) == 0:
			kept, entries = append(kept, f.chunks[i]), append(entries, *e)
		default:
			kept, entries = append(kept, comments(f.chunks[i])+chunk(*e)), append(entries, *e)
		}
	}
	applied := Apply(rs, entries, "")
	for _, e := range newEntries(applied, fresh) {
		kept = append(kept, chunk(e))
		changes = append(changes, fmt.Sprintf("+ %s   %s", e.title(), strings.Join(e.Messages, " | ")))
	}
	if len(kept) == 0 {
		return knownMember.ReplaceAllString(f.head, "known: []"), changes
	}
	return f.head + strings.Join(kept, ""), changes
}

func comments(chunk string) string {
	lines := strings.SplitAfter(chunk, "\n")
	n := slices.IndexFunc(lines, func(line string) bool { return !comment(line) })
	return strings.Join(lines[:max(n, 0)], "")
}

func (e *Entry) title() string {
	return strings.TrimSpace(strings.Join(append([]string{e.Check}, append(e.Revisions, e.Dialect)...), "  "))
}

// survey is what the results say of the check of an entry.
type survey struct {
	failing, passing []string // revisions
	messages         []string
	cases            []failure
	passed           []string // cases
	clean            []pin    // whose cases were all played; those that fail are in cases, too
	unjudged         bool     // in some revision
}

func unjudged(r *report.Result) bool {
	return r.Verdict == report.HarnessError || r.Verdict == report.Unsupported || r.Prerequisite != ""
}

func (s *survey) add(e *Entry, rs *report.Results, r *report.Result) {
	for _, c := range r.Cases {
		if c.Verdict != r.Verdict && slices.Contains(harmless, c.Verdict) {
			s.passed = include(s.passed, c.Case)
		}
	}
	for _, p := range e.pins() {
		if p.wasPlayed(rs.Played[r.Revision]) && !leavesOut(r, p) {
			s.clean = append(s.clean, p)
		}
	}
	switch {
	case unjudged(r), !r.Failed(true) && !e.decides(rs, r):
		s.unjudged = true
	case r.Failed(true):
		s.failing = append(s.failing, r.Revision)
		s.messages = include(s.messages, forms(r)...)
		s.cases = include(s.cases, failures(r)...)
	default:
		s.passing = append(s.passing, r.Revision)
	}
}

// leavesOut reports whether a case of the pin was not judged.
func leavesOut(r *report.Result, p pin) bool {
	return slices.ContainsFunc(r.Cases, func(c report.CaseResult) bool {
		return p.covers(failure{p.kind, c.Case}) && (c.Verdict == report.NotObserved || c.Verdict == report.Unsupported)
	})
}

// harmless are the verdicts of a case that may have been known to fail, and does not any more.
var harmless = []report.Verdict{report.Pass, report.Info, report.Warn, report.NotApplicable}

// passes reports whether a case of the pin does not fail.
func (s *survey) passes(p pin) bool {
	return slices.Contains(s.clean, p) || p.count == 0 &&
		slices.ContainsFunc(s.passed, func(id string) bool { return p.covers(failure{p.kind, id}) })
}

// complete reports whether the results have all that the entry is about.
func (s *survey) complete(e *Entry, rs *report.Results) bool {
	ran := func(revision string) bool {
		return slices.ContainsFunc(rs.Results, func(r report.Result) bool { return r.Revision == revision })
	}
	if e.Flaky || s.unjudged || slices.ContainsFunc(e.Revisions, func(r string) bool { return !ran(r) }) {
		return false
	}
	missing := func(p pin) bool { return p.among(s.cases) < max(1, p.count) && !s.passes(p) }
	return rs.Whole || e.pinned() && !slices.ContainsFunc(e.pins(), missing)
}

// include adds to a sorted list what it lacks.
func include[T interface{ ~string | failure }](list []T, more ...T) []T {
	list = append(slices.Clip(list), more...)
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return slices.Compact(list)
}

func (e *Entry) survey(rs *report.Results) *survey {
	var s survey
	for i := range rs.Results {
		if e.concerns(&rs.Results[i]) {
			s.add(e, rs, &rs.Results[i])
		}
	}
	return &s
}

// fitted returns the entry as it fits the results, and what changed; nil if nothing is left of it.
func (e *Entry) fitted(rs *report.Results) (*Entry, []string) {
	fit, s := *e, e.survey(rs)
	if rs.Interrupted {
		return &fit, nil
	}
	var changes []string
	if len(s.passing) > 0 && !e.Flaky {
		rest := without(e.Revisions, s.passing, s.failing)
		if len(s.failing) == 0 && !s.unjudged && (e.isPattern() || len(rest) == 0) {
			return nil, []string{fmt.Sprintf("- %s   no longer fails", e.title())}
		}
		if !e.isPattern() {
			fit.Revisions = rest
			changes = append(changes, fmt.Sprintf("~ %s   no longer fails in %s", e.title(), strings.Join(s.passing, ", ")))
		}
	}
	changes = append(changes, fit.refit(e, s, e.isPattern() || !s.complete(e, rs))...)
	if e.Max > 0 && len(s.failing) > e.Max {
		changes = append(changes, fmt.Sprintf("! %s   covers %d results, but max is %d: change it by hand", e.title(),
			len(s.failing), e.Max))
	}
	return &fit, changes
}

// refit gives the entry the messages and cases of the survey. It keeps those of the old entry that do not occur if some
// does not show every one.
func (e *Entry) refit(old *Entry, s *survey, some bool) (changes []string) {
	if len(s.failing) == 0 {
		return nil
	}
	more, gone := old.missing(s.messages), old.gone(s.messages)
	switch {
	case some && old.pinned():
		e.Messages, gone = slices.Concat(old.Messages, more), nil
	case some:
		gone = slices.DeleteFunc(
			gone,
			func(m string) bool { return (&Entry{Messages: s.messages}).missing([]string{m}) != nil },
		)
		e.Messages = slices.DeleteFunc(
			include(old.Messages, s.messages...),
			func(m string) bool { return slices.Contains(gone, m) },
		)
	case len(more)+len(gone) > 0:
		e.Messages = s.messages
	}
	if len(more) > 0 {
		changes = append(changes, fmt.Sprintf("~ %s   message: %s", old.title(), strings.Join(more, " | ")))
	}
	if len(gone) > 0 {
		changes = append(changes, fmt.Sprintf("~ %s   no longer: %s", old.title(), strings.Join(gone, " | ")))
	}
	before := old.pins()
	if old.isPattern() && before == nil {
		return changes
	}
	after := refit(before, s, func(p pin) bool { return old.Flaky || some && !s.passes(p) })
	e.setPins(after)
	if added := except(after, before); added != nil {
		changes = append(changes, fmt.Sprintf("~ %s   cases: %s", old.title(), strings.Join(added, ", ")))
	}
	if removed := except(before, after); removed != nil {
		changes = append(changes, fmt.Sprintf("~ %s   no longer: %s", old.title(), strings.Join(removed, ", ")))
	}
	return changes
}

// without returns the revisions of an entry that are not fixed; of one for all revisions, those that fail.
func without(revisions, fixed, failing []string) []string {
	if revisions == nil {
		return failing
	}
	var rest []string
	for _, r := range revisions {
		if !slices.Contains(fixed, r) {
			rest = append(rest, r)
		}
	}
	return rest
}

// newEntries returns entries for the failures that are not known. Revisions with equal messages share one.
func newEntries(rs *report.Results, fresh Fresh) []Entry {
	var entries []Entry
	var cases [][]failure
	for i := range rs.Results {
		r := &rs.Results[i]
		if !r.Failed(fresh.Strict) || r.Prerequisite != "" || fresh.Only != nil && !fresh.Only(r) {
			continue
		}
		messages := forms(r)
		at := slices.IndexFunc(entries, func(e Entry) bool {
			return e.Check == r.ID() && slices.Equal(e.Messages, messages)
		})
		if at < 0 {
			at = len(entries)
			cases = append(cases, nil)
			entries = append(entries, Entry{Check: r.ID(), Messages: messages, Reason: fresh.Reason, Issue: fresh.Issue,
				Owner: fresh.Owner, Until: fresh.Until})
		}
		entries[at].Revisions = append(entries[at].Revisions, r.Revision)
		cases[at] = include(cases[at], failures(r)...)
		entries[at].setPins(pinsFor(cases[at]))
	}
	return entries
}
