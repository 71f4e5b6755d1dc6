package tap

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// cases finds the calls of a session and what belongs to them.
type cases struct {
	list        []trace.Case
	client      string // name and version
	revision    string
	initialized bool // the revision is that of the result of initialize

	calls   []*call
	samples []*sample
	streams map[string]*call
	counts  map[string]int // calls by case
	postOf  func(message []byte) *byte
}

// call is a call of a tool, or another request that may sample.
type call struct {
	id     string // of the case
	n      int
	name   string // method and tool
	asked  json.RawMessage
	sent   *byte           // the first one of the request, or of its last retry
	token  json.RawMessage // for progress
	state  json.RawMessage // of an input_required result that has no retry yet
	parked bool            // it has such a result
	over   bool
}

// sample is a sampling request.
type sample struct {
	id, params  json.RawMessage
	call        *call
	from, until time.Duration
	result      json.RawMessage // nil until the client answered with one
}

const never = time.Duration(1<<63 - 1)

const metaPrefix = "io.modelcontextprotocol/"

// attribute gives each frame of the session to the call that it was exchanged for.
func (s *session) attribute() {
	s.streams, s.counts = map[string]*call{}, map[string]int{}
	ends := map[string]json.RawMessage{} // by stream, the id of the response on it
	for _, e := range s.events {
		if f := e.Frame; f != nil && f.Stream != "" && f.Dir == trace.ToClient {
			if m := trace.ReadMessage(f.Raw); m.Method == "" && m.ID != nil {
				ends[f.Stream] = m.ID
			}
		}
	}
	var attributed []trace.Event
	for _, e := range s.events {
		if e.Frame == nil {
			attributed = append(attributed, e)
			continue
		}
		m := trace.ReadMessage(e.Frame.Raw)
		s.learn(&e, &m)
		var c *call
		if e.Frame.Dir == trace.FromClient {
			c = s.fromClient(&e, &m)
		} else {
			c = s.toClient(&e, &m, ends)
		}
		if c != nil {
			e.Case, e.Call = c.id, c.n
		}
		attributed = append(attributed, e)
		if c != nil && c.over && e.Frame.Dir == trace.ToClient && m.Method == "" {
			attributed = append(attributed, trace.Event{At: e.At, Case: c.id, Call: c.n,
				Mark: &trace.Mark{Name: trace.MarkHandlerEnded}})
		}
	}
	s.events = attributed
}

// learn notes what a message says of the session: the client's name, and the revision that both speak. A client that
// tries server/discover with an older server goes on with initialize.
func (s *session) learn(e *trace.Event, m *trace.Message) {
	if e.Frame.Dir == trace.ToClient {
		if version := textOf(m.Result, "protocolVersion"); version != "" {
			s.revision, s.initialized = version, true
		}
		return
	}
	said, prefix := member(m.Params, "_meta"), metaPrefix
	if m.Method == "initialize" {
		said, prefix = m.Params, ""
	} else if version := textOf(said, `["`+metaPrefix+`protocolVersion"]`); version != "" && !s.initialized {
		s.revision = version
	}
	if info := member(said, prefix+"clientInfo"); info != nil && s.client == "" {
		s.client = strings.TrimSpace(textOf(info, "name") + " " + textOf(info, "version"))
	}
}

// member returns a member of an object; nil if there is none.
func member(object json.RawMessage, name string) json.RawMessage {
	o, err := jsonvalue.ReadMembers(object)
	if err != nil {
		return nil
	}
	return o.Raw(name)
}

func (s *session) fromClient(e *trace.Event, m *trace.Message) *call {
	member, carries := replay.Carriers[m.Method]
	switch {
	case carries && m.ID != nil:
		c := s.called(e, m, textOf(m.Params, member))
		c.sent = &e.Frame.Raw[0]
		return c
	case m.Method == "notifications/cancelled":
		return s.open(func(c *call) bool { return jsonvalue.Same(c.asked, jsonvalue.Part(m.Params, "requestId")) })
	case m.Method == "" && m.ID != nil:
		for _, one := range slices.Backward(s.samples) {
			if one.until != never || !jsonvalue.Same(one.id, m.ID) {
				continue
			}
			if jsonvalue.Part(m.Result, "task") == nil { // with a task, the client asks the model later
				one.until, one.result = e.At, m.Result
			}
			return one.call
		}
	case e.Frame.Closed && e.Frame.Stream != "":
		return s.streams[e.Frame.Stream]
	}
	return nil
}

