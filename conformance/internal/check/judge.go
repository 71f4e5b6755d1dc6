package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// judgeScenario judges one scenario in one revision.
func JudgeScenario(scenario *Scenario, revision server.Revision, sessions []*evidence.Session, wanted func(*Scenario, *Check) bool) []report.Result {
	var results []report.Result
	for i := range scenario.Checks {
		check := &scenario.Checks[i]
		level, exists := check.Levels[revision]
		if !exists || !slices.Contains(scenario.Revisions, revision) || wanted != nil && !wanted(scenario, check) {
			continue
		}
		var verdicts []caseVerdict
		for _, c := range scenario.Cases {
			if !check.Shows(c.ID) {
				continue
			}
			for _, s := range sessions {
				if ev := s.Case(c.ID); ev != nil && !superseded(ev, sessions) {
					ev.Expect = c.Expect
					verdicts = append(verdicts, caseVerdict{ev, decide(check, ev)})
				}
			}
		}
		if len(verdicts) > 0 {
			results = append(results, fold(scenario.ID, check, level, revision, verdicts))
		}
	}
	return results
}

// superseded reports whether a case was played again, because its session came to no good end: then that counts, and only that.
func superseded(ev *evidence.Case, sessions []*evidence.Session) bool {
	return ev.Case.Replayed && slices.ContainsFunc(sessions, func(s *evidence.Session) bool {
		again := s.Case(ev.Case.ID)
		return again != nil && !again.Case.Replayed
	})
}

// decide judges one case, once there is enough to judge. What keeps a case from being judged is said in its place, so that
// a check finds only evidence that it can read.
func decide(check *Check, ev *evidence.Case) Verdict {
	v := judgeCase(check, ev)
	why := Unrecorded(ev)
	if judged := v.Kind != report.NotApplicable && v.Kind != report.HarnessError && v.Kind != report.Unsupported; judged && why != "" && !ofTheQuestion(ev, v) {
		return Unsupported("no recording answers what this client asks of the model, so judge it by the scripts: %s", why)
	}
	return v
}

// ofTheQuestion reports whether a verdict is of what the client asked the model: that stands, whatever the model had to say to it.
func ofTheQuestion(ev *evidence.Case, v Verdict) bool {
	return v.Kind != report.NotObserved && slices.ContainsFunc(v.Evidence, func(f report.Evidence) bool {
		return slices.ContainsFunc(ev.Rounds, func(r *evidence.Round) bool {
			return slices.ContainsFunc(r.Model, func(x *evidence.Exchange) bool { return x.Ref.Case == f.Case && x.Ref.Seq == f.Seq })
		})
	})
}

// unrecorded says why the recordings had no answer for the client; "" where they had one, or the scripts answered.
func Unrecorded(ev *evidence.Case) string {
	if ev.Session.Trace.Header.Replayed {
		for _, r := range ev.Rounds {
			if why := r.CassetteMiss(); why != "" {
				return evidence.Clip(why)
			}
		}
	}
	return ""
}

// judge tries the needs of the check, and then judges the case.
func (c *Check) judge(ev *evidence.Case) Verdict {
	for _, need := range c.Needs {
		if v := need(ev); v != nil {
			return *v
		}
	}
	return c.Judge(ev)
}

