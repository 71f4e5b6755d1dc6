package client

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// excused reports whether the session's server was of no use by design: it spoke other versions, or ended. The client
// need not do anything with such a server.
func excused(s *evidence.Session) bool { return len(s.Trace.Header.ServerRevisions) > 0 || s.Lost }

// mayFail reports whether a client may end with an error that is its own: its server was of no use, or the model of the
// host made mistakes.
func mayFail(s *evidence.Session) bool {
	provoked := slices.ContainsFunc(s.Trace.Header.Cases, func(c trace.Case) bool {
		return strings.HasPrefix(c.ID, check.HostLoopPrefix)
	})
	return (excused(s) || provoked) && evidence.EndedByItself(s.Ended)
}

func connects(sessions []*evidence.Session) check.Verdict {
	for _, s := range sessions {
		switch {
		case s.Connected, len(s.Trace.Header.ServerRevisions) > 0 && s.Asked:
		case s.SpokeOtherRevision():
			return check.NotApplicable("the client does not speak %s: it tried %s", s.Revision, s.Tried)
		default:
			return unused(s)
		}
	}
	return check.Pass("the client connected and used the server")
}

// unused is the verdict for a client that did not use the server.
func unused(s *evidence.Session) check.Verdict {
	died := s.Ended != nil && !s.Ended.Clean() && !s.Ended.Deadline
	if s.Host() && (!died || asked(s) || needsTerminal.MatchString(s.Ended.Stderr)) {
		return explainIdle(check.Fail("%s%s", neverUsed(s), s.WhyUnused()), s).In(s.Trace.Header.Cases[0].ID)
	}
	v := check.Fail("%s%s; %s", neverUsed(s), s.WhyUnused(), s.Ending())
	if s.Strangers != "" && !s.Asked {
		v = v.Because("requests to the host and port without the path of the URL were refused: "+s.Strangers,
			"Use the whole URLs of the server and the model: replace no part of their paths.")
	}
	for _, p := range s.Refused {
		v = v.Show(p, "%s", s.Trace.Find(p.Ref).Frame.Raw)
	}
	if !s.Asked && died && s.Strangers == "" {
		v = v.Because("the client ends before it connects", "Correct the error with which the client ends.")
	}
	if cases := s.Trace.Header.Cases; len(cases) > 0 {
		v = v.In(cases[0].ID)
	}
	if s.Host() {
		v = showModel(v, s)
	}
	return v.ShowOutput(s)
}

// neverUsed says how far a client came that did not use the server.
func neverUsed(s *evidence.Session) string {
	switch {
	case s.OverStdio() && s.Connections == 0:
		return "the client never launched the server"
	case s.OverStdio():
		return "the client launched the server and never used it"
	}
	return "the client never used the server"
}

// sampling is what the sessions show of sampling as a whole.
type sampling struct {
	askable             bool // in some session, the server may ask
	called              bool
	rounds, failed      int // sampling requests, and those of them for which the model failed on purpose
	withheld, unmatched string
	withheldIn          string                  // The case of withheld.
	declared            *evidence.ClientRequest // What was declared in place of withheld.
	why                 evidence.Why            // Why the first request to serve has no result.
	caseID              string                  // The case of that request; "" if the client had none to serve.
	errors, ignored     bool                    // That request has an error response, or neither that nor a model request.
}

func sampled(sessions []*evidence.Session) check.Verdict {
	if v := refusesMost(sessions); v != nil {
		return *v
	}
	var all sampling
	for _, s := range sessions {
		if excused(s) || !mayAnswer(s) {
			continue
		}
		all.askable = true
		for _, c := range s.Trace.Header.Cases {
			if a := all.add(s.Case(c.ID)); a != nil {
				return answers(s, a)
			}
		}
	}
	idle := slices.IndexFunc(sessions, func(s *evidence.Session) bool { return s.Host() && s.Connected && !excused(s) })
	if idle >= 0 && !all.called && all.withheld == "" {
		s, other := sessions[idle], ""
		if len(s.ForeignCalls) > 0 {
			other = fmt.Sprintf(", but the unknown tool %q", s.ForeignCalls[0].Tool)
		}
		return explainIdle(check.Fail("the host called no tool of the server%s", other), s).In(s.Trace.Header.Cases[0].ID)
	}
	return all.unanswered()
}

func answers(s *evidence.Session, a *evidence.Answer) check.Verdict {
	if s.AnswersItself {
		if v := answersOwn(s); s.Host() && v != nil {
			return *v
		}
		return check.Warn("the client answers by itself, so what it asks the model and makes of its replies is not " +
			"judged: lead it to the model of MCP_CONFORMANCE_CONTEXT").At(a.Place)
	}
	return check.Pass("the client answered sampling requests with results").At(a.Place)
}

