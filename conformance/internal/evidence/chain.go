package evidence

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Link is a request of the second era that carries a play, the call or one of its retries, and the result that it got (2026-07-28,
// basic/patterns/mrtr). The links of a call are its chain.
type CarryingRequest struct {
	// Place is where the request's params stand.
	Place
	// ID is the JSON-RPC id as it was written.
	ID     json.RawMessage
	Method string
	Params dialect.Object
	// Responses are its inputResponses by key; nil where it has none, or none that can be read.
	Responses dialect.Object
	// Wish is what its result asks for; nil for one that asks for nothing, or that never came.
	InputRequired *InputRequired
	// Retries are the requests that answer the wish, in order: one, if all is well.
	Retries []*CarryingRequest
}

// Wish is a result that asks for input, or one that looks as if it did.
type InputRequired struct {
	// Place is where the result stands.
	Place
	// Type is its resultType; "" where it has none.
	Type string
	// State is its requestState; nil where it has none.
	State *string
	// Requests are its inputRequests by key: the method of each, "" for one that has none.
	Requests map[string]string
}

// Keys are the keys of the input requests, sorted.
func (w *InputRequired) Keys() []string { return slices.Sorted(maps.Keys(w.Requests)) }

// takeLink takes in a request that carries the play.
func (ev *Case) takeLink(e *trace.Event, m *Message) {
	l := &CarryingRequest{Place: Place{e.Ref(), "params", "call"}, ID: m.ID, Method: m.Method}
	_ = dialect.ReadPart(m.Params, &l.Params) // what cannot be read holds nothing
	_ = l.Params.Read("inputResponses", &l.Responses)
	if from := ev.continued(l); from != nil {
		from.Retries = append(from.Retries, l)
		l.Label = fmt.Sprintf("retry %d", ev.Retries())
		if len(from.Retries) > 1 {
			l.Label = "one more retry"
		}
	}
	ev.CarryingRequests = append(ev.CarryingRequests, l)
}

// retried counts the wishes that were answered by a retry.
func (ev *Case) Retries() int {
	n := 0
	for _, l := range ev.CarryingRequests {
		n += min(len(l.Retries), 1)
	}
	return n
}

// isRetry reports whether the request brings what only a retry does.
func (l *CarryingRequest) isRetry() bool {
	return l.Params["inputResponses"] != nil || l.Params["requestState"] != nil
}

// continued returns the link whose wish a retry answers: the one whose keys it brings or, where it brings none that was asked for, the
// latest that has no retry yet, or else the latest of all. Its state does not decide, for whether that is right is to be judged. Nil for what
// is no retry.
func (ev *Case) continued(l *CarryingRequest) *CarryingRequest {
	if !l.isRetry() {
		return nil
	}
	var latest, open *CarryingRequest
	for _, from := range slices.Backward(ev.CarryingRequests) {
		if from.InputRequired == nil {
			continue
		}
		for key := range l.Responses {
			if _, asked := from.InputRequired.Requests[key]; asked {
				return from
			}
		}
		if latest == nil {
			latest = from
		}
		if open == nil && len(from.Retries) == 0 {
			open = from
		}
	}
	if open != nil {
		return open
	}
	return latest
}

// takeWish takes in a result that asks for input, of whatever type.
func (ev *Case) takeWish(e *trace.Event, m *Message) {
	var result, requests dialect.Object
	_ = dialect.ReadPart(m.Result, &result) // what cannot be read asks for nothing
	w := &InputRequired{Place: Place{e.Ref(), "result", "result"}, Type: result.Text("resultType"), Requests: map[string]string{}}
	if w.Type != "input_required" && !result.Has("inputRequests") {
		return
	}
	_ = result.Read("inputRequests", &requests)
	for key, raw := range requests {
		in := ReadMessage(raw)
		w.Requests[key] = in.Method
	}
	if result.Has("requestState") {
		var state string
		_ = result.Read("requestState", &state)
		w.State = &state
	}
	for _, l := range slices.Backward(ev.CarryingRequests) {
		if l.InputRequired == nil && SameID(l.ID, m.ID) {
			l.InputRequired = w
			return
		}
	}
}

// wished reports whether the server answered a request of the chain with a wish, or with what looks like one.
func (ev *Case) AskedForInput() bool {
	return slices.ContainsFunc(ev.CarryingRequests, func(l *CarryingRequest) bool { return l.InputRequired != nil })
}

// wishes are the links that were answered with an InputRequiredResult, in order.
func (ev *Case) InputRequiredResults() []*CarryingRequest {
	var found []*CarryingRequest
	for _, l := range ev.CarryingRequests {
		if l.InputRequired != nil && l.InputRequired.Type == "input_required" {
			found = append(found, l)
		}
	}
	return found
}

// state is the requestState that a retry brings, and whether it is a string.
func (l *CarryingRequest) State() (string, bool) {
	var s string
	return s, l.Params.Has("requestState") && l.Params.Read("requestState", &s) == nil
}

// called is where the client called.
func (ev *Case) CallPlace() Place { return Place{ev.FirstCall, "params", "call"} }

// took is what the client says that it took a result for; "" where it says nothing.
func (ev *Case) ReportedOutcome() string {
	if ev.Outcome == nil {
		return ""
	}
	return ev.Outcome.Ended
}
