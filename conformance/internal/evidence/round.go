package evidence

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// take takes in one event of the call.
func (ev *Case) take(e *trace.Event, m *Message) {
	switch {
	case e.Mark != nil:
		ev.takeMark(e.Mark)
	case e.Frame != nil && !e.Frame.Raw.IsZero() && !e.Frame.Lost:
		ev.takeMessage(e, m)
	}
}

func (ev *Case) takeMark(m *trace.Mark) {
	switch m.Name {
	case trace.MarkHarnessError:
		ev.HarnessErrors = append(ev.HarnessErrors, m.Text)
	case trace.MarkWithheld:
		ev.Withheld = m.Text
	case trace.MarkNotPlayed:
		ev.NotPlayed, ev.Session.GivenUp = m.Text, true
	case trace.MarkOutcome:
		var o harness.Outcome
		if json.Unmarshal([]byte(m.Text), &o) == nil {
			ev.Outcome = &o
		}
	case trace.MarkHandlerEnded:
		ev.Over = ev.Session.Ended == nil
	}
}

func (ev *Case) takeMessage(e *trace.Event, m *Message) {
	f := e.Frame
	switch {
	case f.Resent: // which the client has seen, or missed with the connection
	case f.Dir == trace.ToClient && m.Method == "sampling/createMessage":
		r := ev.ask(Place{e.Ref(), "params", ""}, IDText(m.ID), m.Params)
		r.RawID, r.Hostile = m.ID, f.Hostile
	case f.Dir == trace.ToClient && m.Result != nil:
		ev.takeInputRequests(e, m.Result)
		ev.takeWish(e, m)
	case f.Dir == trace.ToClient && f.HTTP != nil && f.HTTP.Status >= 400:
		ev.turnedDown(e, fmt.Sprintf("HTTP %d", f.HTTP.Status))
	case f.Dir == trace.ToClient && m.Err != nil && ev.Session.OverStdio():
		ev.turnedDown(e, fmt.Sprintf("error %d", m.Err.Code))
	case f.Dir == trace.FromClient && CarryingMethods[m.Method] != "":
		if !ev.Called {
			ev.Called, ev.FirstCall = true, e.Ref()
		}
		ev.Declared = ev.Session.declaration(e)
		ev.takeLink(e, m)
		ev.takeInputResponses(e, m.Params)
	case f.Dir == trace.FromClient && m.IsResponse():
		if r := ev.round(m.ID); r != nil {
			r.answer(e, "result", Answer{ID: m.ID, Result: m.Result, Err: m.Err, RawErr: m.RawErr})
		}
	}
}

func (ev *Case) turnedDown(e *trace.Event, how string) {
	ev.TurnedDown, ev.TurnedDownAt = how, Place{e.Ref(), "error", how}
}

// idText names an id loosely, so that one that came back changed is still known for what it answers: the text of a string, and for a
// number its value, however it is written.
func IDText(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return text
	}
	if f, err := strconv.ParseFloat(string(id), 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return string(id)
}

// sameID reports whether an id is the one that was sent: of the same type and, for a number, written the same.
func SameID(sent, got json.RawMessage) bool {
	var a, b string
	if json.Unmarshal(sent, &a) == nil && json.Unmarshal(got, &b) == nil {
		return a == b && len(got) > 0 && got[0] == '"'
	}
	return string(sent) == string(got)
}

// round returns the round that a response of the first era answers. Its id decides; one that came back changed is known loosely,
// first of all for what is still unanswered.
func (ev *Case) round(id json.RawMessage) *Round {
	var best *Round
	most := 0
	for _, r := range ev.Rounds {
		fits := 0
		if r.Key == IDText(id) {
			fits = 1
			if len(r.Answers) == 0 {
				fits += 2
			}
			if SameID(r.RawID, id) {
				fits++
			}
		}
		if fits > most {
			best, most = r, fits
		}
	}
	return best
}

// ask begins a round.
func (ev *Case) ask(at Place, id string, params json.RawMessage) *Round {
	n := len(ev.Rounds) + 1
	at.Label = fmt.Sprintf("sampling request %d", n)
	r := &Round{N: n, Asked: at, Key: id, Raw: params, Declared: ev.Declared, Conversations: Conversations(params, ev.Case.Mark)}
	r.Params, _ = llm.Decode(dialect.Native, "", params) // params that are wrong on purpose stay nil
	ev.Rounds = append(ev.Rounds, r)
	return r
}

// takeInputRequests begins a round for each sample that an InputRequiredResult asks for.
func (ev *Case) takeInputRequests(e *trace.Event, result json.RawMessage) {
	var required, requests dialect.Object
	if dialect.ReadPart(result, &required) != nil || required.Text("resultType") != "input_required" || required.Read("inputRequests", &requests) != nil {
		return
	}
	keys := make([]string, 0, len(requests))
	for key := range requests {
		keys = append(keys, key)
	}
	// Keys end in a count, so the shorter one comes first.
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	for _, key := range keys {
		if in := ReadMessage(requests[key]); in.Method == "sampling/createMessage" {
			ev.ask(Place{e.Ref(), fmt.Sprintf("result.inputRequests[%q].params", key), ""}, key, in.Params).Hostile = e.Frame.Hostile
		}
	}
}

// takeInputResponses takes the answers out of a retry.
func (ev *Case) takeInputResponses(e *trace.Event, params json.RawMessage) {
	var retry, responses dialect.Object
	_ = dialect.ReadPart(params, &retry) // what cannot be read answers nothing
	_ = retry.Read("inputResponses", &responses)
	for _, r := range ev.Rounds {
		if result, ok := responses[r.Key]; ok {
			r.answer(e, fmt.Sprintf("params.inputResponses[%q]", r.Key), Answer{Result: result})
		}
	}
}

// answer adds an answer to the round.
func (r *Round) answer(e *trace.Event, path string, a Answer) {
	if a.Err != nil {
		path, a.Result = "error", nil
	}
	a.Place = Place{e.Ref(), path, fmt.Sprintf("answer %d", r.N)}
	r.Answers = append(r.Answers, a)
}

// completed are the requests that the model answered, whole.
func (r *Round) CompletedCalls() []*Exchange {
	var found []*Exchange
	for _, x := range r.Model {
		if x.End.Status == 200 && !x.End.HungUp {
			found = append(found, x)
		}
	}
	return found
}

// wholly reports whether the model answered one of the round's requests with all that it had to say.
func (r *Round) AnsweredWhole() bool {
	return slices.ContainsFunc(r.CompletedCalls(), func(x *Exchange) bool { return x.End.Fault == "" })
}
