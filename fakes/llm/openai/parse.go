package openai

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// request is a request's body as OpenAI documents it. What is read loosely here, [chat.Check] judges.
type request struct {
	dialect.Members
	style                   *style // of the server that it is held against
	model                   string
	messages                []message
	tools                   []tool
	stream                  bool
	temperature             *float64
	maxTokens, maxCompleted *int64
	n                       *int64
	stop                    []string
}

type message struct {
	raw        json.RawMessage
	paths      *paths
	path       string
	role       string
	toolCallID string
	text       string // content that is a string
	hasText    bool
	parts      []part // content that is an array
	refusal    *string
	hasAudio   bool
	hasCalls   bool // tool_calls, even if there are none in it
	calls      []toolCall
}

type part struct {
	dialect.Members
	path string
	raw  json.RawMessage
}

type toolCall struct {
	path, id, kind, name string
	raw                  json.RawMessage
	arguments            json.RawMessage // a string, if it is right
}

type tool struct {
	path, kind, name, description string
	parameters                    json.RawMessage
	flat                          dialect.Members // of Responses, where all stands in the tool itself
}

// parse refuses what has not the documented type, as the API does before it looks at anything else.
func parse(body []byte) (*request, *dialect.Error) {
	var q request
	var err error
	if q.Members, err = dialect.ReadMembers(body); err != nil {
		return nil, invalid("", "", "the body could not be read as a JSON object: %v", err)
	}
	if q.Members == nil {
		return nil, invalid("", "", "the body is null: want a JSON object")
	}
	r := &reader{}
	r.read(q.Members, "", "model", &q.model)
	r.read(q.Members, "", "stream", &q.stream)
	q.temperature = number[float64](r, q.Members, "temperature")
	q.maxTokens = number[int64](r, q.Members, "max_tokens")
	q.maxCompleted = number[int64](r, q.Members, "max_completion_tokens")
	q.n = number[int64](r, q.Members, "n")
	if dialect.IsKind(q.Raw("stop"), '"') {
		q.stop = []string{q.Text("stop")}
	} else if q.Read("stop", &q.stop) != nil {
		r.refuse("stop", "a string or an array of strings", q.Raw("stop"))
	}
	var few [16]json.RawMessage
	messages := r.elements(few[:0], q.Raw("messages"), "", "messages")
	q.messages = make([]message, len(messages))
	for i, raw := range messages {
		m := &q.messages[i]
		m.raw, m.paths = raw, messagePaths(i)
		m.path = m.paths.message
		r.message(m)
	}
	tools := r.elements(few[:0], q.Raw("tools"), "", "tools")
	q.tools = make([]tool, len(tools))
	for i, raw := range tools {
		q.tools[i].path = at("tools", i)
		r.tool(&q.tools[i], raw)
	}
	return &q, r.err
}

// reader reads members and keeps the first that has not the documented type.
type reader struct{ err *dialect.Error }

func (r *reader) read(o dialect.Members, path, name string, v any) {
	r.member(o.Raw(name), path, name, v)
}

// member reads a member that has been found, at the path of its object. One that is null or not there is left out.
func (r *reader) member(raw json.RawMessage, path, name string, v any) {
	if !isGiven(raw) || dialect.ReadPart(raw, v) == nil {
		return
	}
	r.refuseMember(path, name, dialect.TypeName(v), raw)
}

// elements is member of an array, of which the elements are appended to all.
func (r *reader) elements(all []json.RawMessage, raw json.RawMessage, path, name string) []json.RawMessage {
	if !isGiven(raw) {
		return all
	}
	all, isArray := dialect.Elements(all, raw)
	if !isArray {
		r.refuseMember(path, name, "an array", raw)
	}
	return all
}

func (r *reader) refuseMember(path, name, want string, got json.RawMessage) {
	if path != "" {
		name = path + "." + name
	}
	r.refuse(name, want, got)
}

// object reads an array's element.
func (r *reader) object(raw json.RawMessage, path string) dialect.Members {
	var o dialect.Members
	if dialect.ReadPart(raw, &o) != nil || o == nil {
		r.refuse(path, "an object", raw)
	}
	return o
}

func (r *reader) refuse(path, want string, got json.RawMessage) {
	if r.err == nil {
		r.err = invalid(path, "invalid_type", "%s has the wrong type: want %s, got %s", path, want, dialect.JSONName(got))
	}
}