// unanswered is the verdict for a client without any result.
func (all *sampling) unanswered() check.Verdict {
	switch {
	case !all.askable:
		return check.NotApplicable("in every session the harness asked the client to declare no sampling or the user to " +
			"decline, " +
			"or the server was not for sampling")
	case all.withheld != "" && all.caseID == "":
		found := "no capabilities"
		if declared := all.declared.Declared(); declared != nil {
			found = "the capabilities " + evidence.Compact(declared)
		}
		return check.Fail("expected the client to declare %s, found %s: no sampling request could be sent", all.withheld,
			found).At(all.declared.CapabilitiesAt()).In(all.withheldIn).
			Because("the client does not declare the capability, or declares it in another place",
				"Declare sampling with tools: in initialize, and since 2026-07-28 in the _meta of every request.")
	case !all.called:
		return check.NotObserved("the client called no tool, so the server sent no sampling request%s", all.why)
	case all.unmatched != "":
		return check.NotObserved("no cassette answers what this client asks the model, so judge it with the scripts "+
			"(--llm script): %s",
			all.unmatched)
	case all.rounds > 0 && all.failed == all.rounds:
		return check.NotObserved("the model failed on purpose for every sampling request, so there was nothing to " +
			"answer with")
	}
	v := check.Fail("expected a result for at least one sampling request, found none%s", all.why).In(all.caseID)
	if all.errors && !all.why.Reason.Has(evidence.ModelRefused) {
		v = v.Because("the client's sampling handler fails, or no handler is registered",
			"Correct the error that the client returns. Return the model's answer as the result.")
	}
	if all.ignored && all.why.Reason == evidence.NoResult {
		v = v.Because("the client reads the stream of a call only when it has ended, or handles no request before the "+
			"call's result has come", "Read the events of a stream one by one, as they come. Handle a request beside the call "+
			"that is open.")
	}
	return v
}

// mayAnswer reports whether the harness let the client declare sampling and the user approve.
func mayAnswer(s *evidence.Session) bool {
	asked := evidence.ClientRequest{Capabilities: s.Trace.Header.Declare}
	if len(asked.Capabilities) > 0 && !asked.Declares("sampling") {
		return false
	}
	return cmp.Or(s.Trace.Header.Decision, harness.Approve) == harness.Approve
}

// add adds a case. It returns a result of the client, if the case has one.
func (all *sampling) add(ev *evidence.Case) *evidence.Answer {
	for _, r := range ev.Rounds {
		if a := r.Result(); a != nil && !r.Hostile {
			return a
		}
		if all.rounds++; !r.Hostile && all.caseID == "" {
			all.why, all.caseID, all.errors = ev.WhyNoResult(r.N), ev.Case.ID, len(r.Answers) > 0
			all.ignored = !all.errors && len(r.Model) == 0 && !ev.Revision.Modern()
		}
		if strings.HasPrefix(ev.Case.ID, check.ProviderPrefix) && len(r.Model) > 0 && !r.AnsweredWhole() {
			all.failed++
		}
	}
	all.called = all.called || ev.Called
	all.unmatched = cmp.Or(all.unmatched, check.CassetteMiss(ev))
	if all.withheld == "" && ev.Withheld != "" {
		all.withheld, all.declared, all.withheldIn = ev.Withheld, ev.Declared, ev.Case.ID
	}
	if all.rounds == 0 {
		all.why = cmp.Or(all.why, ev.WhySilent(ev.FirstCall), ev.Session.WhyUnused())
	}
	return nil
}

// otherEnds is how many bad ends a report shows beside the first.
const otherEnds = 5

// ends are the sessions that did not end as they should, by how they ended.
type ends struct{ bad, slow, refused, early []*evidence.Session }

func (all *ends) add(s *evidence.Session) {
	switch {
	case s.Unfinished():
		all.slow = append(all.slow, s)
	case evidence.EndedByItself(s.Ended) && !s.Ended.Clean() && s.RefusedOwn() != nil:
		all.refused = append(all.refused, s)
	case s.Ended == nil || !s.Ended.Clean():
		all.bad = append(all.bad, s)
	case endedEarly(s):
		all.early = append(all.early, s)
	}
}

