package check

import (
	"runtime"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/workers"
)

// Judge judges scenarios in one revision: one result for each wanted check whose cases occur in the sessions, in the
// order of the scenarios. A nil wanted wants all checks. It judges several checks at the same time.
func Judge(
	scenarios Catalogue, revision server.Revision, sessions []*evidence.Session, wanted func(*Scenario, *Check) bool,
) []Judged {
	type rule struct {
		of *Scenario
		*Check
	}
	var rules []rule
	for i := range scenarios {
		scenario := &scenarios[i]
		if !slices.Contains(scenario.Revisions, revision) {
			continue
		}
		scenario.expect(sessions)
		for j := range scenario.Checks {
			c := &scenario.Checks[j]
			if _, exists := c.Levels[revision]; exists && (wanted == nil || wanted(scenario, c)) {
				rules = append(rules, rule{scenario, c})
			}
		}
	}
	found := make([][]Judged, len(rules))
	workers.Each(len(rules), runtime.GOMAXPROCS(0), func(i int) {
		r := rules[i]
		if verdicts := r.verdicts(r.of, sessions); len(verdicts) > 0 {
			found[i] = []Judged{fold(r.of.ID, r.Check, r.Levels[revision], revision, verdicts)}
		}
	})
	return slices.Concat(found...)
}

// expect tells the sessions what the cases of the scenario expect.
func (s *Scenario) expect(sessions []*evidence.Session) {
	for _, one := range s.Cases {
		for _, in := range sessions {
			if ev := in.Case(one.ID); ev != nil {
				ev.Expect = one.Expect
			}
		}
	}
}

// verdicts judges each of the check's cases in each session.
func (c *Check) verdicts(scenario *Scenario, sessions []*evidence.Session) []caseVerdict {
	if scenario.EveryCase {
		return c.everywhere(scenario, sessions)
	}
	var verdicts []caseVerdict
	for _, one := range scenario.Cases {
		if !c.Judges(one.ID) {
			continue
		}
		for _, s := range sessions {
			if ev := s.Case(one.ID); ev != nil && !replayed(ev, sessions) {
				verdicts = append(verdicts, caseVerdict{ev, c.byLoop(scenario, ev), false})
			}
		}
	}
	return verdicts
}

// everywhere judges every case of the sessions, or every session. It returns the verdicts on those that have something
// to judge. If none has, it returns the first verdict that says why.
func (c *Check) everywhere(scenario *Scenario, sessions []*evidence.Session) []caseVerdict {
	var verdicts, idle []caseVerdict
	add := func(ev *evidence.Case, v Verdict) {
		switch v.Kind {
		case report.NotApplicable, report.NotObserved, report.Unsupported:
			if ev.Case.ID == harness.BarrierID {
				return
			}
			idle = append(idle, caseVerdict{ev, v, true})
		default:
			verdicts = append(verdicts, caseVerdict{ev, v, true})
		}
	}
	negotiates := func(s *evidence.Session) bool { return len(s.Trace.Header.ServerRevisions) > 0 }
	others := slices.DeleteFunc(slices.Clone(sessions), negotiates)
	foreign := len(others) > 0 && evidence.AllSpokeOtherRevision(others)
	for _, s := range sessions {
		if negotiates(s) && (foreign || !c.Negotiated) { // Only the checks of its case apply.
			continue
		}
		if c.JudgeSession != nil {
			if s.Fault == "" && s.Trace.Whole {
				add(&evidence.Case{Session: s, Revision: s.Revision}, c.sessionVerdict(s))
			}
			continue
		}
		for _, one := range s.Trace.Header.Cases {
			if ev := s.Case(one.ID); !replayed(ev, sessions) {
				add(ev, c.byLoop(scenario, ev))
			}
		}
	}
	if len(verdicts) == 0 && len(idle) > 0 {
		return idle[:1]
	}
	return verdicts
}

// sessionVerdict judges a session in which the client used the server in the revision.
func (c *Check) sessionVerdict(s *evidence.Session) Verdict {
	switch {
	case s.SpokeOtherRevision():
		return NotApplicable("the client does not speak %s: it tried %s", s.Revision, s.Tried)
	case s.Omitted:
		return NotApplicable("the cases of the session were not played: they do not fit the client")
	case s.GivenUp:
		return NotObserved("the case was not played %s: %s", seeEnd, s.Case(s.Trace.Header.Cases[0].ID).NotPlayed)
	case !s.Asked:
		return NeverUsed(s)
	}
	return c.JudgeSession(s)
}

// replayed reports whether the case was played again because its session did not end cleanly. Then only the second
// play counts.
func replayed(ev *evidence.Case, sessions []*evidence.Session) bool {
	return ev.Case.Replayed && slices.ContainsFunc(sessions, func(s *evidence.Session) bool {
		again := s.Case(ev.Case.ID)
		return again != nil && !again.Case.Replayed
	})
}

// byLoop judges one case, if the rule applies to clients that run the tool loop as this one does.
func (c *Check) byLoop(scenario *Scenario, ev *evidence.Case) Verdict {
	itself := ev.Session.ClientLoop
	if scenario.ClientLoop && !itself {
		return NotApplicable("the client leaves the tool loop to the server")
	}
	v := c.replaySafe(ev)
	serverLoop := c.ServerLoop || !scenario.EveryCase && !scenario.ClientLoop
	if !itself || !serverLoop || len(ev.Uses()) == 0 {
		return v
	}
	switch v.Kind {
	case Failed, report.NotObserved, report.Warn:
		return NotApplicable("the client runs the tool loop itself (see client-loop)")
	}
	return v
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