func number[T int64 | float64](r *reader, o dialect.Members, name string) *T {
	if !o.Has(name) {
		return nil
	}
	v := new(T)
	r.read(o, "", name, v)
	return v
}

// message reads a message, of which the JSON and the path are known.
func (r *reader) message(m *message) {
	path := m.path
	var content, calls json.RawMessage
	r.eachMember(m.raw, "", path, func(name []byte, value json.RawMessage) {
		switch string(name) {
		case "role":
			r.member(value, path, "role", &m.role)
		case "tool_call_id":
			r.member(value, path, "tool_call_id", &m.toolCallID)
		case "refusal":
			r.member(value, path, "refusal", &m.refusal)
		case "audio":
			m.hasAudio = !dialect.IsKind(value, 'n')
		case "content":
			content = value
		case "tool_calls":
			calls = value
		}
	})
	var few [16]json.RawMessage
	if dialect.IsKind(content, '"') {
		m.text, m.hasText = dialect.TextOf(content)
	} else {
		for i, raw := range r.elements(few[:0], content, path, "content") {
			path := at(m.paths.content, i)
			m.parts = append(m.parts, part{r.object(raw, path), path, raw})
		}
	}
	if m.hasCalls = isGiven(calls); !m.hasCalls {
		return
	}
	each := r.elements(few[:0], calls, path, "tool_calls")
	m.calls = make([]toolCall, len(each))
	for i, raw := range each {
		m.calls[i].raw, m.calls[i].path = raw, m.paths.call(i)
		r.call(&m.calls[i])
	}
}

// call reads a call, of which there may be many in a history, without an object for each of its parts.
func (r *reader) call(c *toolCall) {
	function := r.function(c.raw, c.path, &c.kind, &c.id)
	arguments := of(c.kind, "arguments", "input") // a custom tool takes a text
	r.eachMember(function, c.path, of(c.kind, "function", "custom"), func(name []byte, value json.RawMessage) {
		switch string(name) {
		case "name":
			r.member(value, c.path, of(c.kind, "function.name", "custom.name"), &c.name)
		case arguments:
			c.arguments = value
		}
	})
}

// function reads the kind, and the id where there is one, of a tool or a call, and returns what its member of that kind holds; nil where there
// is none.
func (r *reader) function(raw json.RawMessage, path string, kind, id *string) (function json.RawMessage) {
	var custom json.RawMessage
	r.eachMember(raw, "", path, func(name []byte, value json.RawMessage) {
		switch string(name) {
		case "id":
			if id != nil {
				r.member(value, path, "id", id)
			}
		case "type":
			r.member(value, path, "type", kind)
		case "function":
			function = value
		case "custom":
			custom = value
		}
	})
	if *kind == "custom" {
		function = custom
	}
	if !isGiven(function) {
		return nil
	}
	return function
}

// of chooses what a tool, or a call, of a kind has in place of a function's.
func of(kind, function, custom string) string {
	if kind == "custom" {
		return custom
	}
	return function
}

// isGiven reports whether a member is there and not null.
func isGiven(raw json.RawMessage) bool { return raw != nil && !dialect.IsKind(raw, 'n') }

// eachMember calls member for each member of what should be an object, itself a member of the one at the path; of nothing, for none.
func (r *reader) eachMember(raw json.RawMessage, path, name string, member func(name []byte, value json.RawMessage)) {
	if raw != nil && !dialect.EachMember(raw, member) {
		r.refuseMember(path, name, "an object", raw)
	}
}

// tool reads a tool, of which the path is known.
func (r *reader) tool(t *tool, raw json.RawMessage) {
	function := r.function(raw, t.path, &t.kind, nil)
	r.eachMember(function, t.path, of(t.kind, "function", "custom"), func(name []byte, value json.RawMessage) {
		switch string(name) {
		case "name":
			r.member(value, t.path, of(t.kind, "function.name", "custom.name"), &t.name)
		case "description":
			r.member(value, t.path, of(t.kind, "function.description", "custom.description"), &t.description)
		case "parameters":
			t.parameters = value
		}
	})
}

func invalid(param, code, format string, args ...any) *dialect.Error {
	return &dialect.Error{
		Status: http.StatusBadRequest, Kind: "invalid_request_error", Code: code, Param: param,
		Message: fmt.Sprintf(format, args...),
	}
}
