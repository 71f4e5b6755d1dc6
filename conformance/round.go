package conformance

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
func (ev *Evidence) take(e *trace.Event, m *rpc) {
	switch {
	case e.Mark != nil:
		ev.takeMark(e.Mark)
	case e.Frame != nil && !e.Frame.Raw.IsZero() && !e.Frame.Lost:
		ev.takeMessage(e, m)
	}
}

func (ev *Evidence) takeMark(m *trace.Mark) {
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

func (ev *Evidence) takeMessage(e *trace.Event, m *rpc) {
	f := e.Frame
	switch {
	case f.Resent: // which the client has seen, or missed with the connection
	case f.Dir == trace.ToClient && m.method == "sampling/createMessage":
		r := ev.ask(Place{e.Ref(), "params", ""}, idText(m.id), m.params)
		r.rawID, r.Hostile = m.id, f.Hostile
	case f.Dir == trace.ToClient && m.result != nil:
		ev.takeInputRequests(e, m.result)
		ev.takeWish(e, m)
	case f.Dir == trace.ToClient && f.HTTP != nil && f.HTTP.Status >= 400:
		ev.turnedDown(e, fmt.Sprintf("HTTP %d", f.HTTP.Status))
	case f.Dir == trace.ToClient && m.err != nil && ev.Session.overStdio():
		ev.turnedDown(e, fmt.Sprintf("error %d", m.err.Code))
	case f.Dir == trace.FromClient && carrying[m.method] != "":
		if !ev.Called {
			ev.Called, ev.calledAt = true, e.Ref()
		}
		ev.Declared = ev.Session.declaration(e)
		ev.takeLink(e, m)
		ev.takeInputResponses(e, m.params)
	case f.Dir == trace.FromClient && m.isResponse():
		if r := ev.round(m.id); r != nil {
			r.answer(e, "result", Answer{ID: m.id, Result: m.result, Err: m.err, RawErr: m.rawErr})
		}
	}
}

func (ev *Evidence) turnedDown(e *trace.Event, how string) {
	ev.TurnedDown, ev.TurnedDownAt = how, Place{e.Ref(), "error", how}
}

// idText names an id loosely, so that one that came back changed is still known for what it answers: the text of a string, and for a
// number its value, however it is written.
func idText(id json.RawMessage) string {
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
func sameID(sent, got json.RawMessage) bool {
	var a, b string
	if json.Unmarshal(sent, &a) == nil && json.Unmarshal(got, &b) == nil {
		return a == b && len(got) > 0 && got[0] == '"'
	}
	return string(sent) == string(got)
}

// round returns the round that a response of the first era answers. Its id decides; one that came back changed is known loosely,
// first of all for what is still unanswered.
func (ev *Evidence) round(id json.RawMessage) *Round {
	var best *Round
	most := 0
	for _, r := range ev.Rounds {
		fits := 0
		if r.id == idText(id) {
			fits = 1
			if len(r.Answers) == 0 {
				fits += 2
			}
			if sameID(r.rawID, id) {
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
func (ev *Evidence) ask(at Place, id string, params json.RawMessage) *Round {
	n := len(ev.Rounds) + 1
	at.Label = fmt.Sprintf("sampling request %d", n)
	r := &Round{N: n, Asked: at, id: id, Raw: params, Declared: ev.Declared, conversations: conversations(params, ev.Case.Mark)}
	r.Params, _ = llm.Decode(dialect.Native, "", params) // params that are wrong on purpose stay nil
	ev.Rounds = append(ev.Rounds, r)
	return r
}

// takeInputRequests begins a round for each sample that an InputRequiredResult asks for.
func (ev *Evidence) takeInputRequests(e *trace.Event, result json.RawMessage) {
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
		if in := readRPC(requests[key]); in.method == "sampling/createMessage" {
			ev.ask(Place{e.Ref(), fmt.Sprintf("result.inputRequests[%q].params", key), ""}, key, in.params).Hostile = e.Frame.Hostile
		}
	}
}

// takeInputResponses takes the answers out of a retry.
func (ev *Evidence) takeInputResponses(e *trace.Event, params json.RawMessage) {
	var retry, responses dialect.Object
	_ = dialect.ReadPart(params, &retry) // what cannot be read answers nothing
	_ = retry.Read("inputResponses", &responses)
	for _, r := range ev.Rounds {
		if result, ok := responses[r.id]; ok {
			r.answer(e, fmt.Sprintf("params.inputResponses[%q]", r.id), Answer{Result: result})
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
func (r *Round) completed() []*Exchange {
	var found []*Exchange
	for _, x := range r.Model {
		if x.End.Status == 200 && !x.End.HungUp {
			found = append(found, x)
		}
	}
	return found
}
