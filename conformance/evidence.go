package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Place is somewhere in a trace: an event, a path into its JSON, and what the event is called in the story.
type Place struct {
	Ref   trace.Ref
	Path  string
	Label string
}

// At returns the place further down, at a path relative to this one.
func (p Place) At(path string) Place {
	switch {
	case p.Path == "" || path == "":
		p.Path += path
	case strings.HasPrefix(path, "["):
		p.Path += path
	default:
		p.Path += "." + path
	}
	return p
}

// Session is what one session of a client shows, decoded from its trace.
type Session struct {
	Trace    *trace.Trace
	Revision server.Revision
	// Connected is true once the client was served by the revision of the run, Foreign once it tried to speak another one.
	Connected, Foreign bool
	// Tried is what it tried to speak then.
	Tried string
	// Ended is how the client ended; nil when the trace does not say.
	Ended *trace.Process
	// Refused are requests of the client that the server turned down with an HTTP status, in order.
	Refused []Place
	// Calls are the names of tools that the client called and the server does not have, in order.
	ForeignCalls []ForeignCall

	cases map[string]*Evidence
	order map[trace.Ref]int // the place of each event among all
}

// ForeignCall is a call of a tool that is not the server's.
type ForeignCall struct {
	Place
	Tool string
}

// Evidence is what a session shows of one case.
type Evidence struct {
	Session  *Session
	Case     trace.Case
	Revision server.Revision
	// Called is true once the client called the case's tool.
	Called bool
	// Rounds are the samples that were asked for, in order.
	Rounds []*Round
	// Withheld is the capability for lack of which a sample was not asked for.
	Withheld string
	// HarnessErrors are our own faults.
	HarnessErrors []string
	// Took is the time from the first event of the case to its last.
	Took time.Duration
}

// Round is one sample: what the server asked, what the client asked of the model for it, and what it answered.
type Round struct {
	// N counts the rounds of the case from 1.
	N int
	// Asked is where the params stand.
	Asked Place
	// Params are the request in neutral form.
	Params *dialect.Request
	// Raw are the params as they were sent.
	Raw json.RawMessage
	// Model are the requests that the model got for it, in order.
	Model []*Exchange
	// Answers are what came back: one, if all is well.
	Answers []Answer

	id    string          // request id or input key, by which answers are known
	rawID json.RawMessage // the request id as it was written; nil in the second era
}

// Answer is the client's answer to a sample.
type Answer struct {
	Place
	// ID is the JSON-RPC id as it was written; nil in the second era, which has none.
	ID json.RawMessage
	// Result is the CreateMessageResult; nil where Err is set.
	Result json.RawMessage
	Err    *server.RPCError
}

// Exchange is one request to the model and what came of it.
type Exchange struct {
	Place
	Request *dialect.Request
	// Unreadable says why Request is nil.
	Unreadable error
	End        trace.ModelEnd
	number     int64
}

// Decode reads the evidence out of a trace. It is a pure function.
func Decode(t *trace.Trace) *Session {
	s := &Session{Trace: t, Revision: server.Revision(t.Header.Revision), cases: map[string]*Evidence{}, order: map[trace.Ref]int{}}
	for _, c := range t.Header.Cases {
		s.cases[c.ID] = &Evidence{Session: s, Case: c, Revision: s.Revision}
	}
	first := map[string]time.Duration{}
	for i := range t.Events {
		e := &t.Events[i]
		s.order[e.Ref()] = i
		if e.Process != nil && e.Process.State == trace.Ended {
			s.Ended = e.Process
		}
		ev := s.cases[e.Case]
		if ev == nil {
			s.takeFrame(e)
			continue
		}
		if _, ok := first[e.Case]; !ok {
			first[e.Case] = e.At
		}
		ev.Took = e.At - first[e.Case]
		if e.Call > 1 { // a client that calls twice plays twice; the first play is judged
			continue
		}
		ev.take(e)
		s.noteModern(e)
	}
	return s
}

// Case returns the evidence of a case; nil when the session did not offer it.
func (s *Session) Case(id string) *Evidence { return s.cases[id] }

// rpc is any JSON-RPC message of the wire, as loosely as it can be read.
type rpc struct {
	ID     json.RawMessage  `json:"id"`
	Method string           `json:"method"`
	Params json.RawMessage  `json:"params"`
	Result json.RawMessage  `json:"result"`
	Error  *server.RPCError `json:"error"`
}

// takeFrame takes note of what belongs to the session as a whole.
func (s *Session) takeFrame(e *trace.Event) {
	f := e.Frame
	if f == nil {
		return
	}
	var m rpc
	_ = json.Unmarshal(f.Raw, &m) // what cannot be read was refused, and is noted by its status
	switch {
	case f.Dir == trace.ToClient && f.HTTP != nil && f.HTTP.Status >= 400:
		s.Refused = append(s.Refused, Place{e.Ref(), "", fmt.Sprintf("HTTP %d", f.HTTP.Status)})
	case f.Dir == trace.ToClient && m.Result != nil:
		// Answering initialize is not yet agreement: the client may not take the revision.
		s.Connected = s.Connected || s.Revision.Modern()
	case f.Dir != trace.FromClient:
	case m.Method == "initialize":
		var p struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(m.Params, &p) // judged by other checks
		if s.Revision.Modern() || p.ProtocolVersion != string(s.Revision) {
			s.Foreign, s.Tried = true, p.ProtocolVersion
		}
	case !s.Revision.Modern() && f.Session != "" && m.Method != "":
		s.Connected = true
	case !s.Revision.Modern() && f.HTTP != nil && server.Revision(f.HTTP.Header["Mcp-Protocol-Version"]).Modern():
		s.Foreign, s.Tried = true, f.HTTP.Header["Mcp-Protocol-Version"]
	}
	if f.Dir == trace.FromClient && m.Method == "tools/call" {
		var p struct{ Name string }
		_ = json.Unmarshal(m.Params, &p) // a call without a name is of no tool
		s.ForeignCalls = append(s.ForeignCalls, ForeignCall{Place{e.Ref(), "params.name", "tools/call"}, p.Name})
	}
}

