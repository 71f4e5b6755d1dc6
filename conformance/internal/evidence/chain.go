package evidence

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// CarryingRequest is a call of the second era, or one of its retries, with the input that its result requests
// (2026-07-28, basic/patterns/mrtr). The carrying requests of a call form a chain.
type CarryingRequest struct {
	// Place is the place of the params.
	Place
	// ID is the JSON-RPC id as it was written.
	ID     json.RawMessage
	Method string
	Params jsonvalue.Object
	// StateMember is the name of the member that holds the state ([server.Revision.StateMember]).
	StateMember string
	// Responses holds its inputResponses by key; nil if missing or invalid.
	Responses jsonvalue.Object
	// InputRequired is its result, if that asks for input; else nil.
	InputRequired *InputRequired
	// Retries holds the requests that respond to InputRequired, in order; a correct client sends one.
	Retries []*CarryingRequest
}

// InputRequired is a result that asks for input, or resembles one.
type InputRequired struct {
	// Place is the place of the result.
	Place
	// Type is the resultType; "" if missing.
	Type string
	// State is the state that the retry must contain; nil if missing.
	State *string
	// Requests holds the method of each input request by key; "" if missing.
	Requests map[string]string
}

// Keys returns the keys of the input requests, sorted.
func (in *InputRequired) Keys() []string { return slices.Sorted(maps.Keys(in.Requests)) }

// addCarryingRequest adds a call or a retry.
func (ev *Case) addCarryingRequest(e *trace.Event, m *Message) {
	l := &CarryingRequest{Place: Place{e.Ref(), "params", "call"}, ID: m.ID, Method: m.Method,
		StateMember: ev.Session.Revision.StateMember()}
	_ = jsonvalue.ReadPart(m.Params, &l.Params) // Invalid params are empty.
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

// Retries counts the requests for input that got a retry.
func (ev *Case) Retries() int {
	n := 0
	for _, l := range ev.CarryingRequests {
		n += min(len(l.Retries), 1)
	}
	return n
}

func (l *CarryingRequest) isRetry() bool {
	return l.Params["inputResponses"] != nil || l.Params[l.StateMember] != nil
}

// continued returns the request that a retry continues: the latest that asked for a key of the retry, else the latest
// without a retry, else the latest that asked for input. If the former has a retry, one without that has the state of
// the retry comes first. Otherwise the state does not decide, because checks judge it. A request that is not a retry
// gives nil.
func (ev *Case) continued(l *CarryingRequest) *CarryingRequest {
	if !l.isRetry() {
		return nil
	}
	state, _ := l.State()
	var latest, open, ofState *CarryingRequest
	for _, from := range slices.Backward(ev.CarryingRequests) {
		in := from.InputRequired
		if in == nil {
			continue
		}
		first := len(from.Retries) == 0
		if in.asksAny(l.Responses) {
			if !first && ofState != nil {
				return ofState
			}
			return from
		}
		latest = cmp.Or(latest, from)
		if first {
			open = cmp.Or(open, from)
			if in.State != nil && *in.State == state && state != "" {
				ofState = cmp.Or(ofState, from)
			}
		}
	}
	return cmp.Or(open, latest)
}

func (in *InputRequired) asksAny(keys jsonvalue.Object) bool {
	for key := range keys {
		if _, asked := in.Requests[key]; asked {
			return true
		}
	}
	return false
}

// addInputRequired adds a result that asks for input to the request that it answers.
func (ev *Case) addInputRequired(e *trace.Event, m *Message) {
	var result, requests jsonvalue.Object
	_ = jsonvalue.ReadPart(m.Result, &result) // An invalid result asks for nothing.
	in := &InputRequired{
		Place: Place{e.Ref(), "result", "result"}, Type: result.Text("resultType"), Requests: map[string]string{},
	}
	if in.Type != "input_required" && !result.Has("inputRequests") {
		return
	}
	_ = result.Read("inputRequests", &requests)
	for key, raw := range requests {
		request := ReadMessage(raw)
		in.Requests[key] = request.Method
	}
	if member := ev.Session.Revision.StateMember(); result.Has(member) {
		var state string
		_ = result.Read(member, &state)
		in.State = &state
	}
	for _, l := range slices.Backward(ev.CarryingRequests) {
		if l.InputRequired == nil && SameID(l.ID, m.ID) {
			l.InputRequired = in
			return
		}
	}
}

// AskedForInput reports whether the server asked for input, or seemed to.
func (ev *Case) AskedForInput() bool {
	return slices.ContainsFunc(ev.CarryingRequests, func(l *CarryingRequest) bool { return l.InputRequired != nil })
}

// InputRequiredResults returns the requests that got an InputRequiredResult, in order.
func (ev *Case) InputRequiredResults() []*CarryingRequest {
	var found []*CarryingRequest
	for _, l := range ev.CarryingRequests {
		if l.InputRequired != nil && l.InputRequired.Type == "input_required" {
			found = append(found, l)
		}
	}
	return found
}

// State returns the state of a retry, and whether it is a string.
func (l *CarryingRequest) State() (string, bool) {
	var s string
	return s, l.Params.Has(l.StateMember) && l.Params.Read(l.StateMember, &s) == nil
}

// CallPlace returns the place of the call.
func (ev *Case) CallPlace() Place { return Place{ev.FirstCall, "params", "call"} }

// ReportedOutcome returns how the client says that the call ended; "" if it does not say.
func (ev *Case) ReportedOutcome() string {
	if ev.Outcome == nil {
		return ""
	}
	return ev.Outcome.Ended
}
