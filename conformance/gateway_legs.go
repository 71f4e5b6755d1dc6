package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// A gateway has two legs: the front one to its client, and the back one to the server. Here the messages of both are
// paired: each request of one leg with the request of the other that it became, by what it says. Ids, tokens and
// sessions are the gateway's own.

// legMessage is a message on one leg.
type legMessage struct {
	trace.Message
	frame *trace.Frame
	ref   trace.Ref
	at    int             // in the trace
	raw   json.RawMessage // a part of the frame, in a batch
}

// legRequest is a request on one leg, with its response there.
type legRequest struct {
	legMessage
	response *legMessage
	again    *legMessage // a second response
	other    *legRequest // that it became, or that it comes of
}

// leg holds what passed on one leg.
type leg struct {
	requests []*legRequest // of both sides, in order
	notes    []*legMessage // notifications
}

// readLeg reads one leg of a session. Lost, repeated and invalid messages are not on it.
func readLeg(t *trace.Trace, pick func(*trace.Event) *trace.Frame) *leg {
	l := &leg{}
	open, answered := map[string][]*legRequest{}, map[string]*legRequest{}
	for i := range t.Events {
		f := pick(&t.Events[i])
		if f == nil || len(f.Raw) == 0 || f.Lost || f.Resent || f.Partial || f.Type != "" {
			continue
		}
		for _, raw := range messagesIn(f.Raw) {
			l.add(legMessage{trace.ReadMessage(raw), f, t.Events[i].Ref(), i, raw}, open, answered)
		}
	}
	return l
}

// messagesIn returns the messages of a text: one, those of a batch, or none of an invalid batch.
func messagesIn(text []byte) []json.RawMessage {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return []json.RawMessage{text}
	}
	var all []json.RawMessage // not that of the text, whose bytes decoding would change
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// add adds a message. A response belongs to the latest open request with its id: there may be several (see [settle]).
// Without one, it is a second response to the request that was answered last.
func (l *leg) add(m legMessage, open map[string][]*legRequest, answered map[string]*legRequest) {
	key := func(dir trace.Direction) string {
		return string(dir) + " " + m.frame.Session + " " + jsonvalue.Canonical(jsonvalue.Decode(m.ID))
	}
	switch {
	case m.Method != "" && m.ID != nil:
		r := &legRequest{legMessage: m}
		l.requests = append(l.requests, r)
		open[key(m.frame.Dir)] = append(open[key(m.frame.Dir)], r)
	case m.Method != "":
		l.notes = append(l.notes, &m)
	case m.ID != nil:
		asker := trace.FromClient
		if m.frame.Dir == trace.FromClient {
			asker = trace.ToClient
		}
		if all := open[key(asker)]; len(all) > 0 {
			latest := all[len(all)-1]
			latest.response = &m
			open[key(asker)], answered[key(asker)] = all[:len(all)-1], latest
		} else if r := answered[key(asker)]; r != nil {
			r.again = &m
		}
	}
}

const sampling = "sampling/createMessage"

// legs are both legs of a session.
type legs struct {
	front, back *leg
	// calls pass up, from the front leg to the back one; samples pass down.
	calls, samples []*legRequest // on the leg from which they come
}

func readLegs(t *trace.Trace) *legs {
	l := &legs{front: readLeg(t, func(e *trace.Event) *trace.Frame { return e.Front }),
		back: readLeg(t, func(e *trace.Event) *trace.Frame { return e.Frame })}
	isCall := func(r *legRequest) bool { return replay.Carriers[r.Method] != "" && r.frame.Dir == trace.FromClient }
	isSample := func(r *legRequest) bool {
		return r.Method == sampling && r.frame.Dir == trace.ToClient
	}
	l.calls, l.samples = filter(l.front.requests, isCall), filter(l.back.requests, isSample)
	pair(l.calls, filter(l.back.requests, isCall))
	pair(l.samples, filter(l.front.requests, isSample))
	return l
}

func filter(all []*legRequest, keep func(*legRequest) bool) []*legRequest {
	return slices.DeleteFunc(slices.Clone(all), func(r *legRequest) bool { return !keep(r) })
}

// pair pairs each request with the one that it became on the other leg: first those that say the same, then those that
// say something alike, and last those that were asked and answered while the request waited. A request cannot become an
// earlier one.
func pair(from, to []*legRequest) {
	for _, alike := range []func(a, b *legRequest) bool{sameRequest, alikeRequest, meanwhile} {
		for _, r := range from {
			if r.other != nil {
				continue
			}
			could := filter(to, func(other *legRequest) bool {
				return other.other == nil && other.at > r.at && other.Method == r.Method && alike(r, other)
			})
			if len(could) == 0 {
				continue
			}
			// Requests may overtake each other: their arguments tell them apart, or their responses.
			if same := filter(could, func(other *legRequest) bool { return sameArguments(r, other) }); len(same) > 0 {
				could = same
			}
			i := slices.IndexFunc(could, func(other *legRequest) bool { return sameResponse(r, other) })
			other := could[max(i, 0)]
			r.other, other.other = other, r
		}
	}
	settle(from)
}

// settle exchanges the responses to requests that were open together with one id, if one response is then the same on
// both legs. A gateway of 2026-07-28 may have a client for each call, and each of them counts its ids from 1.
func settle(from []*legRequest) {
	for _, a := range from {
		for _, b := range from {
			if a.other != nil && b.other != nil && shareID(a.other, b.other) && sameResponse(b, a.other) {
				a.other.response, b.other.response = b.other.response, a.other.response
			}
		}
	}
}

