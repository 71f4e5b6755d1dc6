package conformance

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const methodCancelled = "notifications/cancelled"

// cancelOf returns the id that a message cancels, and whether it is a cancel.
func cancelOf(m *rpc) (json.RawMessage, bool) {
	if m.method != methodCancelled || m.id != nil {
		return nil, false
	}
	var params dialect.Object
	_ = dialect.ReadPart(m.params, &params) // what is no object names nothing
	return params["requestId"], true
}

// eachFrame calls see with each frame of the call, in order, as far as it was not lost.
func (ev *Evidence) eachFrame(see func(*trace.Event, *rpc)) {
	called := ev.Session.Trace.Find(ev.calledAt)
	if called == nil {
		return
	}
	for i := range ev.Session.Trace.Events {
		e := &ev.Session.Trace.Events[i]
		if e.Case != ev.Case.ID || e.Call != called.Call || e.Frame == nil || e.Frame.Lost {
			continue
		}
		see(e, ev.Session.message(e))
	}
}

// cancelled returns where the server cancelled a round; nil where it did not, or could not.
func (ev *Evidence) cancelled(r *Round) *Place {
	var at *Place
	ev.eachFrame(func(e *trace.Event, m *rpc) {
		if id, ok := cancelOf(m); ok && at == nil && e.Frame.Dir == trace.ToClient && sameID(r.rawID, id) {
			at = &Place{e.Ref(), "params", "cancel of request " + string(r.rawID)}
		}
	})
	return at
}

// inVain returns where the server cancelled what is not running, on purpose.
func (ev *Evidence) inVain() []Place {
	var places []Place
	ev.eachFrame(func(e *trace.Event, m *rpc) {
		if _, ok := cancelOf(m); ok && e.Frame.Hostile && e.Frame.Dir == trace.ToClient {
			places = append(places, Place{e.Ref(), "", "cancel"})
		}
	})
	return places
}

// ownCancels returns where the client cancelled its call: the first request for it, whose id is returned, too. Of a request that is over the
// server does not know whose it was, so that the id tells.
func (ev *Evidence) ownCancels() (places []Place, id json.RawMessage) {
	called := ev.Session.Trace.Find(ev.calledAt)
	if called == nil {
		return nil, nil
	}
	id = ev.Session.message(called).id
	for e, m := range ev.Session.fromClient() {
		if names, ok := cancelOf(m); ok && e.Frame.Session == called.Frame.Session && sameID(id, names) {
			places = append(places, Place{e.Ref(), "params", "cancel of the call"})
		}
	}
	return places, id
}

// hungUp returns where the client closed the stream of its call before it was answered; nil where it did not.
func (ev *Evidence) hungUp() *Place {
	var at *Place
	ev.eachFrame(func(e *trace.Event, _ *rpc) {
		if at == nil && e.Frame.Closed && e.Frame.Dir == trace.FromClient {
			at = &Place{e.Ref(), "", "end of the stream"}
		}
	})
	return at
}

// saysItGaveUp returns where the client said of a call of the case that it was given up; nil where it did not.
func (ev *Evidence) saysItGaveUp() *Place {
	for i := range ev.Session.Trace.Events {
		e := &ev.Session.Trace.Events[i]
		if e.Case != ev.Case.ID || e.Mark == nil || e.Mark.Name != trace.MarkOutcome {
			continue
		}
		if told, ok := outcomeIn(e.Mark); ok && told == harness.GaveUp {
			return &Place{e.Ref(), "", "the client's word"}
		}
	}
	return nil
}

// completedUnanswered returns where the client said that a call which it made after a place was complete, although the server had not answered that
// yet; nil where it did not. What the server sends is in the trace before it is on its way.
func (s *Session) completedUnanswered(after int) *Place {
	called, answered := map[string]bool{}, map[string]bool{} // by case
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		switch {
		case i <= after || s.calls[e.Case] == nil:
		case e.Frame != nil:
			m := s.message(e)
			called[e.Case] = called[e.Case] || e.Frame.Dir == trace.FromClient && carrying[m.method] != ""
			answered[e.Case] = answered[e.Case] || e.Frame.Dir == trace.ToClient && m.isResponse() && !wantsMore(m.result)
		case e.Mark != nil && e.Mark.Name == trace.MarkOutcome && called[e.Case] && !answered[e.Case]:
			if told, ok := outcomeIn(e.Mark); ok && told == harness.Completed {
				return &Place{e.Ref(), "", "the client's word"}
			}
		}
	}
	return nil
}

// wantsMore reports whether a result of the second era ends a request and not the call.
func wantsMore(result json.RawMessage) bool {
	var o dialect.Object
	return dialect.ReadPart(result, &o) == nil && o.Text("resultType") == "input_required"
}

// outcomeIn is how the client said that a call ended.
func outcomeIn(m *trace.Mark) (string, bool) {
	var told struct{ Outcome string }
	err := json.Unmarshal([]byte(m.Text), &told)
	return told.Outcome, err == nil
}

// gaveUp returns what shows that the client gave up its call, as it was told to, and the verdict where nothing does. In the second era nothing
// on the wire shows it of a call that came back for input, but for the model's side: the client hung up there, and did not answer.
func (ev *Evidence) gaveUp() (Place, *Verdict) {
	if places, _ := ev.ownCancels(); len(places) > 0 {
		return places[0], nil
	}
	if shown := ev.saysItGaveUp(); shown != nil {
		return *shown, nil
	}
	if p := ev.Session.Ended; p != nil && p.Clean() { // one that died hung up on everybody
		if shown := ev.hungUp(); shown != nil {
			return *shown, nil
		}
	}
	if ev.Revision.Modern() {
		for _, r := range ev.Rounds {
			for _, x := range r.Model {
				if x.End.HungUp && len(r.Answers) == 0 && ev.byItsLimit(r, x) == nil {
					return x.Place, nil
				}
			}
		}
	}
	v := Unsupported("the client did not give up its call: it takes a driver that heeds giveUp (MCP_CONFORMANCE_CONTEXT, Env.GiveUp), calls such a tool "+
		"with a progress token, and cancels the call as soon as a progress notification comes or the model begins to answer").See(Place{Ref: ev.calledAt, Label: "the call"}, "")
	return Place{}, &v
}

// goneOn returns nil where it is settled that nothing more came of what happened at a place, and the verdict where it is not.
func (ev *Evidence) goneOn(after Place) *Verdict { return ev.unsettled(&Round{Asked: after}) }

// livedThrough returns nil where the client went on after a place, and the verdict where it did not, or where that was not seen: it was told to stop
// then. One that hung after it had called a tool once more hung over something else.
func (ev *Evidence) livedThrough(after Place, what string) *Verdict {
	s := ev.Session
	switch {
	case s.later(s.order[after.Ref]):
		return nil
	case s.Ended == nil || s.Ended.Clean() || s.Ended.Deadline && s.calledAfter(s.order[after.Ref]):
		return ev.goneOn(after)
	}
	v := s.seeOutput(Broken("%s: %s", what, s.ending()).See(after, ""))
	return &v
}

// calledAfter reports whether the client called a tool after a place.
func (s *Session) calledAfter(place int) bool {
	for _, calls := range s.calls {
		for _, ev := range calls {
			if ev.Called && s.order[ev.calledAt] > place {
				return true
			}
		}
	}
	return false
}
