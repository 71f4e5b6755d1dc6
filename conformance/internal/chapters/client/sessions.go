package client

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness"
)

// excused reports whether the session's server was of no use by design: it spoke other versions, or ended. The client
// need not do anything with such a server.
func excused(s *evidence.Session) bool { return len(s.Trace.Header.ServerRevisions) > 0 || s.Lost }

func connects(sessions []*evidence.Session) check.Verdict {
	for _, s := range sessions {
		switch {
		case s.Connected, len(s.Trace.Header.ServerRevisions) > 0 && s.Asked:
		case s.SpokeOtherRevision():
			return check.NotApplicable("the client does not speak %s: it tried %s", s.Revision, s.Tried)
		default:
			v := check.Fail("%s; %s", neverUsed(s), s.Ending())
			for _, p := range s.Refused {
				v = v.Show(p, "%s", s.Trace.Find(p.Ref).Frame.Raw)
			}
			return v.ShowOutput(s)
		}
	}
	return check.Pass("the client connected and used the server")
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
}

func sampled(sessions []*evidence.Session) check.Verdict {
	var all sampling
	for _, s := range sessions {
		if excused(s) || !mayAnswer(s) {
			continue
		}
		all.askable = true
		for _, c := range s.Trace.Header.Cases {
			if a := all.add(s.Case(c.ID)); a != nil {
				return check.Pass("the client answered sampling requests with results").At(a.Place)
			}
		}
	}
	switch {
	case !all.askable:
		return check.NotApplicable("in every session the harness asked the client to declare no sampling or the user to " +
			"decline, " +
			"or the server was not for sampling")
	case all.withheld != "":
		return check.Fail("expected the client to declare %s, so no sampling request could be sent", all.withheld)
	case !all.called:
		return check.NotObserved("the client called no tool, so the server sent no sampling request")
	case all.unmatched != "":
		return check.NotObserved("no cassette answers what this client asks the model, so judge it with the scripts "+
			"(--llm script): %s",
			all.unmatched)
	case all.rounds > 0 && all.failed == all.rounds:
		return check.NotObserved("the model failed on purpose for every sampling request, so there was nothing to " +
			"answer with")
	}
	return check.Fail("expected a result for at least one sampling request, found none")
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
		all.rounds++
		if strings.HasPrefix(ev.Case.ID, check.ProviderPrefix) && len(r.Model) > 0 && !r.AnsweredWhole() {
			all.failed++
		}
	}
	all.called = all.called || ev.Called
	all.unmatched = cmp.Or(all.unmatched, check.CassetteMiss(ev))
	all.withheld = cmp.Or(ev.Withheld, all.withheld)
	return nil
}

// otherEnds is how many bad ends a report shows beside the first.
const otherEnds = 5

func endsCleanly(sessions []*evidence.Session) check.Verdict {
	var bad []*evidence.Session
	early := ""
	for _, s := range sessions {
		if excused(s) && evidence.EndedByItself(s.Ended) {
			continue // the client may call that a failure
		}
		if s.Ended == nil || !s.Ended.Clean() {
			bad = append(bad, s)
		} else if n := replayed(s); n > 0 {
			early = fmt.Sprintf("; in one session it did not call %d of the %d tools, whose cases were played again",
				n, len(s.Trace.Header.Cases))
		}
	}
	if bad == nil {
		return check.Pass("the client ended by itself, with success%s", early)
	}
	v := check.Fail("the client did not end cleanly: %s%s", bad[0].Ending(), whereItEnded(bad[0]))
	if len(bad) > 1 {
		v.Message += fmt.Sprintf(" (and %d more of %d sessions)", len(bad)-1, len(sessions))
	}
	for _, s := range bad[1:min(len(bad), 1+otherEnds)] {
		v = v.Show(evidence.Place{Label: "also"}, "%s: %s%s", s.Trace.Header.Cases[0].ID, s.Ending(), whereItEnded(s))
	}
	return v.ShowOutput(bad[0])
}

// replayed counts the cases that were played again in another session.
func replayed(s *evidence.Session) int {
	n := 0
	for _, c := range s.Trace.Header.Cases {
		if c.Replayed {
			n++
		}
	}
	return n
}

// whereItEnded says in which case the client ended, and what happened to the other cases; "" for a session of one case.
func whereItEnded(s *evidence.Session) string {
	if len(s.Trace.Header.Cases) < 2 {
		return ""
	}
	later := func(ev, than *evidence.Case) bool {
		return than == nil || s.Order[ev.FirstCall] > s.Order[than.FirstCall]
	}
	var open, last *evidence.Case
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			if ev.Called && later(ev, last) {
				last = ev
			}
			if ev.Called && !ev.Over && later(ev, open) {
				open = ev
			}
		}
	}
	where := ", before it called any tool"
	switch {
	case open != nil:
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
