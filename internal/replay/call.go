package replay

import (
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Call is a request of the client as a caller sees it: with all rounds of input, which are its asks.
type Call struct {
	*Request
	// Last is the request of the last round: the same one unless the server asked for input.
	Last *Request
	// Asks are what the server asked in the course of the call, in order, with the answers.
	Asks []*Ask
	// Canceled is how many asks the client had got when it canceled the call; -1 if it did not.
	Canceled int
}

// Calls returns the requests of a recording in one revision, without those that open a session. Rounds of one call are
// one.
func (r *Recording) Calls(revision string) []*Call {
	var calls []*Call
	for _, q := range r.Requests {
		if q.Method == "initialize" || q.Revision != revision {
			continue
		}
		call := waiting(calls, q)
		if call == nil {
			call = &Call{Request: q, Canceled: -1}
			calls = append(calls, call)
		}
		call.add(q)
	}
	return calls
}

// waiting returns the call that a request is the next round of; nil for a new one.
func waiting(calls []*Call, q *Request) *Call {
	state, responses := State(q.Params), jsonvalue.Part(q.Params, "inputResponses")
	if state == nil && responses == nil {
		return nil
	}
	for _, call := range slices.Backward(calls) {
		asked := call.Last.Result
		if asked == nil || Name(call.Method, call.Params) != Name(q.Method, q.Params) {
			continue
		}
		if state != nil && jsonvalue.Same(state, State(asked)) ||
			state == nil && State(asked) == nil && len(Inputs(asked)) > 0 {
			return call
		}
	}
	return nil
}

// StateMembers are the names of the state of a round, in all revisions (server.Revision.StateMember).
var StateMembers = []string{"requestState"}

// State returns the state in a result that asks for input, or in the params of a retry; nil for none.
func State(raw json.RawMessage) json.RawMessage {
	for _, name := range StateMembers {
		if state := jsonvalue.Part(raw, name); state != nil {
			return state
		}
	}
	return nil
}

// add adds a round.
func (c *Call) add(q *Request) {
	var responses map[string]json.RawMessage
	if raw := jsonvalue.Part(q.Params, "inputResponses"); raw != nil {
		_ = json.Unmarshal(raw, &responses) // what is no object answers nothing
	}
	for _, ask := range c.Asks {
		if answer := responses[ask.Key]; ask.of == c.Last && answer != nil {
			ask.Result, ask.ended = answer, q.sent
		}
	}
	c.Last = q
	for _, step := range q.Steps {
		if step.Asked != nil {
			c.Asks = append(c.Asks, step.Asked)
		}
		if step.Canceled && c.Canceled < 0 {
			c.Canceled = len(c.Asks)
		}
	}
	for _, ask := range Inputs(q.Result) {
		ask.of, ask.event, ask.path = q, q.event, "result.inputRequests["+string(jsonvalue.Marshal(ask.Key))+"].params"
		c.Asks = append(c.Asks, ask)
	}
}

// WaitsForInput reports whether the client gave up a call that asked for input.
func (c *Call) WaitsForInput() bool { return len(Inputs(c.Last.Result)) > 0 }
