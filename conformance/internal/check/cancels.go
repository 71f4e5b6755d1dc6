package check

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// gaveUp returns what shows that the client gave up its call, as it was told to, and the verdict where nothing does. In the second era nothing
// on the wire shows it of a call that came back for input, but for the model's side: the client hung up there, and did not answer.
func Abandoned(ev *evidence.Case) (evidence.Place, *Verdict) {
	if places, _ := ev.CallCancels(); len(places) > 0 {
		return places[0], nil
	}
	if shown := ev.ReportedAbandoned(); shown != nil {
		return *shown, nil
	}
	if p := ev.Session.Ended; p != nil && p.Clean() { // one that died hung up on everybody
		if shown := ev.StreamClosed(); shown != nil {
			return *shown, nil
		}
	}
	if ev.Revision.Modern() {
		for _, r := range ev.Rounds {
			for _, x := range r.Model {
				if x.End.HungUp && len(r.Answers) == 0 && ByItsLimit(ev, r, x) == nil {
					return x.Place, nil
				}
			}
		}
	}
	v := Unsupported("the client did not give up its call: it takes a driver that heeds giveUp (MCP_CONFORMANCE_CONTEXT, Env.GiveUp), calls such a tool "+
		"with a progress token, and cancels the call as soon as a progress notification comes or the model begins to answer").Show(evidence.Place{Ref: ev.FirstCall, Label: "the call"}, "")
	return evidence.Place{}, &v
}

// goneOn returns nil where it is settled that nothing more came of what happened at a place, and the verdict where it is not.
func UnsettledSince(ev *evidence.Case, after evidence.Place) *Verdict {
	return Unsettled(ev, &evidence.Round{Asked: after})
}

// livedThrough returns nil where the client went on after a place, and the verdict where it did not, or where that was not seen: it was told to stop
// then. One that hung after it had called a tool once more hung over something else.
func Survived(ev *evidence.Case, after evidence.Place, what string) *Verdict {
	s := ev.Session
	switch {
	case s.ServedLater(s.Order[after.Ref]):
		return nil
	case s.Ended == nil || s.Ended.Clean() || s.Ended.Deadline && s.CalledAfter(s.Order[after.Ref]):
		return UnsettledSince(ev, after)
	}
	v := ShowOutput(s, Fail("%s: %s", what, s.Ending()).Show(after, ""))
	return &v
}
