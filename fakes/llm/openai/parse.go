package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

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
	path       string
	raw        json.RawMessage
	role       string
	toolCallID string
	text       *string // content that is a string
	parts      []part  // content that is an array
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
	function                      dialect.Members
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
	var messages, tools []json.RawMessage
	r.read(q.Members, "", "messages", &messages)
	q.messages = make([]message, 0, len(messages))
	for i, raw := range messages {
		q.messages = append(q.messages, r.message(raw, at("messages", i)))
	}
	r.read(q.Members, "", "tools", &tools)
	q.tools = make([]tool, 0, len(tools))
	for i, raw := range tools {
		q.tools = append(q.tools, r.tool(raw, at("tools", i)))
	}
	return &q, r.err
}

// at is the path of an element.
func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// reader reads members and keeps the first that has not the documented type.
type reader struct{ err *dialect.Error }

func (r *reader) read(o dialect.Members, path, name string, v any) {
	r.member(o.Raw(name), path, name, v)
}

// member reads a member that has been found, at the path of its object. One that is null or not there is left out.
func (r *reader) member(raw json.RawMessage, path, name string, v any) {
	if raw == nil || dialect.IsKind(raw, 'n') || dialect.ReadPart(raw, v) == nil {
		return
	}
	if path != "" {
		name = path + "." + name
	}
	r.refuse(name, dialect.TypeName(v), raw)
}

// object reads an array's element.
func (r *reader) object(raw json.RawMessage, path string) dialect.Members {
	var o dialect.Members
	if dialect.ReadPart(raw, &o) != nil || o == nil {
		r.refuse(path, "an object", raw)
	}
	return o
}

func (r *reader) refuse(path string, want string, got json.RawMessage) {
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

// message reads a message, without an object for it.
func (r *reader) message(raw json.RawMessage, path string) message {
	m := message{raw: raw, path: path}
	var content, calls json.RawMessage
	if !dialect.EachMember(raw, func(name []byte, value json.RawMessage) {
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
	}) {
		r.refuse(path, "an object", raw)
	}
	if dialect.IsKind(content, '"') {
		m.text = new(string)
		r.member(content, path, "content", m.text)
	} else {
		var parts []json.RawMessage
		r.member(content, path, "content", &parts)
		for i, raw := range parts {
			path := at(path+".content", i)
			m.parts = append(m.parts, part{r.object(raw, path), path, raw})
		}
	}
	m.hasCalls = calls != nil && !dialect.IsKind(calls, 'n')
	var each []json.RawMessage
	r.member(calls, path, "tool_calls", &each)
	for i, raw := range each {
		m.calls = append(m.calls, r.call(raw, at(path+".tool_calls", i)))
	}
	return m
}

// call reads a call, of which there may be many in a history, without an object for each of its parts.
func (r *reader) call(raw json.RawMessage, path string) toolCall {
	c := toolCall{path: path, raw: raw}
	var function, custom json.RawMessage
	if !dialect.EachMember(raw, func(name []byte, value json.RawMessage) {
		switch string(name) {
		case "id":
			r.member(value, path, "id", &c.id)
		case "type":
			r.member(value, path, "type", &c.kind)
		case "function":
			function = value
		case "custom":
			custom = value
		}
	}) {
		r.refuse(path, "an object", raw)
	}
	member, arguments := "function", "arguments"
	if c.kind == "custom" { // a tool with text in place of arguments
		function, member, arguments = custom, "custom", "input"
	}
	if function == nil || dialect.IsKind(function, 'n') {
		return c
	}
	if !dialect.EachMember(function, func(name []byte, value json.RawMessage) {
		switch string(name) {
		case "name":
			r.member(value, path+".function", "name", &c.name)
		case arguments:
			c.arguments = value
		}
	}) {
		r.refuse(path+"."+member, "an object", function)
	}
	return c
}

func (r *reader) tool(raw json.RawMessage, path string) tool {
	t := tool{path: path}
	o := r.object(raw, path)
	r.read(o, path, "type", &t.kind)
	member := "function"
	if t.kind == "custom" {
		member = "custom"
	}
	r.read(o, path, member, &t.function)
	r.read(t.function, path+"."+member, "name", &t.name)
	r.read(t.function, path+"."+member, "description", &t.description)
	return t
}

func invalid(param, code, format string, args ...any) *dialect.Error {
	return &dialect.Error{
		Status: http.StatusBadRequest, Kind: "invalid_request_error", Code: code, Param: param,
		Message: fmt.Sprintf(format, args...),
	}
}
