package check

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// JudgeScenario judges one scenario in one revision: one result for each wanted check whose cases occur in the
// sessions. A nil wanted wants all checks.
func JudgeScenario(
	scenario *Scenario, revision server.Revision, sessions []*evidence.Session, wanted func(*Scenario, *Check) bool,
) []report.Result {
	if !slices.Contains(scenario.Revisions, revision) {
		return nil
	}
	var results []report.Result
	for i := range scenario.Checks {
		c := &scenario.Checks[i]
		level, exists := c.Levels[revision]
		if !exists || wanted != nil && !wanted(scenario, c) {
			continue
		}
		if verdicts := c.verdicts(scenario, sessions); len(verdicts) > 0 {
			results = append(results, fold(scenario.ID, c, level, revision, verdicts))
		}
	}
	return results
}

// verdicts judges each of the check's cases in each session.
func (c *Check) verdicts(scenario *Scenario, sessions []*evidence.Session) []caseVerdict {
	var verdicts []caseVerdict
	for _, one := range scenario.Cases {
		if !c.Judges(one.ID) {
			continue
		}
		for _, s := range sessions {
			if ev := s.Case(one.ID); ev != nil && !replayed(ev, sessions) {
				ev.Expect = one.Expect
				verdicts = append(verdicts, caseVerdict{ev, c.replaySafe(ev)})
			}
		}
	}
	return verdicts
}

// replayed reports whether the case was played again because its session did not end cleanly. Then only the second
// play counts.
func replayed(ev *evidence.Case, sessions []*evidence.Session) bool {
	return ev.Case.Replayed && slices.ContainsFunc(sessions, func(s *evidence.Session) bool {
		again := s.Case(ev.Case.ID)
		return again != nil && !again.Case.Replayed
	})
}

// replaySafe judges one case. If the cassettes had no answer for the client, only verdicts about what the client asked
// the model count: those do not depend on the answer.
func (c *Check) replaySafe(ev *evidence.Case) Verdict {
	v := c.verdict(ev)
	switch why := CassetteMiss(ev); {
	case why == "", v.Kind == report.NotApplicable, v.Kind == report.HarnessError, v.Kind == report.Unsupported,
		aboutModelRequest(ev, v):
		return v
	default:
		return Unsupported("no cassette answers what this client asks the model, so judge it with the scripts (--llm "+
			"script): %s", why)
	}
}

// aboutModelRequest reports whether the verdict rests on a request to the model.
func aboutModelRequest(ev *evidence.Case, v Verdict) bool {
	return v.Kind != report.NotObserved && slices.ContainsFunc(v.Evidence, func(shown report.Evidence) bool {
		return slices.ContainsFunc(ev.Rounds, func(r *evidence.Round) bool {
			return slices.ContainsFunc(r.Model, func(x *evidence.Exchange) bool {
				return x.Ref.Case == shown.Case && x.Ref.Seq == shown.Seq
			})
		})
	})
}

// CassetteMiss says why the cassettes had no answer for the client; "" if they had one, or if the scripts answered.
func CassetteMiss(ev *evidence.Case) string {
	if ev.Session.Trace.Header.Replayed {
		for _, r := range ev.Rounds {
			if why := r.CassetteMiss(); why != "" {
				return evidence.Clip(why)
			}
		}
	}
	return ""
}
