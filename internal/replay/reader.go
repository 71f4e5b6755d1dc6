package replay

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Names of the protocol.
const (
	methodCancelled = "notifications/cancelled"
	methodProgress  = "notifications/progress"
	metaPrefix      = "io.modelcontextprotocol/"
	metaVersion     = metaPrefix + "protocolVersion"
)

// reader builds a recording from the events of a trace, in two passes.
type reader struct {
	recording *Recording
	ends      map[string]json.RawMessage // by stream, the id of the response on it
	open      []*Request                 // without a response yet, oldest first
	done      []*Request
	asks      map[string]*Ask   // by session and id
	revisions map[string]string // by session
	tapped    bool
	events    int // so far, in the second pass
}

func newReader() *reader {
	return &reader{recording: &Recording{}, ends: map[string]json.RawMessage{}, asks: map[string]*Ask{},
		revisions: map[string]string{}}
}

// look is the first pass: a stream belongs to the request whose response is on it, wherever that comes.
func (r *reader) look(part *trace.Trace) error {
	for i := range part.Events {
		f := part.Events[i].Frame
		if f == nil || f.Stream == "" || f.Dir != trace.ToClient || len(f.Raw) == 0 {
			continue
		}
		if m := trace.ReadMessage(f.Raw); m.Method == "" && m.ID != nil {
			r.ends[f.Stream] = m.ID
		}
	}
	return nil
}

// take is the second pass.
func (r *reader) take(part *trace.Trace) error {
	r.tapped = part.Header.Tapped
	for i := range part.Events {
		r.events++
		switch e := &part.Events[i]; {
		case e.Request != nil && !e.Request.SideRequest && !e.Request.Host:
			r.recording.models = append(r.recording.models, &model{e.Request, e.Case, r.events - 1})
		case e.Frame != nil && !e.Frame.Lost && !e.Frame.Resent && !e.Frame.Partial:
			r.frame(e)
		}
	}
	return nil
}

// frame takes a frame, of which a body may hold several messages.
func (r *reader) frame(e *trace.Event) {
	f := e.Frame
	if len(f.Raw) == 0 {
		if f.Closed && f.Dir == trace.FromClient {
			r.left(e)
		}
		return
	}
	raws := []json.RawMessage{json.RawMessage(f.Raw)}
	if bytes.HasPrefix(bytes.TrimSpace(f.Raw), []byte("[")) && json.Unmarshal(f.Raw, &raws) != nil {
		return
	}
	for _, raw := range raws {
		m := trace.ReadMessage(raw)
		if f.Dir == trace.FromClient {
			r.fromClient(e, &m)
		} else {
			r.fromServer(e, &m, raw)
		}
	}
}

func (r *reader) fromClient(e *trace.Event, m *trace.Message) {
	switch {
	case m.Method != "" && m.ID != nil:
		request := &Request{ID: m.ID, Method: m.Method, Params: m.Params, After: slices.Clip(r.done),
			session: e.Frame.Session, caseID: e.Case + e.Tool, call: e.Call, sent: r.events - 1}
		request.Revision = r.revisionOf(e, m)
		r.open = append(r.open, request)
		r.recording.Requests = append(r.recording.Requests, request)
	case m.Method == methodCancelled:
		id := jsonvalue.Part(m.Params, "requestId")
		if request := r.find(e, func(q *Request) bool { return bytes.Equal(q.ID, id) }); request != nil {
			request.Steps = append(request.Steps, Step{Canceled: true})
		}
	case m.Method == "" && m.ID != nil:
		if ask := r.asks[askKey(e, m.ID)]; ask != nil && !ask.IsAnswered() {
			ask.Result, ask.Error, ask.ended = m.Result, m.Error, r.events-1
			ask.of.Steps = append(ask.of.Steps, Step{Answered: ask})
		}
	}
}

func (r *reader) fromServer(e *trace.Event, m *trace.Message, raw json.RawMessage) {
	switch {
	case m.Method == "" && m.ID != nil:
		r.respond(e, m)
	case m.Method == "":
		r.recording.Stray++
	case m.ID != nil:
		ask := &Ask{ID: m.ID, Method: m.Method, Params: m.Params, event: r.events - 1, path: "params"}
		ask.of, ask.Shared = r.ownerOf(e, m)
		if ask.of != nil {
			r.asks[askKey(e, m.ID)] = ask
			ask.of.Steps = append(ask.of.Steps, Step{Asked: ask})
		}
	default:
		if of, _ := r.ownerOf(e, m); of != nil {
			of.Steps = append(of.Steps, Step{Notified: raw})
		}
	}
}

