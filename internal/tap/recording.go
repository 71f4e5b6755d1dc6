package tap

import (
	"encoding/json"
	"net/http"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Recording is what a tap has seen so far. It is safe for concurrent use.
type Recording struct {
	*Frames
	header trace.Header

	mu     sync.Mutex
	start  time.Time
	events []trace.Event
	left   int64
	lost   int64
}

// maxKept is how many bytes of messages a recording keeps. What comes later passes on and is counted.
const maxKept = 512 << 20

// New returns an empty recording. The header has what is known before: the transport, and the program that records.
func New(header trace.Header) *Recording {
	r := &Recording{header: header, start: time.Now(), left: maxKept}
	r.Frames = NewFrames(func(f trace.Frame) { r.add(trace.Event{Frame: &f}) })
	return r
}

// Model returns a transport that sends requests to the model through next and records them.
func (r *Recording) Model(next http.RoundTripper) http.RoundTripper {
	return &modelTransport{record: r.add, next: next}
}

// Mark records a note, such as [trace.MarkConnection].
func (r *Recording) Mark(name, text string) {
	r.add(trace.Event{Mark: &trace.Mark{Name: name, Text: text}})
}

func (r *Recording) add(e trace.Event) {
	size := int64(128)
	switch {
	case e.Frame != nil:
		size += int64(len(e.Frame.Raw))
	case e.Request != nil:
		size += int64(len(e.Request.Body))
	case e.Chunk != nil:
		size += int64(len(e.Chunk.Data))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left -= size; r.left < 0 {
		r.lost++
		return
	}
	e.At = time.Since(r.start)
	r.events = append(r.events, e)
}

// Len returns how many events there are.
func (r *Recording) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

// Traces returns a trace for each session so far, in the order of their beginnings. A message belongs to the call of
// a tool that it was exchanged for, a request to the model to the sampling request whose texts it has.
func (r *Recording) Traces() []*trace.Trace {
	r.mu.Lock()
	events, lost := slices.Clone(r.events), r.lost
	r.mu.Unlock()
	events = slices.DeleteFunc(events, func(e trace.Event) bool { return e.Frame != nil && r.isMoved(e.Frame.Raw) })
	sessions := split(events, r.postOf)
	for _, s := range sessions {
		s.postOf = r.postOf
		s.attribute()
	}
	var traces []*trace.Trace
	for _, s := range shareModel(sessions, events) {
		traces = append(traces, s.trace(r.header, lost))
	}
	return traces
}

// session is one session of a client, with its events.
type session struct {
	id     string
	events []trace.Event
	cases
}

// split splits the frames by session. What comes before a session has an id belongs to the next one that begins.
func split(events []trace.Event, postOf func(message []byte) *byte) []*session {
	var all []*session
	by := map[string]*session{}
	of := func(id string) *session {
		if by[id] == nil {
			by[id] = &session{id: id}
			all = append(all, by[id])
		}
		return by[id]
	}
	owner := ownersOf(events, postOf)
	for i, e := range events {
		if e.Frame != nil {
			s := of(owner[i])
			s.events = append(s.events, e)
		} else if e.Mark != nil {
			s := of(e.Mark.Text) // a connection
			s.events = append(s.events, e)
		}
	}
	return all
}

// beginning is what a client sends before its session has an id: an initialize request, and before that, with the
// answer, a server/discover that an older server refuses.
type beginning struct {
	initialize int
	probe      []int
}

// owners finds the session of each frame.
type owners struct {
	events     []trace.Event
	postOf     func(message []byte) *byte
	of         []string
	asked      []int   // the server/discover requests without an answer
	refused    [][]int // those with an error, and it, that no initialize request has come after
	beginnings []beginning
}

func ownersOf(events []trace.Event, postOf func(message []byte) *byte) []string {
	o := &owners{events: events, postOf: postOf, of: make([]string, len(events))}
	for i, e := range events {
		if e.Frame == nil {
			continue
		}
		o.of[i] = e.Frame.Session
		m := trace.ReadMessage(e.Frame.Raw)
		if e.Frame.Dir == trace.ToClient {
			o.toClient(i, &m)
		} else if e.Frame.Session == "" {
			o.begins(i, &m)
		}
	}
	return o.of
}

// begins notes what a client sends before its session has an id.
func (o *owners) begins(i int, m *trace.Message) {
	switch m.Method {
	case "server/discover":
		o.asked = append(o.asked, i)
	case "initialize":
		b := beginning{initialize: i}
		if len(o.refused) > 0 {
			b.probe, o.refused = o.refused[0], o.refused[1:]
		}
		o.beginnings = append(o.beginnings, b)
	}
}

// toClient finds out what a message to the client answers.
func (o *owners) toClient(i int, m *trace.Message) {
	f := o.events[i].Frame
	if f.Session == "" && m.Method == "" {
		at := slices.IndexFunc(o.asked, func(j int) bool {
			if len(f.Raw) == 0 { // nothing says which request it answers
				return f.HTTP != nil && f.HTTP.Status >= 400
			}
			return o.postOf(f.Raw) == &o.events[j].Frame.Raw[0]
		})
		if at >= 0 {
			if m.Result == nil {
				o.refused = append(o.refused, []int{o.asked[at], i})
			}
			o.asked = slices.Delete(o.asked, at, at+1)
		}
	}
	if jsonvalue.Part(m.Result, "protocolVersion") == nil {
		return
	}
	at := slices.IndexFunc(o.beginnings, func(b beginning) bool {
		return jsonvalue.Same(trace.ReadMessage(o.events[b.initialize].Frame.Raw).ID, m.ID)
	})
	if at >= 0 {
		for _, j := range append(o.beginnings[at].probe, o.beginnings[at].initialize) {
			o.of[j] = f.Session
		}
		o.beginnings = slices.Delete(o.beginnings, at, at+1)
	}
}

// trace returns the session as a trace.
func (s *session) trace(header trace.Header, lost int64) *trace.Trace {
	sort.SliceStable(s.events, func(i, j int) bool { return s.events[i].At < s.events[j].At })
	header.Cases = s.list
	header.Client, header.Revision = s.client, s.revision
	t := &trace.Trace{Header: header, Events: s.events, Whole: lost == 0, Dropped: lost}
	Number(t)
	return t
}

// Number numbers the events of a trace anew.
func Number(t *trace.Trace) {
	seq := map[string]int64{}
	for i := range t.Events {
		e := &t.Events[i]
		seq[e.Case]++
		e.Seq = seq[e.Case]
	}
}

// lastBefore returns when the session was last active before a time; -1 for never.
func (s *session) lastBefore(at time.Duration) time.Duration {
	n := sort.Search(len(s.events), func(i int) bool { return s.events[i].At > at })
	for _, e := range slices.Backward(s.events[:n]) {
		if e.Frame != nil {
			return e.At
		}
	}
	return -1
}

// textOf returns a member of an object as text; "" if it is not a text.
func textOf(object json.RawMessage, path string) string {
	text, _ := jsonvalue.TextOf(jsonvalue.Part(object, path))
	return text
}
