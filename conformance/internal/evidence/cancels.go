package evidence

import (
	"encoding/json"
	"time"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// MethodCancelled is the method of the notification that cancels a request.
const MethodCancelled = "notifications/cancelled"

// CancelOf returns the request id that a cancel notification names, nil if it names none, and whether the message is a
// cancel notification.
func CancelOf(m *Message) (json.RawMessage, bool) {
	if m.Method != MethodCancelled || m.ID != nil {
		return nil, false
	}
	var params jsonvalue.Object
	_ = jsonvalue.ReadPart(m.Params, &params) // invalid params name nothing
	return params["requestId"], true
}

// EachFrame calls see with each frame of the call, in order, except lost ones.
func (ev *Case) EachFrame(see func(*trace.Event, *Message)) {
	called := ev.Session.Trace.Find(ev.FirstCall)
	if called == nil {
		return
	}
	for i := range ev.Session.Trace.Events {
		e := &ev.Session.Trace.Events[i]
		if e.Case == ev.Case.ID && e.Call == called.Call && e.Frame != nil && !e.Frame.Lost {
			see(e, ev.Session.Message(e))
		}
	}
}

// UselessCancels returns the server's cancels that name no running request, on purpose.
func (ev *Case) UselessCancels() []Place {
	var places []Place
	ev.EachFrame(func(e *trace.Event, m *Message) {
		if _, ok := CancelOf(m); ok && e.Frame.Hostile && e.Frame.Dir == trace.ToClient {
			places = append(places, Place{e.Ref(), "", "cancel"})
		}
	})
	return places
}

// Cancelled returns the server's first cancel of a sampling request; nil for none.
func (ev *Case) Cancelled(r *Round) *Place {
	var at *Place
	ev.EachFrame(func(e *trace.Event, m *Message) {
		if id, ok := CancelOf(m); ok && at == nil && e.Frame.Dir == trace.ToClient && SameID(r.RawID, id) {
			at = &Place{e.Ref(), "params", "cancel of request " + string(r.RawID)}
		}
	})
	return at
}

// CallCancels returns the client's cancels of its call, and the id of the call. They are found by that id in the whole
// session: once a request is over, the server cannot tell its case.
func (ev *Case) CallCancels() (places []Place, id json.RawMessage) {
	called := ev.Session.Trace.Find(ev.FirstCall)
	if called == nil {
		return nil, nil
	}
	id = ev.Session.Message(called).ID
	for e, m := range ev.Session.FromClient() {
		if named, ok := CancelOf(m); ok && e.Frame.Session == called.Frame.Session && SameID(id, named) {
			places = append(places, Place{e.Ref(), "params", "cancel of the call"})
		}
	}
	return places, id
}

// StreamClosed returns where the client closed the stream of its call before the response; nil if it did not.
func (ev *Case) StreamClosed() *Place {
	var at *Place
	ev.EachFrame(func(e *trace.Event, _ *Message) {
		if at == nil && e.Frame.Closed && e.Frame.Dir == trace.FromClient {
			at = &Place{e.Ref(), "", "end of the stream"}
		}
	})
	return at
}

// Reported returns where the client reported that a call of the case had the outcome; nil if it did not.
func (ev *Case) Reported(outcome string) *Place {
	for i := range ev.Session.Trace.Events {
		if e := &ev.Session.Trace.Events[i]; e.Case == ev.Case.ID && reports(e, outcome) {
			return reportedAt(e)
		}
	}
	return nil
}

// CompletedUnanswered returns where the client reported a call as complete that the server had not responded to; nil
// if it did not. Only calls after the given position count. The trace has a response of the server before the client
// can.
func (s *Session) CompletedUnanswered(after int) *Place {
	called, answered := map[string]bool{}, map[string]bool{} // by case
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		switch {
		case i <= after || s.Calls[e.Case] == nil:
		case e.Frame != nil:
			m := s.Message(e)
			if e.Frame.Dir == trace.FromClient && replay.Carriers[m.Method] != "" {
				called[e.Case], answered[e.Case] = true, false // also a retry, which has a response of its own
			}
			if e.Frame.Dir == trace.ToClient && m.IsResponse() {
				answered[e.Case] = true
			}
		case called[e.Case] && !answered[e.Case] && reports(e, harness.Completed):
			return reportedAt(e)
		}
	}
	return nil
}

// reports reports whether an event is the client's report that a call had the outcome.
func reports(e *trace.Event, outcome string) bool {
	if e.Mark == nil || e.Mark.Name != trace.MarkOutcome {
		return false
	}
	var report struct{ Outcome string }
	return json.Unmarshal([]byte(e.Mark.Text), &report) == nil && report.Outcome == outcome
}

func reportedAt(e *trace.Event) *Place { return &Place{e.Ref(), "", "the client's report"} }

// CalledAfter reports whether the client called a tool after a position in the trace.
func (s *Session) CalledAfter(position int) bool {
	for _, calls := range s.Calls {
		for _, ev := range calls {
			if ev.Called && s.Order[ev.FirstCall] > position {
				return true
			}
		}
	}
	return false
}

// ModelEnd returns where a model request ended.
func (ev *Case) ModelEnd(x *Exchange) Place {
	return Place{ev.Session.Trace.Events[x.Behind].Ref(), "", "end of " + x.Label}
}

// ModelEndTime returns when a model request ended, since the start of the session.
func (ev *Case) ModelEndTime(x *Exchange) time.Duration { return ev.Session.Trace.Events[x.Behind].At }

// TimeOf returns when an event was seen, since the start of the session.
func (ev *Case) TimeOf(ref trace.Ref) time.Duration {
	return ev.Session.Trace.Events[ev.Session.Order[ref]].At
}