// respond takes the response to a request.
func (r *reader) respond(e *trace.Event, m *trace.Message) {
	request := r.find(e, func(q *Request) bool { return bytes.Equal(q.ID, m.ID) })
	if request == nil {
		return
	}
	request.Result, request.Error, request.event = m.Result, m.Error, r.events-1
	if e.Frame.HTTP != nil {
		request.Status = e.Frame.HTTP.Status
	}
	r.open = slices.DeleteFunc(r.open, func(q *Request) bool { return q == request })
	r.done = append(r.done, request)
	if request.Method == "initialize" {
		version, _ := jsonvalue.TextOf(jsonvalue.Part(m.Result, "protocolVersion"))
		r.revisions[e.Frame.Session], request.Revision = version, version
	}
	if r.recording.Revision == "" && m.Result != nil {
		r.recording.Revision = request.Revision
	}
}

// left notes that the client closed the response to a request, which cancels it in a revision without sessions.
func (r *reader) left(e *trace.Event) {
	of := r.find(e, func(q *Request) bool { return q.session == "" && (e.Call > 0 || len(r.open) == 1) })
	if of != nil {
		of.Steps = append(of.Steps, Step{Canceled: true})
	}
}

// find returns the open request that an event is about: that of its case if it has one, else the newest.
func (r *reader) find(e *trace.Event, is func(*Request) bool) *Request {
	var found *Request
	for _, q := range r.open {
		sameSession := q.session == "" || q.session == e.Frame.Session
		sameCase := e.Call == 0 || q.call == 0 || q.caseID == e.Case+e.Tool && q.call == e.Call
		if sameSession && sameCase && is(q) {
			found = q
		}
	}
	return found
}

// guessed reports whether an event has its call only because that was the newest of several: a tap over stdio knows no
// better.
func (r *reader) guessed(e *trace.Event) bool {
	n := 0
	for _, q := range r.open {
		if q.session == e.Frame.Session && Carriers[q.Method] != "" {
			n++
		}
	}
	return n > 1 && (r.tapped || e.Call == 0)
}

// ownerOf returns the open request during which the server sent a message; nil for none. The stream says it or, over
// stdio and on a stream of the session, the progress token; without either it is the newest call, and shared with the
// other calls.
func (r *reader) ownerOf(e *trace.Event, m *trace.Message) (of *Request, shared bool) {
	if id := r.ends[e.Frame.Stream]; id != nil {
		if of := r.find(e, func(q *Request) bool { return bytes.Equal(q.ID, id) }); of != nil {
			return of, false
		}
	}
	if m.Method == methodProgress {
		token := jsonvalue.Part(m.Params, "progressToken")
		return r.find(e, func(q *Request) bool {
			return token != nil && bytes.Equal(token, jsonvalue.Part(q.Params, "_meta.progressToken"))
		}), false
	}
	return r.find(e, func(q *Request) bool { return Carriers[q.Method] != "" }), r.guessed(e)
}

// revisionOf returns the revision that a request is in; "" before one is agreed on.
func (r *reader) revisionOf(e *trace.Event, m *trace.Message) string {
	meta, _ := jsonvalue.ReadObject(jsonvalue.Part(m.Params, "_meta"))
	if version, ok := meta[metaVersion].(string); ok {
		return version
	}
	return r.revisions[e.Frame.Session]
}

func askKey(e *trace.Event, id json.RawMessage) string { return e.Frame.Session + " " + string(id) }

// Carriers are the requests that may make the server ask (2026-07-28, basic/patterns/mrtr#supported-requests), with the
// member of their params that names what they are for. The header Mcp-Name repeats it.
var Carriers = map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

// Inputs returns the input requests of a result, in the order of their keys; nil if it asks for none.
func Inputs(result json.RawMessage) []*Ask {
	var members map[string]struct {
		Method string
		Params json.RawMessage
	}
	if raw := jsonvalue.Part(result, "inputRequests"); raw == nil || json.Unmarshal(raw, &members) != nil {
		return nil
	}
	var asks []*Ask
	for _, key := range slices.Sorted(maps.Keys(members)) {
		asks = append(asks, &Ask{Key: key, Method: members[key].Method, Params: members[key].Params})
	}
	return asks
}
