package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// clientScenario is the name under which a client as a whole is judged: that it came, that it was of use, how it went. These
// checks are part of every run and cannot be left out, so that no run is green on nothing.
const clientScenario = "client"

const (
	connectsID     = "connects"
	endsCleanlyID  = "ends-cleanly"
	onlyMessagesID = "only-messages"
)

// clientChecks judge sessions, not cases.
var clientChecks = []struct {
	Check
	judge func([]*Session) Verdict
}{
	{Check{ID: connectsID, Rule: "the client connects and is served by the revision of the run",
		Cause: "the client exits before it connects, speaks another transport, or gets the address or a header wrong",
		Fix:   "have the client connect to the URL that it is given, or launch the server's command, in the revision that MCP_CONFORMANCE_PROTOCOL_VERSION names"}, connects},
	{Check{ID: onlyMessagesID, Rule: "over stdio, nothing but JSON-RPC messages goes to the server, each in a line of its own",
		Requirements: []string{"2025-11-25/transports/05", "2025-11-25/transports/03", "2025-11-25/transports/01",
			"2026-07-28/stdio/03", "2026-07-28/stdio/01", "2026-07-28/transports/01"},
		Cause: "a log line or a byte order mark goes onto the pipe, JSON is written over several lines, or the client ends in the middle of a message",
		Fix:   "write each message as UTF-8 JSON without line breaks, then one line feed, and logs to standard error"}, onlyMessages},
	{Check{ID: "sampled", Rule: "at least one sampling request was answered with a result",
		Cause: "the client declares no sampling, never calls the tools, or answers every request with an error",
		Fix:   "declare sampling (with tools), call every tool that is listed, and answer with what the model says"}, sampled},
	{Check{ID: endsCleanlyID, Rule: "the client comes to its end by itself and calls it a success",
		Cause: "the client crashes, hangs after its last call, or reports a failure of its own",
		Fix:   "exit with 0 (return nil) once every tool has been called"}, endsCleanly},
}

