// Package compare says what changed between two runs: the checks with another verdict, and for each the first
// difference between what the clients said. Everything is a pure function of results and traces. It knows no rule:
// which verdict a check has is the judge's business.
package compare

import (
	"cmp"
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
	// Check is the whole name, such as "parallel/results-reach-model".
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
	// Changes are in the order of the report.
	Changes []Change
	// Alike counts the checks that did not change, and the others those that only one run judged.
	Alike, OnlyBefore, OnlyAfter int
}

// Runs compares two runs.
func Runs(before, after Run) *Comparison {
	c := &Comparison{Before: before, After: after}
	was := map[string]*report.Result{}
	for i := range before.Results.Results {
		r := &before.Results.Results[i]
		was[r.Revision+" "+r.ID()] = r
	}
	for i := range after.Results.Results {
		r := &after.Results.Results[i]
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