func endsCleanly(sessions []*evidence.Session) check.Verdict {
	var all ends
	for _, s := range sessions {
		if !mayFail(s) {
			all.add(s)
		}
	}
	stopped := stopsServing(sessions)
	switch bad, early := all.bad, all.early; {
	case bad != nil && !slices.ContainsFunc(bad, usedServer):
		return check.NotObserved(
			"the client never used the server %s: %s",
			evidence.See("client/connects"),
			bad[0].Ending(),
		)
	case bad != nil:
		v := endsBadly(bad, len(sessions))
		if all.slow != nil {
			v.Message += "; in another session " + needsTime(all.slow).Message
		}
		return v
	case stopped != nil:
		return *stopped
	case all.slow != nil:
		return needsTime(all.slow)
	case all.refused != nil:
		return modelRefused(all.refused[0])
	case early != nil:
		at := max(0, slices.IndexFunc(early, func(s *evidence.Session) bool { return !s.Host() && !troubled(s) }))
		return endsEarly(early[at])
	}
	return check.Pass("the client ended by itself, with success")
}

// modelRefused is the verdict for a client that ended with an error because its model refused a request of its own.
func modelRefused(s *evidence.Session) check.Verdict {
	own := s.RefusedOwn()
	return check.NotObserved("the model refused a request of the client that belongs to no sampling request: %s; %s",
		evidence.Clip(own.Why), s.Ending()).At(own.Place).ShowOutput(s)
}

// endedEarly reports whether a client called some tools of a session and not all of them.
func endedEarly(s *evidence.Session) bool {
	_, last := latest(s)
	return s.Trace.Whole && last != nil && called(s) < len(s.Trace.Header.Cases)
}

// called counts the cases of which nothing is missing: those whose tool was called, and those that other requests
// start.
func called(s *evidence.Session) int {
	n := 0
	for _, c := range s.Trace.Header.Cases {
		if c.Carrier != "" || slices.ContainsFunc(s.Calls[c.ID], func(ev *evidence.Case) bool { return ev.Called }) {
			n++
		}
	}
	return n
}

// troubled reports whether a client may have had a reason to end: a call without an end, a sampling request without a
// response (which other checks fail), or a server that refused or broke something.
func troubled(s *evidence.Session) bool {
	open, last := latest(s)
	unanswered := func(r *evidence.Round) bool { return len(r.Answers) == 0 }
	return open != nil || last != nil && slices.ContainsFunc(last.Rounds, unanswered) ||
		slices.ContainsFunc(s.Trace.Events, func(e trace.Event) bool {
			f := e.Frame
			return f != nil && (f.Hostile || f.Lost || f.HTTP != nil && f.HTTP.Status >= http.StatusBadRequest)
		})
}

// endsEarly is the verdict for a client that ended with success before it had called every tool. A host may limit the
// calls of one task.
func endsEarly(s *evidence.Session) check.Verdict {
	missing, all := len(s.Trace.Header.Cases)-called(s), len(s.Trace.Header.Cases)
	if s.Host() || troubled(s) {
		return check.Pass(
			"the client ended by itself, with success; in one session it did not call %d of the %d tools, whose "+
				"cases were played again",
			missing,
			all,
		)
	}
	v := check.Fail("expected calls of all %d tools of the session before the client ends with success, found %d%s", all,
		all-missing, whereItEnded(s))
	return v.Because("the client ends after its first call, or limits the number of calls",
		"Call every tool of tools/list. Then exit with status 0 (return nil).").ShowOutput(s)
}

// usedServer reports whether the client used the server. Of any other, client/connects says how it ended.
func usedServer(s *evidence.Session) bool { return s.Connected || s.Ended == nil }

// endsBadly is the verdict for a client that did not end cleanly in some of its sessions.
func endsBadly(bad []*evidence.Session, sessions int) check.Verdict {
	v := check.Fail("the client did not end cleanly: %s%s", bad[0].Ending(), whereItEnded(bad[0]))
	if len(bad) > 1 {
		v.Message += fmt.Sprintf(" (and %d more of %d sessions)", len(bad)-1, sessions)
	}
	for _, s := range bad[1:min(len(bad), 1+otherEnds)] {
		v = v.Show(evidence.Place{Label: "also"}, "%s: %s%s", s.Trace.Header.Cases[0].ID, s.Ending(), whereItEnded(s))
	}
	if stays(bad[0]) {
		v = v.Because("the host waits for its next task after the last answer of its model",
			"End it with --stdin-after '{done}', which closes its standard input then. If that is not enough, add "+
				"--stdin EXIT with the line that ends it, such as /exit, and --pty if it reads from a terminal.")
	}
	if closed := unresumed(bad[0]); closed != nil {
		v.Message += "; the server closed its stream, and no GET with Last-Event-ID asked for the rest (see " +
			"transport/reconnects)"
		v = v.Because("the client waits for the rest of a stream that ended early, and does not resume it",
			"If a stream ends without the response, send a GET with the id of its last event as Last-Event-ID.").
			Show(evidence.Place{Ref: closed.Ref()}, "the end of the connection, last event %s", closed.Frame.Event)
	}
	if r := unanswered(bad[0]); r != nil {
		v.Message += fmt.Sprintf("; it did not respond to sampling request %d, although the model had answered", r.N)
		v = v.Because("the client cannot send what it received, or waits for something else, and so does its server",
			"Respond to every sampling request, with an error if the answer cannot be sent, such as a long one.")
	}
	shows := slices.IndexFunc(bad, func(s *evidence.Session) bool { return endsIn(s) != "" })
	return showLast(v.In(endsIn(bad[max(0, shows)])), bad[0]).ShowOutput(bad[0])
}