// judgeClient judges the client as a whole in one revision.
func judgeClient(revision server.Revision, sessions []*Session) []report.Result {
	var results []report.Result
	sound := slices.DeleteFunc(slices.Clone(sessions), func(s *Session) bool { return s.Fault != "" })
	for _, c := range clientChecks {
		if c.ID == onlyMessagesID && !slices.ContainsFunc(sessions, (*Session).overStdio) {
			continue
		}
		v := c.judge(sound)
		switch {
		case len(sound) == 0:
			v = verdict(report.HarnessError, "%s", []any{sessions[0].Fault})
		case c.ID != connectsID && allForeign(sessions):
			v = NotApplicable("the client does not speak %s: it tried %s", revision, sessions[0].Tried)
		case v.kind == broken && slices.ContainsFunc(sessions, (*Session).interrupted):
			v = NotObserved("the run was interrupted before this could be seen")
		case v.kind == broken && c.ID != endsCleanlyID && slices.ContainsFunc(sessions, func(s *Session) bool { return !s.Trace.Whole }):
			v = NotObserved("the trace is not whole, so nothing is said of this") // of a process everything is kept
		}
		r := report.Result{Scenario: clientScenario, Revision: string(revision), Check: c.ID, Level: report.Robust,
			Verdict: settle(v.kind, report.Robust), Message: v.message,
			Requirement: c.Requirement(revision), Evidence: append([]report.Evidence{}, v.evidence...)}
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
func (s *Session) excused() bool { return len(s.Trace.Header.Speaks) > 0 || s.lost }

// spokeAnother reports whether the client came with another revision and went away again.
func (s *Session) spokeAnother() bool { return s.Foreign && !s.Connected }

func allForeign(sessions []*Session) bool {
	for _, s := range sessions {
		if !s.spokeAnother() {
			return false
		}
	}
	return true
}

func connects(sessions []*Session) Verdict {
	for _, s := range sessions {
		switch {
		case s.Connected, len(s.Trace.Header.Speaks) > 0 && s.asked:
		case s.spokeAnother():
			return NotApplicable("the client does not speak %s: it tried %s", s.Revision, s.Tried)
		default:
			v := Broken("%s; %s", s.neverUsed(), s.ending())
			for _, p := range s.Refused {
				v = v.See(p, "%s", s.Trace.Find(p.Ref).Frame.Raw)
			}
			return s.seeOutput(v)
		}
	}
	return Pass("the client connected and was served")
}

func sampled(sessions []*Session) Verdict {
	withheld, unrecorded := "", ""
	called, askable := false, false
	asked, failed := 0, 0 // rounds, and those of them in which the model was made to fail
	for _, s := range sessions {
		if s.excused() {
			continue // it need not have been of any use to its server
		}
		told := ClientRequest{Capabilities: s.Trace.Header.Declare}
		if len(told.Capabilities) > 0 && !told.declares("sampling") || cmp.Or(s.Trace.Header.Decision, harness.Approve) != harness.Approve {
			continue // the client was told not to be asked, or to give nothing
		}
		askable = true
		for _, c := range s.Trace.Header.Cases {
			ev := s.Case(c.ID)
			for _, r := range ev.Rounds {
				if a := r.Result(); a != nil && !r.Hostile {
					return Pass("sampling requests were answered").See(a.Place, "")
				}
				asked++
				if strings.HasPrefix(c.ID, providerPrefix) && len(r.Model) > 0 && !r.wholly() {
					failed++
				}
			}
			called = called || ev.Called
			unrecorded = cmp.Or(unrecorded, ev.unrecorded())
			if ev.Withheld != "" {
				withheld = ev.Withheld
			}
		}
	}
	switch {
	case !askable:
		return NotApplicable("the client was told to declare no sampling, or its person to decline, or its server was not what it is for, so that there was nothing to be had of it")
	case withheld != "":
		return Broken("nothing could be asked of the client, which does not declare %s", withheld)
	case !called:
		return NotObserved("the client called no tool, so that nothing was asked of it")
	case unrecorded != "":
		return NotObserved("no recording answers what this client asks of the model, so judge it by the scripts: %s", unrecorded)
	case asked > 0 && failed == asked:
		return NotObserved("the model failed whenever the client asked it, so that there was nothing to answer with")
	}
	return Broken("not one sampling request was answered with a result")
}

func endsCleanly(sessions []*Session) Verdict {
	var bad []*Session
	early := ""
	for _, s := range sessions {
		if s.excused() && endedByItself(s.Ended) {
			continue // it may call that a failure
		}
		if s.Ended == nil || !s.Ended.Clean() {
			bad = append(bad, s)
		} else if n := s.again(); n > 0 {
			early = fmt.Sprintf("; it never called %d of the %d tools of one session, whose cases were played again", n, len(s.Trace.Header.Cases))
		}
	}
	if bad == nil {
		return Pass("the client ended by itself, with success%s", early)
	}
	v := Broken("the client did not end well: %s%s", bad[0].ending(), bad[0].blame())
	if len(bad) > 1 {
		v.message += fmt.Sprintf(" (and not well in %d more of %d sessions)", len(bad)-1, len(sessions))
	}
	for _, s := range bad[1:min(len(bad), 1+otherEnds)] {
		v = v.See(Place{Label: "also"}, "%s: %s%s", s.Trace.Header.Cases[0].ID, s.ending(), s.blame())
	}
	return bad[0].seeOutput(v)
}

// otherEnds is how many bad ends a report shows beside the first.
const otherEnds = 5

// again is how many cases the session left to others.
func (s *Session) again() int {
	n := 0
	for _, c := range s.Trace.Header.Cases {
		if c.Replayed {
			n++
		}
	}
	return n
}

// blame says in which of a session's cases the client came to its end, and what became of the others; "" for a session of one case.
func (s *Session) blame() string {
	if len(s.Trace.Header.Cases) < 2 {
		return ""
	}
	var open, last *Evidence
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.calls[c.ID] {
			if !ev.Called {
				continue
			}
			if last == nil || s.order[ev.calledAt] > s.order[last.calledAt] {
				last = ev
			}
			if !ev.Over && (open == nil || s.order[ev.calledAt] > s.order[open.calledAt]) {
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
	if n := s.again(); n > 0 {
		where += fmt.Sprintf("; of the session's %d cases the %d that were not over by then are judged alone, each in a session of its own", len(s.Trace.Header.Cases), n)
	}
	return where
}

// ending says in words how the client ended.
func (s *Session) ending() string {
	p := s.Ended
	switch {
	case p == nil:
		return "the trace does not say how it ended"
	case p.Interrupted:
		return "the run was interrupted"
	case p.Deadline:
		return fmt.Sprintf("it was still running after %s and was ended", s.Trace.Header.Timeout)
	case p.Outside:
		return clip(p.Err)
	case p.Panic != "":
		return "it panicked: " + clip(p.Panic)
	case p.Signal != "":
		return "a signal ended it: " + p.Signal
	case p.Leak != "":
		return p.Leak
	case p.Err != "":
		return "it returned the error: " + clip(p.Err)
	case p.ExitCode != 0:
		return fmt.Sprintf("it exited with status %d", p.ExitCode)
	}
	return "it ended with success"
}

// outputLines is how many of the last lines of a process's output a report shows.
const outputLines = 8

// seeOutput adds the last lines that the client wrote.
func (s *Session) seeOutput(v Verdict) Verdict {
	if s.Ended == nil {
		return v
	}
	for _, out := range []struct{ label, text string }{{"stderr", s.Ended.Stderr}, {"stdout", s.Ended.Stdout}} {
		lines := strings.Split(strings.TrimRight(out.text, "\n"), "\n")
		if len(lines) > outputLines {
			lines = lines[len(lines)-outputLines:]
		}
		if text := strings.Join(lines, "\n"); text != "" {
			v = v.See(Place{Label: out.label}, "%s", text)
		}
	}
	return v
}

// requireSomeRevision turns "does not speak the revision" into a failure where it was so in every one: somebody
// named a client that was never judged at all.
func requireSomeRevision(rs *report.Results) {
	var foreign []*report.Result
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Scenario == clientScenario && r.Check == connectsID {
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
func ClientChecks() []Check {
	var checks []Check
	for _, c := range clientChecks {
		checks = append(checks, c.Check)
	}
	return checks
}