// called returns the call that a request begins, or that it continues with a retry.
func (s *session) called(e *trace.Event, m *trace.Message, name string) *call {
	full := m.Method + " " + name
	state := replay.State(m.Params)
	if state != nil || jsonvalue.Part(m.Params, "inputResponses") != nil {
		parked := s.open(func(c *call) bool { return c.parked && c.name == full && sameState(c.state, state) })
		if parked != nil {
			parked.asked, parked.parked = m.ID, false
			for _, one := range s.samples {
				if one.call == parked && one.until == never {
					one.until = e.At
					key, _ := jsonvalue.TextOf(one.id)
					one.result = member(jsonvalue.Part(m.Params, "inputResponses"), key)
				}
			}
			return parked
		}
	}
	id := "tapped/" + caseName(m.Method, name)
	if s.counts[id]++; s.counts[id] == 1 {
		one := trace.Case{ID: id, Tool: name}
		if m.Method != "tools/call" {
			one.Carrier = m.Method
		}
		s.list = append(s.list, one)
	}
	c := &call{id: id, n: s.counts[id], name: full, asked: m.ID, token: jsonvalue.Part(m.Params, "_meta.progressToken")}
	s.calls = append(s.calls, c)
	return c
}

func sameState(a, b json.RawMessage) bool {
	return a == nil && b == nil || a != nil && b != nil && bytes.Equal(a, b)
}

// caseName returns the name of a case: the tool's, with other characters replaced.
func caseName(method, name string) string {
	if method != "tools/call" {
		name = method + "-" + name
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
}

// open returns the latest call that is not over and for which is holds; nil for none.
func (s *session) open(is func(*call) bool) *call {
	for _, c := range slices.Backward(s.calls) {
		if !c.over && is(c) {
			return c
		}
	}
	return nil
}

// toClient returns the call to which a message to the client belongs; nil for none.
func (s *session) toClient(e *trace.Event, m *trace.Message, ends map[string]json.RawMessage) *call {
	if m.Method == "" && m.ID != nil {
		c := s.asked(m.ID, e.Frame.Raw)
		if c != nil {
			s.responded(c, e, m)
		}
		return c
	}
	stream := e.Frame.Stream
	of := s.ofMessage(e, m, s.ofStream(stream, e.Frame.Raw, ends))
	if of != nil && strings.HasPrefix(stream, "post") {
		s.streams[stream] = of
	}
	return of
}

// asked returns the call with the id in whose HTTP response a message came, or else the latest with the id, if it is
// not over; nil for none. Without sessions, clients use the same ids at once.
func (s *session) asked(id json.RawMessage, message []byte) *call {
	post := s.postOf(message)
	if c := s.open(func(c *call) bool { return post != nil && c.sent == post }); c != nil && jsonvalue.Same(c.asked, id) {
		return c
	}
	return s.open(func(c *call) bool { return jsonvalue.Same(c.asked, id) })
}

// ofStream returns the call whose stream it is; nil for none.
func (s *session) ofStream(stream string, message []byte, ends map[string]json.RawMessage) *call {
	if stream == "" {
		return nil
	}
	if id := ends[stream]; id != nil {
		if c := s.asked(id, message); c != nil {
			return c
		}
	}
	return s.streams[stream]
}

// ofMessage returns the call of a request or notification on the stream of a call, which is nil for no stream.
func (s *session) ofMessage(e *trace.Event, m *trace.Message, of *call) *call {
	switch {
	case m.Method != "" && m.ID != nil:
		if of == nil {
			of = s.open(func(c *call) bool { return !c.parked })
		}
		if of != nil && m.Method == "sampling/createMessage" {
			s.samples = append(s.samples, &sample{id: m.ID, params: m.Params, call: of, from: e.At, until: never})
		}
	case m.Method == "notifications/progress":
		token := jsonvalue.Part(m.Params, "progressToken")
		of = s.open(func(c *call) bool { return c.token != nil && jsonvalue.Same(c.token, token) })
	case m.Method == "notifications/cancelled":
		id := jsonvalue.Part(m.Params, "requestId")
		for _, one := range slices.Backward(s.samples) {
			if jsonvalue.Same(one.id, id) {
				return one.call
			}
		}
	}
	return of
}

// responded ends a call, or parks it if the result asks for input.
func (s *session) responded(c *call, e *trace.Event, m *trace.Message) {
	inputs, err := jsonvalue.ReadMembers(jsonvalue.Part(m.Result, "inputRequests"))
	c.state = replay.State(m.Result)
	if err != nil && c.state == nil {
		c.over = true
		return
	}
	c.parked = true
	for _, key := range inputs.Names() {
		one := inputs.Object(key)
		if one.Text("method") == "sampling/createMessage" {
			s.samples = append(s.samples, &sample{id: json.RawMessage(jsonvalue.Quote(key)), params: one.Raw("params"),
				call: c, from: e.At, until: never})
		}
	}
}
