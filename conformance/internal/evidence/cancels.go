package evidence

import (
	"encoding/json"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const MethodCancelled = "notifications/cancelled"

// cancelOf returns the id that a message cancels, and whether it is a cancel.
func CancelOf(m *Message) (json.RawMessage, bool) {
	if m.Method != MethodCancelled || m.ID != nil {
		return nil, false
	}
	var params dialect.Object
	_ = dialect.ReadPart(m.Params, &params) // what is no object names nothing
	return params["requestId"], true
}

// eachFrame calls see with each frame of the call, in order, as far as it was not lost.
func (ev *Case) EachFrame(see func(*trace.Event, *Message)) {
	called := ev.Session.Trace.Find(ev.FirstCall)
	if called == nil {
		return
	}
	for i := range ev.Session.Trace.Events {
		e := &ev.Session.Trace.Events[i]
		if e.Case != ev.Case.ID || e.Call != called.Call || e.Frame == nil || e.Frame.Lost {
			continue
		}
		see(e, ev.Session.Message(e))
	}
}

// inVain returns where the server cancelled what is not running, on purpose.
func (ev *Case) UselessCancels() []Place {
	var places []Place
	ev.EachFrame(func(e *trace.Event, m *Message) {
		if _, ok := CancelOf(m); ok && e.Frame.Hostile && e.Frame.Dir == trace.ToClient {
			places = append(places, Place{e.Ref(), "", "cancel"})
		}
	})
	return places
}

// ownCancels returns where the client cancelled its call: the first request for it, whose id is returned, too. Of a
// request that is over the server does not know whose it was, so that the id tells.
func (ev *Case) CallCancels() (places []Place, id json.RawMessage) {
	called := ev.Session.Trace.Find(ev.FirstCall)
	if called == nil {
		return nil, nil
	}
	id = ev.Session.Message(called).ID
	for e, m := range ev.Session.FromClient() {
		if names, ok := CancelOf(m); ok && e.Frame.Session == called.Frame.Session && SameID(id, names) {
			places = append(places, Place{e.Ref(), "params", "cancel of the call"})
		}
	}
	return places, id
}

// hungUp returns where the client closed the stream of its call before it was answered; nil where it did not.
func (ev *Case) StreamClosed() *Place {
	var at *Place
	ev.EachFrame(func(e *trace.Event, _ *Message) {
		if at == nil && e.Frame.Closed && e.Frame.Dir == trace.FromClient {
			at = &Place{e.Ref(), "", "end of the stream"}
		}
	})
	return at
}

// saysItGaveUp returns where the client said of a call of the case that it was given up; nil where it did not.
func (ev *Case) ReportedAbandoned() *Place {
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

// completedUnanswered returns where the client said that a call which it made after a place was complete, although the
// server had not answered that yet; nil where it did not. What the server sends is in the trace before it is on its
// way.
func (s *Session) CompletedUnanswered(after int) *Place {
	called, answered := map[string]bool{}, map[string]bool{} // by case
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		switch {
		case i <= after || s.Calls[e.Case] == nil:
		case e.Frame != nil:
			m := s.Message(e)
			called[e.Case] = called[e.Case] || e.Frame.Dir == trace.FromClient && CarryingMethods[m.Method] != ""
			answered[e.Case] = answered[e.Case] || e.Frame.Dir == trace.ToClient && m.IsResponse() && !wantsMore(m.Result)
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

// calledAfter reports whether the client called a tool after a place.
func (s *Session) CalledAfter(place int) bool {
	for _, calls := range s.Calls {
		for _, ev := range calls {
			if ev.Called && s.Order[ev.FirstCall] > place {
				return true
			}
		}
	}
	return false
}

// end is where a request of the model ended.
func (ev *Case) ModelEnd(x *Exchange) Place {
	return Place{ev.Session.Trace.Events[x.Behind].Ref(), "", "end of " + x.Label}
}

// endOf is when a request of the model ended.
func (ev *Case) ModelEndTime(x *Exchange) time.Duration { return ev.Session.Trace.Events[x.Behind].At }

// cancelled returns where the server cancelled a round; nil where it did not, or could not.
func (ev *Case) Cancelled(r *Round) *Place {
	var at *Place
	ev.EachFrame(func(e *trace.Event, m *Message) {
		if id, ok := CancelOf(m); ok && at == nil && e.Frame.Dir == trace.ToClient && SameID(r.RawID, id) {
			at = &Place{e.Ref(), "params", "cancel of request " + string(r.RawID)}
		}
	})
	return at
}

// at is when an event was seen.
func (ev *Case) TimeOf(ref trace.Ref) time.Duration {
	return ev.Session.Trace.Events[ev.Session.Order[ref]].At
}
