// Package compare says what changed between two runs: the checks with another verdict, and for each the first
// difference between what the clients said. Everything is a pure function of results and traces. It knows no rule:
// which verdict a check has is the judge's business.
package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/baseline"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Run is one of the two runs.
type Run struct {
	// Name is what the user calls the run, such as its folder.
	Name    string
	Results *report.Results
	// Traces may be nil: then nothing explains a change.
	Traces []*trace.Trace
}

// Kind says which way a check changed.
type Kind string

// The kinds of change. Otherwise is a failure that is still there, with other words and no new kind of difference, or a
// check that no longer applies.
const (
	Worse     Kind = "worse"
	Better    Kind = "better"
	Otherwise Kind = "otherwise"
)

// Change is a check with another verdict, or that fails in another way.
type Change struct {
	Kind     Kind
	Revision string
	// Check is the whole name, such as "parallel/results-reach-model"; "" for a revision that the client speaks in one of
	// the runs only.
	Check         string
	Before, After report.Verdict
	// Message is what the report of the second run says. Was is what the first said, of a check that failed then.
	Message, Was string
	// Differs is what the client said otherwise; nil if the traces do not tell.
	Differs *Difference
}

// Comparison is what changed between two runs.
type Comparison struct {
	Before, After Run
	// Changes are in the order of the report, after those of whole revisions.
	Changes []Change
	// Alike counts the checks that did not change, and the others those that only one run judged.
	Alike, OnlyBefore, OnlyAfter int
}

// Runs compares two runs.
func Runs(before, after Run) *Comparison {
	c := &Comparison{Before: before, After: after}
	was := map[string]*report.Result{}
	changed := c.revisions()
	for i := range before.Results.Results {
		r := &before.Results.Results[i]
		if changed[r.Revision] {
			continue
		}
		was[r.Revision+" "+r.ID()] = r
	}
	for i := range after.Results.Results {
		r := &after.Results.Results[i]
		if changed[r.Revision] {
			continue
		}
		b := was[r.Revision+" "+r.ID()]
		if b == nil {
			c.OnlyAfter++
			continue
		}
		delete(was, r.Revision+" "+r.ID())
		kind := kindOf(b, r)
		if kind == "" {
			c.Alike++
			continue
		}
		change := Change{Kind: kind, Revision: r.Revision, Check: r.ID(), Before: b.Verdict, After: r.Verdict,
			Message: r.Message, Differs: explain(before, after, r.Revision, cmp.Or(r.Case, b.Case))}
		if rank(b.Verdict) > rank(report.Pass) {
			change.Was = b.Message
		}
		c.Changes = append(c.Changes, change)
	}
	c.OnlyBefore = len(was)
	return c
}

// revisions returns the revisions in which the client came to a case in one of the runs only: it does not speak them in
// the other. Each is one change: its checks would all say the same.
func (c *Comparison) revisions() map[string]bool {
	changed := map[string]bool{}
	was, is := c.Before.spoken(), c.After.spoken()
	for _, revision := range slices.Sorted(maps.Keys(is)) {
		spoke, played := was[revision]
		if !played || spoke == is[revision] {
			continue
		}
		changed[revision] = true
		one := Change{Kind: Worse, Revision: revision, Message: why(c.After, revision), Was: judged(c.Before, revision)}
		if is[revision] {
			one = Change{Kind: Better, Revision: revision, Was: why(c.Before, revision),
				Message: judged(c.After, revision) + "; the report of the run lists the others"}
		}
		c.Changes = append(c.Changes, one)
	}
	return changed
}

// spoken says of each revision with traces whether the client came to a case, not counting those in which it negotiates
// another revision.
func (r *Run) spoken() map[string]bool {
	spoken := map[string]bool{}
	for _, t := range r.Traces {
		if len(t.Header.ServerRevisions) > 0 {
			continue
		}
		came := slices.ContainsFunc(t.Events, func(e trace.Event) bool { return e.Case != "" && e.Mark == nil })
		spoken[t.Header.Revision] = spoken[t.Header.Revision] || came
	}
	return spoken
}

func (r *Run) in(revision string) []report.Result {
	return slices.DeleteFunc(slices.Clone(r.Results.Results), func(one report.Result) bool {
		return one.Revision != revision
	})
}

// judged counts what passed in a revision, of what was judged.
func judged(r Run, revision string) string {
	all, passed := 0, 0
	for _, one := range r.in(revision) {
		if one.Verdict != report.NotApplicable {
			all++
		}
		if one.Verdict == report.Pass {
			passed++
		}
	}
	return fmt.Sprintf("%d of %d checks pass", passed, all)
}

// why returns what the worst result of a revision says.
func why(r Run, revision string) string {
	worst := ""
	most := -1
	for _, one := range r.in(revision) {
		if n := rank(one.Verdict); n > most {
			worst, most = one.Message, n
		}
	}
	return worst
}

// Count returns how many changes are of a kind.
func (c *Comparison) Count(kind Kind) int {
	n := 0
	for i := range c.Changes {
		if c.Changes[i].Kind == kind {
			n++
		}
	}
	return n
}

// kindOf returns how a check changed; "" if it did not.
func kindOf(before, after *report.Result) Kind {
	switch a, b := rank(before.Verdict), rank(after.Verdict); {
	case before.Verdict == report.NotApplicable && after.Verdict == report.Pass:
		return ""
	case before.Verdict == report.Pass && after.Verdict == report.NotApplicable:
		return Otherwise
	case a < b:
		return Worse
	case a > b:
		return Better
	}
	known := kinds(before)
	if slices.ContainsFunc(kinds(after), func(kind string) bool { return !slices.Contains(known, kind) }) {
		return Worse
	}
	if rank(after.Verdict) >= rank(report.Warn) && baseline.Normal(before.Message) != baseline.Normal(after.Message) {
		return Otherwise
	}
	return ""
}

func kinds(r *report.Result) []string {
	all := []string{r.Difference}
	for i := range r.Others {
		all = append(all, r.Others[i].Difference)
	}
	return all
}

// rank orders verdicts from the best. What is not judged is worse than what passes, and better than what fails.
func rank(v report.Verdict) int {
	return slices.Index([]report.Verdict{report.Pass, report.NotApplicable, report.Unsupported, report.NotObserved,
		report.Warn, report.Fail, report.HarnessError}, v)
}
