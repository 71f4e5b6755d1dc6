package client

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

const (
	ConnectsID     = "connects"
	endsCleanlyID  = "ends-cleanly"
	onlyMessagesID = "only-messages"
)

// clientChecks judge sessions, not cases.
var clientChecks = []struct {
	check.Check
	judge func([]*evidence.Session) check.Verdict
}{
	{check.Check{ID: ConnectsID, Rule: "the client connects and is served by the revision of the run",
		Cause: "the client exits before it connects, speaks another transport, or gets the address or a header wrong",
		Fix:   "have the client connect to the URL that it is given, or launch the server's command, in the revision that MCP_CONFORMANCE_PROTOCOL_VERSION names"}, connects},
	{check.Check{ID: onlyMessagesID, Rule: "over stdio, nothing but JSON-RPC messages goes to the server, each in a line of its own",
		Statements: []string{"2025-11-25/transports/05", "2025-11-25/transports/03", "2025-11-25/transports/01",
			"2026-07-28/stdio/03", "2026-07-28/stdio/01", "2026-07-28/transports/01"},
		Cause: "a log line or a byte order mark goes onto the pipe, JSON is written over several lines, or the client ends in the middle of a message",
		Fix:   "write each message as UTF-8 JSON without line breaks, then one line feed, and logs to standard error"}, check.OnlyMessages},
	{check.Check{ID: "sampled", Rule: "at least one sampling request was answered with a result",
		Cause: "the client declares no sampling, never calls the tools, or answers every request with an error",
		Fix:   "declare sampling (with tools), call every tool that is listed, and answer with what the model says"}, sampled},
	{check.Check{ID: endsCleanlyID, Rule: "the client comes to its end by itself and calls it a success",
		Cause: "the client crashes, hangs after its last call, or reports a failure of its own",
		Fix:   "exit with 0 (return nil) once every tool has been called"}, endsCleanly},
}

// judgeClient judges the client as a whole in one revision.
func Judge(revision server.Revision, sessions []*evidence.Session) []report.Result {
	var results []report.Result
	sound := slices.DeleteFunc(slices.Clone(sessions), func(s *evidence.Session) bool { return s.Fault != "" })
	for _, c := range clientChecks {
		if c.ID == onlyMessagesID && !slices.ContainsFunc(sessions, (*evidence.Session).OverStdio) {
			continue
		}
		v := c.judge(sound)
		switch {
		case len(sound) == 0:
			v = check.NewVerdict(report.HarnessError, "%s", []any{sessions[0].Fault})
		case c.ID != ConnectsID && evidence.AllSpokeOtherRevision(sessions):
			v = check.NotApplicable("the client does not speak %s: it tried %s", revision, sessions[0].Tried)
		case v.Kind == check.Failed && slices.ContainsFunc(sessions, (*evidence.Session).Interrupted):
			v = check.NotObserved("the run was interrupted before this could be seen")
		case v.Kind == check.Failed && c.ID != endsCleanlyID && slices.ContainsFunc(sessions, func(s *evidence.Session) bool { return !s.Trace.Whole }):
			v = check.NotObserved("the trace is incomplete") // of a process everything is kept
		}
		r := report.Result{Scenario: check.ClientScenario, Revision: string(revision), Check: c.ID, Level: report.Robust,
			Verdict: check.Settle(v.Kind, report.Robust), Message: v.Message,
			Requirement: c.Requirement(revision), Evidence: append([]report.Evidence{}, v.Evidence...)}
		if r.Verdict == report.Fail {
			r.Cause, r.Fix = c.Cause, c.Fix
		}
		for _, s := range sessions {
			if n := len(s.Trace.Events); n > 0 {
				r.DurationMS = max(r.DurationMS, s.Trace.Events[n-1].At.Milliseconds())
			}
		}
		results = append(results, r)
	}
	return results
}

// excused reports whether the client had a server that was of no use to it by design: one that speaks another version, or ended.
func excused(s *evidence.Session) bool { return len(s.Trace.Header.Speaks) > 0 || s.Lost }

func connects(sessions []*evidence.Session) check.Verdict {
	for _, s := range sessions {
		switch {
		case s.Connected, len(s.Trace.Header.Speaks) > 0 && s.Asked:
		case s.SpokeOtherRevision():
			return check.NotApplicable("the client does not speak %s: it tried %s", s.Revision, s.Tried)
		default:
			v := check.Fail("%s; %s", neverUsed(s), s.Ending())
			for _, p := range s.Refused {
				v = v.Show(p, "%s", s.Trace.Find(p.Ref).Frame.Raw)
			}
			return check.ShowOutput(s, v)
		}
	}
	return check.Pass("the client connected and was served")
}