func judgeCase(check *Check, ev *evidence.Case) Verdict {
	s := ev.Session
	answered := 0
	for _, r := range ev.Rounds {
		if r.Result() == nil {
			break
		}
		answered++
	}
	switch {
	case len(ev.HarnessErrors) > 0:
		return NewVerdict(report.HarnessError, "the harness broke the protocol itself: %s", []any{strings.Join(ev.HarnessErrors, "; ")})
	case s.SpokeOtherRevision():
		return NotApplicable("the client does not speak %s: it tried %s", s.Revision, s.Tried)
	case ev.NotPlayed != "":
		return NotObserved("the case was not played: %s", ev.NotPlayed)
	case check.Whole && s.Trace.Whole && !s.Interrupted():
		return check.judge(ev)
	case s.Interrupted() && !ev.Over:
		return NotObserved("the run was interrupted before this was over")
	case !s.Connected:
		return NotObserved("the client never got as far as using the server (see client/connects)")
	case !s.Trace.Whole:
		return NotObserved("the trace is not whole: %d events were over the recorder's limit, so nothing is said of this", s.Trace.Dropped)
	case !ev.Called && ev.Case.Carrier != "" && ev.Died() == "":
		return Unsupported("the client never made the %s: it takes one that heeds the prompts and resources in MCP_CONFORMANCE_CONTEXT (Env.Prompts, Env.Resources)", ev.Case.Carrier)
	case !ev.Called:
		return NotObserved("the client never called the tool %s%s", ev.Case.Tool, ev.Died())
	case ev.Withheld != "":
		return NotApplicable("the client does not declare %s, so the server must not ask for it", ev.Withheld)
	case len(ev.Rounds) == 0 && !ev.AskedForInput() && ev.TurnedDown != "":
		return NotObserved("the server turned the call down with %s", ev.TurnedDown).Show(ev.TurnedDownAt, "%s", evidence.Compact(s.Trace.Find(ev.TurnedDownAt.Ref).Frame.Raw))
	case ev.OnlyTakesTasks() && !ev.AsksForTask():
		return NotApplicable("the client takes samples as tasks alone, as it may, and refused a plain one")
	case len(ev.Rounds) < max(check.Requests, check.Results):
		return NotObserved("the play did not get as far as sampling request %d%s", len(ev.Rounds)+1, cmp.Or(ev.WhyNoResult(len(ev.Rounds)), ev.Died()))
	case answered < check.Results:
		return NotObserved("sampling request %d was not answered with a result%s", answered+1, ev.WhyNoResult(answered+1))
	}
	return check.judge(ev)
}

// caseVerdict is a check's verdict on one case.
type caseVerdict struct {
	on *evidence.Case
	Verdict
}

// fold makes one result of the verdicts on a check's cases: the worst, with its message and frames.
func fold(scenario string, check *Check, level report.Level, revision server.Revision, verdicts []caseVerdict) report.Result {
	r := report.Result{Scenario: scenario, Revision: string(revision), Check: check.ID, Level: level,
		Requirement: check.Requirement(revision), Evidence: []report.Evidence{}}
	var kinds []report.Verdict
	for i := range verdicts {
		v := &verdicts[i]
		v.Kind = Settle(v.Kind, level)
		kinds = append(kinds, v.Kind)
		r.Cases = append(r.Cases, report.CaseResult{Case: v.on.Case.ID, Verdict: v.Kind, Message: v.Message})
		r.DurationMS = max(r.DurationMS, v.on.Took.Milliseconds())
		for _, d := range dialects(v.on) {
			if !slices.Contains(r.Dialects, d) {
				r.Dialects = append(r.Dialects, d)
			}
		}
	}
	r.Verdict = report.Worst(kinds...)
	worst := verdicts[slices.Index(kinds, r.Verdict)]
	r.Message = worst.Message
	r.Evidence = append(r.Evidence, worst.Evidence...)
	if r.Verdict == report.Info {
		r.Message = allTold(verdicts)
	}
	if others := count(kinds, r.Verdict) - 1; others > 0 && (r.Verdict == report.Fail || r.Verdict == report.Warn) {
		r.Message += fmt.Sprintf(" (the same verdict in %d more of its %d cases)", others, len(kinds))
	}
	switch r.Verdict {
	case report.Fail, report.Warn:
		r.Cause, r.Fix = check.Cause, check.Fix
		r.Around = around(worst.on.Session, r.Evidence)
	case report.NotObserved:
		r.Around = around(worst.on.Session, r.Evidence)
	}
	return r
}

// allTold are the messages of the cases that only tell something, each once.
func allTold(verdicts []caseVerdict) string {
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

// settle gives a broken rule the verdict of its level.
func Settle(kind report.Verdict, level report.Level) report.Verdict {
	switch {
	case kind != Failed:
		return kind
	case level.Fails():
		return report.Fail
	case level == report.May:
		return report.Info
	}
	return report.Warn
}

// dialects are the wire formats in which the model was asked.
func dialects(ev *evidence.Case) []string {
	var names []string
	for _, r := range ev.Rounds {
		for _, x := range r.Model {
			if x.Request != nil && !slices.Contains(names, x.Request.Dialect) {
				names = append(names, x.Request.Dialect)
			}
		}
	}
	return names
}