// shareID reports whether two requests have the same id, and were open together.
func shareID(a, b *legRequest) bool {
	return a.frame.Session == b.frame.Session && jsonvalue.Same(a.ID, b.ID) && a.response != nil && b.response != nil &&
		a.at < b.response.at && b.at < a.response.at
}

func sameArguments(a, b *legRequest) bool {
	return jsonvalue.Same(jsonvalue.Part(a.Params, "arguments"), jsonvalue.Part(b.Params, "arguments"))
}

func sameResponse(a, b *legRequest) bool {
	if a.response == nil || b.response == nil {
		return false
	}
	path, _, _ := responseDifference(a.response, b.response)
	return path == ""
}

func sameRequest(a, b *legRequest) bool {
	path, _, _ := requestDifference(a, b)
	return path == ""
}

// alikeRequest reports whether two requests ask for the same tool, both with a state or both without, or have a text of
// a message in common. Every request of a case has a text of its own.
func alikeRequest(a, b *legRequest) bool {
	if a.Method != sampling {
		hasState := func(r *legRequest) bool { return replay.State(r.Params) != nil }
		return sameName(nameOf(a), nameOf(b)) && hasState(a) == hasState(b)
	}
	texts := lastTexts(a.Params)
	body := jsonvalue.Decode(b.Params)
	return slices.ContainsFunc(texts, func(text string) bool { return jsonvalue.Contains(body, text) })
}

// meanwhile reports whether a request was answered on the other leg while the first one waited for its answer.
func meanwhile(a, b *legRequest) bool {
	return a.response != nil && b.response != nil && b.response.at < a.response.at
}

func nameOf(r *legRequest) string {
	name, _ := jsonvalue.TextOf(jsonvalue.Part(r.Params, replay.Carriers[r.Method]))
	return name
}

// sameName reports whether a tool of the gateway may be one of the server: it may have a prefix.
func sameName(front, back string) bool {
	return front == back || strings.HasSuffix(front, back) && back != ""
}

// lastTexts are the texts of a sampling request's last message that are long enough to be its own.
func lastTexts(params json.RawMessage) []string {
	o, _ := jsonvalue.ReadObject(params) // nil for no object
	messages := jsonvalue.Messages(o)
	if len(messages) == 0 {
		return nil
	}
	var texts []string
	jsonvalue.EachString(messages[len(messages)-1]["content"], "", func(path, text string) bool {
		if len(text) >= 12 && (strings.HasSuffix(path, "text") || strings.HasSuffix(path, "toolUseId")) {
			texts = append(texts, text)
		}
		return true
	})
	return texts
}

// requestDifference returns where a request differs on the two legs, and what it has there; "" if a gateway may change
// that: the progress token, a prefix of the tool, what the protocol reserves in _meta for each leg, and requestState. A
// gateway may have a state of its own for its client. Whether the server gets its own back is for always/state-echoed.
func requestDifference(from, to *legRequest) (path string, want, got any) {
	a, b := ownParams(from.Params), ownParams(to.Params)
	if member := replay.Carriers[from.Method]; member == "name" {
		front, _ := a[member].(string)
		back, _ := b[member].(string)
		if sameName(front, back) {
			a[member] = back
		}
	}
	return differenceAt("params", a, b)
}

// ownParams are params or a result without what is each leg's own, and without members that have their default.
func ownParams(raw json.RawMessage) map[string]any {
	o, err := jsonvalue.ReadObject(raw)
	if err != nil || o == nil {
		return map[string]any{}
	}
	replay.DropReserved(o)
	for _, state := range replay.StateMembers {
		delete(o, state)
	}
	jsonvalue.Walk(o, "", func(_ string, v any) bool {
		if inner, ok := v.(map[string]any); ok && inner["isError"] == false {
			delete(inner, "isError")
		}
		return true
	})
	return o
}

// responseDifference returns where a response differs on the two legs; "" if it does not.
func responseDifference(from, to *legMessage) (path string, want, got any) {
	if (from.Error != nil) != (to.Error != nil) {
		return "response", kindOf(from), kindOf(to)
	}
	if from.Error != nil {
		return differenceAt("error", jsonvalue.Decode(from.Error), jsonvalue.Decode(to.Error))
	}
	a, b := ownParams(from.Result), ownParams(to.Result)
	sameInputs(a, b)
	return differenceAt("result", a, b)
}

// sameInputs removes the progress tokens of input requests, which are each leg's own.
func sameInputs(results ...map[string]any) {
	for _, result := range results {
		inputs, _ := result["inputRequests"].(map[string]any)
		for _, one := range inputs {
			request, _ := one.(map[string]any)
			if params, ok := request["params"].(map[string]any); ok {
				replay.DropReserved(params)
			}
		}
	}
}

func kindOf(m *legMessage) string {
	if m.Error != nil {
		return "an error: " + string(m.Error)
	}
	return "a result"
}

// differenceAt returns the first difference of two values, and its path; "" for none.
func differenceAt(root string, a, b any) (path string, want, got any) {
	if jsonvalue.Equal(a, b) {
		return "", nil, nil
	}
	path, want, got = jsonvalue.Difference(root, a, b)
	return cmp.Or(path, root), want, got
}

// shownValue shows a value of a message in a verdict.
func shownValue(v any) string {
	text := fmt.Sprint(v)
	if v != jsonvalue.Missing {
		text = string(jsonvalue.Marshal(v))
	}
	if len(text) > 120 {
		text = text[:117] + "…"
	}
	return strings.ToValidUTF8(text, "")
}
