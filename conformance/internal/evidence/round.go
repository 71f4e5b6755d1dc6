package evidence

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm/native"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/replay"
	"github.com/mcp-conform/mcp-conform/internal/schema"
	"github.com/mcp-conform/mcp-conform/internal/validity"
)

// add adds an event of the call.
func (ev *Case) add(e *trace.Event, m *Message) {
	switch {
	case e.Mark != nil:
		ev.addMark(e.Mark, ev.Session.Order[e.Ref()])
		limit := ev.Session.Trace.Header.Timeout
		ev.killed = ev.killed || e.Mark.Name == trace.MarkOutcome && limit > 0 && e.At >= limit
	case e.Frame != nil && !e.Frame.Raw.IsZero() && !e.Frame.Lost && !e.Frame.Resent:
		// A resent message arrived before, or was lost with its connection.
		if e.Frame.Dir == trace.ToClient {
			ev.addFromServer(e, m)
		} else {
			ev.addFromClient(e, m)
		}
	}
}

func (ev *Case) addMark(m *trace.Mark, at int) {
	switch m.Name {
	case trace.MarkHarnessError:
		ev.HarnessErrors = append(ev.HarnessErrors, m.Text)
	case trace.MarkWithheld:
		ev.Withheld = m.Text
	case trace.MarkNotPlayed, trace.MarkOutOfTime, trace.MarkInapplicable, trace.MarkUnsupported:
		ev.NotPlayed, ev.Session.GivenUp = m.Text, true
		ev.OutOfTime = m.Name == trace.MarkOutOfTime
		if m.Name == trace.MarkInapplicable || m.Name == trace.MarkUnsupported {
			ev.Omitted, ev.Session.Omitted = m.Name, true
		}
	case trace.MarkOutcome:
		var o harness.Outcome
		if json.Unmarshal([]byte(m.Text), &o) == nil {
			ev.Outcome = &o
		}
	case trace.MarkHandlerEnded:
		ev.Over, ev.OverAt = ev.Session.Ended == nil, at
	}
}

func (ev *Case) addFromServer(e *trace.Event, m *Message) {
	f := e.Frame
	switch {
	case m.Method == "sampling/createMessage":
		r := ev.addRound(Place{e.Ref(), "params", ""}, IDText(m.ID), m.Params)
		r.RawID, r.Hostile = m.ID, f.Hostile
	case m.Result != nil:
		ev.addInputRequests(e, m.Result)
		ev.addInputRequired(e, m)
	case f.HTTP != nil && f.HTTP.Status >= 400:
		ev.addRefusal(e, fmt.Sprintf("HTTP %d", f.HTTP.Status))
	case m.Err != nil && ev.Session.OverStdio():
		ev.addRefusal(e, fmt.Sprintf("error %d", m.Err.Code))
	}
}

func (ev *Case) addFromClient(e *trace.Event, m *Message) {
	switch {
	case replay.Carriers[m.Method] != "":
		if !ev.Called {
			ev.Called, ev.FirstCall = true, e.Ref()
		}
		ev.Declared = ev.Session.declaration(e)
		ev.addCarryingRequest(e, m)
		ev.addInputResponses(e, m.Params)
	case m.IsResponse():
		if r := ev.roundOf(m.ID); r != nil {
			r.addAnswer(e, "result", Answer{ID: m.ID, Result: m.Result, Err: m.Err, RawErr: m.RawErr})
		}
	}
}

func (ev *Case) addRefusal(e *trace.Event, how string) {
	ev.TurnedDown, ev.TurnedDownAt = how, Place{e.Ref(), "error", how}
}

// roundOf returns the round of a response of the first era, by its id. If ids repeat, an unanswered round comes first,
// then one whose id is exactly the same.
func (ev *Case) roundOf(id json.RawMessage) *Round {
	var best *Round
	most := 0
	for _, r := range ev.Rounds {
		score := 0
		if r.Key == IDText(id) {
			score = 1
			if len(r.Answers) == 0 {
				score += 2
			}
			if SameID(r.RawID, id) {
				score++
			}
		}
		if score > most {
			best, most = r, score
		}
	}
	return best
}

func (ev *Case) addRound(at Place, id string, params json.RawMessage) *Round {
	n := len(ev.Rounds) + 1
	at.Label = fmt.Sprintf("sampling request %d", n)
	r := &Round{N: n, Asked: at, Key: id, Raw: params, Sent: newDocument(params), Declared: ev.Declared}
	tapped := ev.Session.Trace.Header.Tapped
	r.faults = sync.OnceValue(func() []validity.Fault { return faultsOf(ev.Revision, params, tapped) })
	r.Conversations = Conversations(params, ev.Case.Mark)
	if params != nil {
		r.Params = native.Read(params) // nil for params that are invalid on purpose
	}
	ev.Rounds = append(ev.Rounds, r)
	return r
}

// addInputRequests adds a round for each sampling request of an InputRequiredResult.
func (ev *Case) addInputRequests(e *trace.Event, result json.RawMessage) {
	var required, requests jsonvalue.Object
	if jsonvalue.ReadPart(result, &required) != nil || required.Text("resultType") != "input_required" ||
		required.Read("inputRequests", &requests) != nil {
		return
	}
	// Keys end in a counter, so a shorter one comes first.
	keys := slices.SortedFunc(maps.Keys(requests), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	for _, key := range keys {
		if in := ReadMessage(requests[key]); in.Method == "sampling/createMessage" {
			path := fmt.Sprintf("result.inputRequests[%q].params", key)
			ev.addRound(Place{e.Ref(), path, ""}, key, in.Params).Hostile = e.Frame.Hostile
		}
	}
}

func (ev *Case) addInputResponses(e *trace.Event, params json.RawMessage) {
	var retry, responses jsonvalue.Object
	_ = jsonvalue.ReadPart(params, &retry) // Invalid params answer nothing.
	_ = retry.Read("inputResponses", &responses)
	for _, r := range ev.Rounds {
		if result, ok := responses[r.Key]; ok {
			r.addAnswer(e, fmt.Sprintf("params.inputResponses[%q]", r.Key), Answer{Result: result})
		}
	}
}

func (r *Round) addAnswer(e *trace.Event, path string, a Answer) {
	if a.Err != nil {
		path, a.Result = "error", nil
	}
	a.Place = Place{e.Ref(), path, fmt.Sprintf("answer %d", r.N)}
	r.Answers = append(r.Answers, a.lazily())
}

// IsValid reports whether a correct client may pass the request to a model as it is: its params and its history are
// valid, and the client declares what it needs.
func (r *Round) IsValid() bool {
	return !r.Hostile && r.Params != nil && len(r.faults()) == 0 && r.isDeclared()
}

func (r *Round) isDeclared() bool {
	params, _ := r.Sent.Value().(map[string]any)
	return validity.Undeclared(params, r.Declared.Declares) == nil
}

// faultsOf returns what is wrong with the params of a request. A violation of the schema in a member that the client
// may ignore counts only in a tapped session: our own server marks such requests as hostile.
func faultsOf(revision server.Revision, raw json.RawMessage, tapped bool) []validity.Fault {
	params, err := jsonvalue.ReadObject(raw)
	if err == nil && tapped {
		err = schema.Validate(string(revision), schema.CreateMessageRequestParams, raw)
	}
	if err != nil {
		return []validity.Fault{{Kind: validity.BadSchema, Message: err.Error()}}
	}
	return validity.Check(string(revision), params)
}
