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

type survey struct {
	failing, fixed []string // revisions
	messages       []string
	unjudged       bool
}

func (e *Entry) survey(rs *report.Results) *survey {
	var s survey
	for i := range rs.Results {
		r := &rs.Results[i]
		switch {
		case !e.concerns(r):
		case r.Failed(true) && r.Prerequisite == "":
			s.failing, s.messages = append(s.failing, r.Revision), append(s.messages, forms(r)...)
		case r.Failed(true) || r.Verdict == report.HarnessError || r.Verdict == report.Unsupported:
			s.unjudged = true
		default:
			s.fixed = append(s.fixed, r.Revision)
		}
	}
	slices.Sort(s.messages)
	s.messages = slices.Compact(s.messages)
	return &s
}

// fitted returns the entry as it fits the results, and what changed; nil if nothing is left of it.
func (e *Entry) fitted(rs *report.Results) (*Entry, []string) {
	fit, s := *e, e.survey(rs)
	if rs.Interrupted {
		return &fit, nil
	}
	var changes []string
	if len(s.fixed) > 0 && !e.Flaky {
		rest := without(e.Revisions, s.fixed, s.failing)
		if len(s.failing) == 0 && !s.unjudged && (e.isPattern() || len(rest) == 0) {
			return nil, []string{fmt.Sprintf("- %s   no longer fails", e.title())}
		}
		if !e.isPattern() {
			fit.Revisions = rest
			changes = append(changes, fmt.Sprintf("~ %s   no longer fails in %s", e.title(), strings.Join(s.fixed, ", ")))
		}
	}
	if more := e.missing(s.messages); more != nil {
		fit.Messages = s.messages
		if e.Flaky || e.isPattern() || !rs.Whole { // Not every message shows in every run.
			fit.Messages = slices.Concat(e.Messages, more)
		}
		changes = append(changes, fmt.Sprintf("~ %s   message: %s", e.title(), strings.Join(more, " | ")))
	}
	if e.Max > 0 && len(s.failing) > e.Max {
		changes = append(changes, fmt.Sprintf("! %s   covers %d results, but max is %d: change it by hand", e.title(),
			len(s.failing), e.Max))
	}
	return &fit, changes
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
	for i := range rs.Results {
		r := &rs.Results[i]
		if !r.Failed(fresh.Strict) || r.Prerequisite != "" || fresh.Only != nil && !fresh.Only(r) {
			continue
		}
		messages := forms(r)
		same := slices.IndexFunc(entries, func(e Entry) bool {
			return e.Check == r.ID() && slices.Equal(e.Messages, messages)
		})
		if same >= 0 {
			entries[same].Revisions = append(entries[same].Revisions, r.Revision)
			continue
		}
		entries = append(entries, Entry{Check: r.ID(), Revisions: []string{r.Revision}, Messages: messages,
			Reason: fresh.Reason, Issue: fresh.Issue, Owner: fresh.Owner, Until: fresh.Until})
	}
	return entries
}
