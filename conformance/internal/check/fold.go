package check

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// caseVerdict is a check's verdict on one case.
type caseVerdict struct {
	on *evidence.Case
	Verdict
	every bool // the rule judges every case
}

// listed reports whether the result lists the case of the verdict: each case once for a kind of difference, and of a
// rule for every case only those that do not pass.
func (v *caseVerdict) listed(cases []report.CaseResult) bool {
	return !v.every || v.Kind != report.Pass && v.on.Case.ID != "" &&
		!slices.ContainsFunc(cases, func(c report.CaseResult) bool {
			return c.Case == v.on.Case.ID && c.Difference == v.difference()
		})
}

// spread returns the verdicts with those about other kinds of difference behind each.
func spread(verdicts []caseVerdict) []caseVerdict {
	var all []caseVerdict
	for _, v := range verdicts {
		all = append(all, v)
		for _, also := range v.Details().Also {
			all = append(all, caseVerdict{v.on, also, v.every})
		}
	}
	return all
}

// Judged is a result, with what explains its verdict.
type Judged struct {
	report.Result
	Reason evidence.Reason
	See    string // a check; "" for none

	verdicts []caseVerdict
}

// fold makes one result of a check's verdicts: the worst, with its message and evidence.
func fold(scenario string, c *Check, level report.Level, revision server.Revision, verdicts []caseVerdict) Judged {
	r := report.Result{Scenario: scenario, Revision: string(revision), Check: c.ID, Level: level}
	var kinds []report.Verdict
	verdicts = spread(verdicts)
	for i := range verdicts {
		v := &verdicts[i]
		v.Kind = Settle(v.Kind, level)
		kinds = append(kinds, v.Kind)
		if v.listed(r.Cases) {
			r.Cases = append(r.Cases, report.CaseResult{Case: v.on.Case.ID, Verdict: v.Kind, Message: v.Message,
				Difference: v.difference(), Chance: v.byChance()})
		}
		r.DurationMS = max(r.DurationMS, v.on.Took.Milliseconds())
		addDialects(&r, v.on)
	}
	r.Verdict = report.Worst(kinds...)
	worst := smallest(verdicts, r.Verdict, nil)
	f := worst.finding(c, revision)
	r.Difference, r.Message, r.Requirement, r.Case = f.Difference, f.Message, f.Requirement, f.Case
	r.Evidence, r.Around, r.Cause, r.Fix, r.Together = f.Evidence, f.Around, f.Cause, f.Fix, f.Together
	if r.Verdict == report.Info {
		r.Message = allInfos(verdicts)
	}
	if r.Verdict == report.Fail || r.Verdict == report.Warn {
		r.Others = otherFindings(verdicts, worst, c, revision)
	}
	return Judged{r, worst.Reason, worst.Details().See, verdicts}
}

// finding is what a result says of the verdict.
func (v *caseVerdict) finding(c *Check, revision server.Revision) report.Finding {
	f := report.Finding{Difference: v.difference(), Message: v.Message, Requirement: c.Requirement(revision),
		Case:     cmp.Or(v.played(), v.Details().Case, onlyCase(v.Evidence)),
		Evidence: append([]report.Evidence{}, v.Evidence...)}
	if after := v.on.Case.UnservedAfter; after != "" {
		f.Together = []string{after, v.on.Case.ID}
	}
	switch v.Kind {
	case report.Fail, report.Warn:
		f.Cause, f.Fix = v.Advise(c)
		if a := v.Details().advice; a != nil && a.differs {
			f.Requirement = firstOf(a.statements, revision)
		}
		f.Around = Around(v.on.Session, f.Evidence)
	case report.NotObserved:
		f.Around = Around(v.on.Session, f.Evidence)
	}
	return f
}

// otherFindings returns a finding for each other kind of difference among the verdicts that are as bad as the first,
// in the order of the cases, and then those of the kinds that only warn.
func otherFindings(verdicts []caseVerdict, first *caseVerdict, c *Check, revision server.Revision) []report.Finding {
	var all []report.Finding
	seen := []string{first.difference()}
	add := func(verdict, told report.Verdict) {
		for i := range verdicts {
			kind := verdicts[i].difference()
			if verdicts[i].Kind != verdict || slices.Contains(seen, kind) {
				continue
			}
			seen = append(seen, kind)
			one := smallest(verdicts, verdict, &kind).finding(c, revision)
			one.Verdict = told
			all = append(all, one)
		}
	}
	add(first.Kind, "")
	if first.Kind == report.Fail {
		seen = append(seen, "") // a warning about no difference is only among the cases
		add(report.Warn, report.Warn)
	}
	return all
}

// onlyCase returns the case of all evidence; "" if it has several, or belongs to none.
func onlyCase(shown []report.Evidence) string {
	caseID := ""
	for i, e := range shown {
		if e.Case == "" || e.Case == harness.BarrierID || i > 0 && e.Case != caseID {
			return ""
		}
		caseID = e.Case
	}
	return caseID
}

// addDialects adds the wire formats in which the client asked the model.
func addDialects(r *report.Result, ev *evidence.Case) {
	for _, round := range ev.Rounds {
		for _, x := range round.Model {
			if x.Request != nil && !slices.Contains(r.Dialects, x.Request.Dialect) {
				r.Dialects = append(r.Dialects, x.Request.Dialect)
			}
		}
	}
}

// allInfos joins the messages of all info verdicts, each once.
func allInfos(verdicts []caseVerdict) string {
	var messages []string
	for _, v := range verdicts {
		if v.Kind == report.Info && !slices.Contains(messages, v.Message) {
			messages = append(messages, v.Message)
		}
	}
	return strings.Join(messages, "; ")
}

// smallest returns the verdict of the kind whose case has the fewest sampling requests, of one kind of difference; nil
// for all of them.
func smallest(verdicts []caseVerdict, kind report.Verdict, difference *string) *caseVerdict {
	var best *caseVerdict
	for i := range verdicts {
		v := &verdicts[i]
		if v.Kind == kind && (difference == nil || v.difference() == *difference) && (best == nil || v.size() < best.size()) {
			best = v
		}
	}
	return best
}

// played is the case that a run plays to see the verdict: for the barrier, the only case before it; "" for several.
func (v *caseVerdict) played() string {
	switch cases := v.on.Session.Trace.Header.Cases; {
	case v.on.Case.ID != harness.BarrierID:
		return v.on.Case.ID
	case len(cases) == 2:
		return cases[0].ID
	}
	return ""
}

// size is the number of the case's sampling requests. The barrier is last: no run can play it alone. Before it are the
// cases that show the verdict by chance.
func (v *caseVerdict) size() int {
	if v.on.Case.ID == harness.BarrierID {
		return math.MaxInt
	}
	if v.byChance() {
		return math.MaxInt/2 + len(v.on.Rounds)
	}
	return len(v.on.Rounds)
}

// byChance reports whether the verdict is on another case than the one that shows it in each run.
func (v *caseVerdict) byChance() bool {
	by := v.Details().shownBy
	return by != "" && by != v.on.Case.ID
}