func sampled(sessions []*evidence.Session) check.Verdict {
	withheld, unrecorded := "", ""
	called, askable := false, false
	asked, failed := 0, 0 // rounds, and those of them in which the model was made to fail
	for _, s := range sessions {
		if excused(s) {
			continue // it need not have been of any use to its server
		}
		told := evidence.ClientRequest{Capabilities: s.Trace.Header.Declare}
		if len(told.Capabilities) > 0 && !told.Declares("sampling") || cmp.Or(s.Trace.Header.Decision, harness.Approve) != harness.Approve {
			continue // the client was told not to be asked, or to give nothing
		}
		askable = true
		for _, c := range s.Trace.Header.Cases {
			ev := s.Case(c.ID)
			for _, r := range ev.Rounds {
				if a := r.Result(); a != nil && !r.Hostile {
					return check.Pass("sampling requests were answered").Show(a.Place, "")
				}
				asked++
				if strings.HasPrefix(c.ID, check.ProviderPrefix) && len(r.Model) > 0 && !r.AnsweredWhole() {
					failed++
				}
			}
			called = called || ev.Called
			unrecorded = cmp.Or(unrecorded, check.CassetteMiss(ev))
			if ev.Withheld != "" {
				withheld = ev.Withheld
			}
		}
	}
	switch {
	case !askable:
		return check.NotApplicable("the client was told to declare no sampling, or its person to decline, or its server was not what it is for, so that there was nothing to be had of it")
	case withheld != "":
		return check.Fail("nothing could be asked of the client, which does not declare %s", withheld)
	case !called:
		return check.NotObserved("the client called no tool, so that nothing was asked of it")
	case unrecorded != "":
		return check.NotObserved("no cassette answers what this client asks the model, so judge it with the scripts (--llm script): %s", unrecorded)
	case asked > 0 && failed == asked:
		return check.NotObserved("the model failed whenever the client asked it, so that there was nothing to answer with")
	}
	return check.Fail("not one sampling request was answered with a result")
}

func endsCleanly(sessions []*evidence.Session) check.Verdict {
	var bad []*evidence.Session
	early := ""
	for _, s := range sessions {
		if excused(s) && evidence.EndedByItself(s.Ended) {
			continue // it may call that a failure
		}
		if s.Ended == nil || !s.Ended.Clean() {
			bad = append(bad, s)
		} else if n := again(s); n > 0 {
			early = fmt.Sprintf("; it never called %d of the %d tools of one session, whose cases were played again", n, len(s.Trace.Header.Cases))
		}
	}
	if bad == nil {
		return check.Pass("the client ended by itself, with success%s", early)
	}
	v := check.Fail("the client did not end well: %s%s", bad[0].Ending(), blame(bad[0]))
	if len(bad) > 1 {
		v.Message += fmt.Sprintf(" (and not well in %d more of %d sessions)", len(bad)-1, len(sessions))
	}
	for _, s := range bad[1:min(len(bad), 1+otherEnds)] {
		v = v.Show(evidence.Place{Label: "also"}, "%s: %s%s", s.Trace.Header.Cases[0].ID, s.Ending(), blame(s))
	}
	return check.ShowOutput(bad[0], v)
}

// otherEnds is how many bad ends a report shows beside the first.
const otherEnds = 5

// again is how many cases the session left to others.
func again(s *evidence.Session) int {
	n := 0
	for _, c := range s.Trace.Header.Cases {
		if c.Replayed {
			n++
		}
	}
	return n
}

// blame says in which of a session's cases the client came to its end, and what became of the others; "" for a session of one case.
func blame(s *evidence.Session) string {
	if len(s.Trace.Header.Cases) < 2 {
		return ""
	}
	var open, last *evidence.Case
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			if !ev.Called {
				continue
			}
			if last == nil || s.Order[ev.FirstCall] > s.Order[last.FirstCall] {
				last = ev
			}
			if !ev.Over && (open == nil || s.Order[ev.FirstCall] > s.Order[open.FirstCall]) {
				open = ev
			}
		}
	}
	where := ", before it had called any tool"
	switch {
	case open != nil:
		where = ", in the middle of " + open.Case.ID
	case last != nil:
		where = ", after " + last.Case.ID
	}
	if n := again(s); n > 0 {
		where += fmt.Sprintf("; of the session's %d cases the %d that were not over by then are judged alone, each in a session of its own", len(s.Trace.Header.Cases), n)
	}
	return where
}

// requireSomeRevision turns "does not speak the revision" into a failure where it was so in every one: somebody
// named a client that was never judged at all.
func RequireSomeRevision(rs *report.Results) {
	var foreign []*report.Result
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Scenario == check.ClientScenario && r.Check == ConnectsID {
			if r.Verdict != report.NotApplicable {
				return
			}
			foreign = append(foreign, r)
		}
	}
	for _, r := range foreign {
		r.Verdict = report.Fail
		r.Message += "; it was judged in no revision at all"
		r.Cause, r.Fix = clientChecks[0].Cause, clientChecks[0].Fix
	}
}

// ClientChecks returns the checks that judge the client as a whole. They belong to no scenario: their IDs follow "client/".
func ClientChecks() []check.Check {
	var checks []check.Check
	for _, c := range clientChecks {
		checks = append(checks, c.Check)
	}
	return checks
}