// showLast adds, for a client that hung, the last message of the call that was open: the next one is what is missing.
func showLast(v check.Verdict, s *evidence.Session) check.Verdict {
	open, _ := latest(s)
	if s.Ended == nil || !s.Ended.Deadline || open == nil {
		return v
	}
	for _, e := range slices.Backward(s.Trace.Events) {
		at := evidence.Place{Ref: e.Ref()}
		switch {
		case e.Case != open.Case.ID:
		case e.Frame != nil && len(e.Frame.Raw) > 0 && e.Frame.Dir == trace.FromClient:
			return v.ShowAs("client sent last", at, "%s", e.Frame.Raw)
		case e.Frame != nil && len(e.Frame.Raw) > 0:
			return v.ShowAs("server sent last", at, "%s", e.Frame.Raw)
		case e.End != nil:
			return v.ShowAs("model answered last", at, "status %d", e.End.Status)
		case e.Request != nil:
			return v.ShowAs("model received last", at, "%s", e.Request.Body)
		}
	}
	return v
}

// unresumed returns the end of a stream that the server closed early, if the client hung and never asked for the
// rest.
func unresumed(s *evidence.Session) *trace.Event {
	var closed *trace.Event
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		switch f := e.Frame; {
		case f == nil:
		case f.Closed && f.Dir == trace.ToClient && f.Event != "":
			closed = e
		case closed != nil && f.HTTP != nil && f.Session == closed.Frame.Session && f.HTTP.Header["Last-Event-Id"] != "":
			return nil
		}
	}
	if s.Ended == nil || !s.Ended.Deadline {
		return nil
	}
	return closed
}

// unanswered returns the sampling request to which a client that hung had the model's whole answer and did not respond;
// nil for none.
func unanswered(s *evidence.Session) *evidence.Round {
	open, _ := latest(s)
	if s.Ended == nil || !s.Ended.Deadline || open == nil || len(open.Rounds) == 0 || unresumed(s) != nil {
		return nil
	}
	if r := open.Rounds[len(open.Rounds)-1]; len(r.Answers) == 0 && r.AnsweredWhole() {
		return r
	}
	return nil
}

// replayed counts the cases that were played again in another session.
func replayed(s *evidence.Session) int {
	n := 0
	for _, c := range s.Trace.Header.Cases {
		if c.Replayed && c.ID != harness.BarrierID {
			n++
		}
	}
	return n
}

// whereItEnded says in which case the client ended, and what happened to the other cases; "" for a session of one
// case.
func whereItEnded(s *evidence.Session) string {
	if len(s.Trace.Header.Cases) < 2 {
		return ""
	}
	where := ", before it called any tool"
	switch open, last := latest(s); {
	case open != nil && open.Case.ID != harness.BarrierID:
		where = ", in the middle of " + open.Case.ID
	case last != nil:
		where = ", after " + last.Case.ID
	}
	if n := replayed(s); n > 0 {
		where += fmt.Sprintf("; the other %d of the session's %d cases are judged in sessions of their own", n,
			len(s.Trace.Header.Cases))
	}
	return where
}

// latest returns the latest call that was open when the client ended, and the latest of all but the barrier's; nil for
// none.
func latest(s *evidence.Session) (open, last *evidence.Case) {
	later := func(ev, than *evidence.Case) bool {
		return than == nil || s.Order[ev.FirstCall] > s.Order[than.FirstCall]
	}
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			if ev.Called && c.ID != harness.BarrierID && later(ev, last) {
				last = ev
			}
			if ev.Called && !ev.Over && later(ev, open) {
				open = ev
			}
		}
	}
	return open, last
}

// endsIn returns the case that shows how a client ended: the open one, or the only one; "" for none.
func endsIn(s *evidence.Session) string {
	cases := s.Trace.Header.Cases
	switch open, _ := latest(s); {
	case open != nil && open.Case.ID != harness.BarrierID:
		return open.Case.ID
	case len(cases) == 1, len(cases) == 2 && cases[1].ID == harness.BarrierID:
		return cases[0].ID
	}
	return ""
}
