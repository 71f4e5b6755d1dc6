package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// caseVerdict is a check's verdict on one case.
type caseVerdict struct {
	on *evidence.Case
	Verdict
}

// fold makes one result of a check's verdicts: the worst, with its message and evidence.
func fold(scenario string, c *Check, level report.Level, revision server.Revision,
	verdicts []caseVerdict) report.Result {
	r := report.Result{Scenario: scenario, Revision: string(revision), Check: c.ID, Level: level,
		Requirement: c.Requirement(revision), Evidence: []report.Evidence{}}
	var kinds []report.Verdict
	for i := range verdicts {
		v := &verdicts[i]
		v.Kind = Settle(v.Kind, level)
		kinds = append(kinds, v.Kind)
		r.Cases = append(r.Cases, report.CaseResult{Case: v.on.Case.ID, Verdict: v.Kind, Message: v.Message})
		r.DurationMS = max(r.DurationMS, v.on.Took.Milliseconds())
		addDialects(&r, v.on)
	}
	r.Verdict = report.Worst(kinds...)
	worst := verdicts[slices.Index(kinds, r.Verdict)]
	r.Message = worst.Message
	r.Evidence = append(r.Evidence, worst.Evidence...)
	switch r.Verdict {
	case report.Info:
		r.Message = allInfos(verdicts)
	case report.Fail, report.Warn:
		if others := count(kinds, r.Verdict) - 1; others > 0 {
			r.Message += fmt.Sprintf(" (the same verdict in %d more of its %d cases)", others, len(kinds))
		}
		r.Cause, r.Fix = c.Cause, c.Fix
		r.Around = around(worst.on.Session, r.Evidence)
	case report.NotObserved:
		r.Around = around(worst.on.Session, r.Evidence)
	}
	return r
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

func count(kinds []report.Verdict, want report.Verdict) int {
	n := 0
	for _, k := range kinds {
		if k == want {
			n++
		}
	}
	return n
}