// noteModern sees that a client is served by the second era when all it does is call a tool.
func (s *Session) noteModern(e *trace.Event) {
	if f := e.Frame; f != nil && f.Dir == trace.ToClient && f.HTTP != nil && f.HTTP.Status == 200 {
		s.Connected = true
	}
}

// take takes in one event of the case.
func (ev *Evidence) take(e *trace.Event) {
	switch {
	case e.Mark != nil && e.Mark.Name == trace.MarkHarnessError:
		ev.HarnessErrors = append(ev.HarnessErrors, e.Mark.Text)
	case e.Mark != nil && e.Mark.Name == trace.MarkWithheld:
		ev.Withheld = e.Mark.Text
	case e.Request != nil:
		ev.takeModelRequest(e)
	case e.End != nil:
		for _, r := range ev.Rounds {
			for _, x := range r.Model {
				if x.number == e.End.Exchange {
					x.End = *e.End
				}
			}
		}
	case e.Frame != nil && e.Frame.Raw != nil && !e.Frame.Lost:
		var m rpc
		if json.Unmarshal(e.Frame.Raw, &m) == nil {
			ev.takeMessage(e, &m)
		}
	}
}

func (ev *Evidence) takeMessage(e *trace.Event, m *rpc) {
	switch {
	case e.Frame.Dir == trace.ToClient && m.Method == "sampling/createMessage":
		ev.ask(Place{e.Ref(), "params", ""}, idText(m.ID), m.Params).rawID = m.ID
	case e.Frame.Dir == trace.ToClient && m.Result != nil:
		ev.takeInputRequests(e, m.Result)
	case e.Frame.Dir == trace.FromClient && m.Method == "tools/call":
		ev.Called = true
		ev.takeInputResponses(e, m.Params)
	case e.Frame.Dir == trace.FromClient && m.Method == "":
		if r := ev.round(idText(m.ID)); r != nil {
			r.answer(e, "result", Answer{ID: m.ID, Result: m.Result, Err: m.Error})
		}
	}
}

// idText names an id loosely, so that one that came back changed is still known for what it answers.
func idText(id json.RawMessage) string { return strings.Trim(string(id), `"`) }

func (ev *Evidence) round(id string) *Round {
	for _, r := range ev.Rounds {
		if r.id == id {
			return r
		}
	}
	return nil
}

// ask begins a round.
func (ev *Evidence) ask(at Place, id string, params json.RawMessage) *Round {
	n := len(ev.Rounds) + 1
	at.Label = fmt.Sprintf("sampling request %d", n)
	r := &Round{N: n, Asked: at, id: id, Raw: params}
	r.Params, _ = llm.Decode(dialect.Native, "", params) // params that are wrong on purpose stay nil
	ev.Rounds = append(ev.Rounds, r)
	return r
}

// takeInputRequests begins a round for each sample that an InputRequiredResult asks for.
func (ev *Evidence) takeInputRequests(e *trace.Event, result json.RawMessage) {
	var required struct {
		ResultType    string         `json:"resultType"`
		InputRequests map[string]rpc `json:"inputRequests"`
	}
	if json.Unmarshal(result, &required) != nil || required.ResultType != "input_required" {
		return
	}
	keys := make([]string, 0, len(required.InputRequests))
	for key := range required.InputRequests {
		keys = append(keys, key)
	}
	// Keys end in a count, so the shorter one comes first.
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	for _, key := range keys {
		if in := required.InputRequests[key]; in.Method == "sampling/createMessage" {
			ev.ask(Place{e.Ref(), fmt.Sprintf("result.inputRequests[%q].params", key), ""}, key, in.Params)
		}
	}
}

// takeInputResponses takes the answers out of a retry.
func (ev *Evidence) takeInputResponses(e *trace.Event, params json.RawMessage) {
	var retry struct {
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
	}
	_ = json.Unmarshal(params, &retry) // what cannot be read answers nothing
	for _, r := range ev.Rounds {
		if result, ok := retry.InputResponses[r.id]; ok {
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

// takeModelRequest takes a request to the model for part of the round that was asked for last.
func (ev *Evidence) takeModelRequest(e *trace.Event) {
	if len(ev.Rounds) == 0 {
		return
	}
	count := 1
	for _, r := range ev.Rounds {
		count += len(r.Model)
	}
	x := &Exchange{Place: Place{e.Ref(), "", fmt.Sprintf("model request %d", count)}, number: e.Request.Exchange}
	x.Request, x.Unreadable = llm.Decode(e.Request.Dialect, e.Request.Path, e.Request.Body)
	r := ev.Rounds[len(ev.Rounds)-1]
	r.Model = append(r.Model, x)
}
