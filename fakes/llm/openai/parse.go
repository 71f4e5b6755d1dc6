package openai

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// request is a request body as OpenAI documents it. [chat.Check] judges what the parser reads leniently.
type request struct {
	jsonvalue.Members
	style                   *style // of the server whose rules apply
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
	jsonvalue.Members
	raw        json.RawMessage
	path       string
	role       string
	toolCallID string
	text       string // string content
	hasText    bool
	parts      []part // array content
	refusal    *string
	calls      []toolCall
	name       string // of the function, if the role is function
	reasoning  string // of compatible servers
}

type part struct {
	jsonvalue.Members
	path string
	raw  json.RawMessage
}

type toolCall struct {
	path, id, kind, name string
	raw                  json.RawMessage
	arguments            json.RawMessage // a string, if valid
	legacy               bool            // a function_call, which has no id
}

type tool struct {
	path, kind, name, description string
	parameters                    json.RawMessage
	strict, legacy                bool              // legacy: one of functions
	flat                          jsonvalue.Members // in Responses and in functions: the tool itself
}

// parse refuses members of an undocumented type, as the API does before all other checks.
func parse(body []byte) (*request, *dialect.Error) {
	q := new(request)
	var err error
	if q.Members, err = jsonvalue.ReadMembers(body); err != nil {
		return nil, unreadable(body, err)
	}
	if q.Members == nil {
		return nil, ours("", "", "the body is null: want a JSON object")
	}
	r := newReader()
	r.ReadAll(q.Members, "", "model", &q.model, "stream", &q.stream, "temperature", &q.temperature,
		"max_tokens", &q.maxTokens, "max_completion_tokens", &q.maxCompleted, "n", &q.n)
	if jsonvalue.IsKind(q.Raw("stop"), '"') {
		q.stop = []string{q.Text("stop")}
	} else if q.Read("stop", &q.stop) != nil {
		r.Refuse("stop", "a string or an array of strings", q.Raw("stop"))
	}
	q.messages = codecs.List(&r.Reader, q.Members, "", "messages", r.message)
	q.tools = codecs.List(&r.Reader, q.Members, "", "tools", r.tool)
	r.Each(q.Members, "", "functions", func(raw json.RawMessage, path string) {
		q.tools = append(q.tools, r.legacyFunction(raw, path))
	})
	return q, r.Err
}

type reader struct{ codecs.Reader }

func newReader() *reader {
	return &reader{codecs.Reader{Invalid: func(path, want string, got json.RawMessage) *dialect.Error {
		return wrongType(path, want, jsonvalue.JSONName(got))
	}}}
}

func (r *reader) message(m *message, raw json.RawMessage, path string) {
	m.Members, m.raw, m.path = r.Object(raw, path), raw, path
	r.ReadAll(m.Members, path, "role", &m.role, "tool_call_id", &m.toolCallID, "refusal", &m.refusal, "name", &m.name)
	if m.reasoning = m.Text("reasoning_content"); m.reasoning == "" {
		m.reasoning = m.Text("reasoning")
	}
	if m.text, m.hasText = jsonvalue.TextOf(m.Raw("content")); !m.hasText {
		m.parts = codecs.List(&r.Reader, m.Members, path, "content", r.part)
	}
	m.calls = codecs.List(&r.Reader, m.Members, path, "tool_calls", r.call)
	if m.Has("function_call") {
		m.calls = append(m.calls, r.legacyCall(m.Raw("function_call"), path+".function_call"))
	}
}

func (r *reader) part(p *part, raw json.RawMessage, path string) {
	*p = part{r.Object(raw, path), path, raw}
}

func (r *reader) call(c *toolCall, raw json.RawMessage, path string) {
	c.path, c.raw = path, raw
	o := r.Object(raw, path)
	r.Read(o, path, "id", &c.id)
	function := r.function(o, path, &c.kind, &c.name)
	if c.arguments = function.Raw("arguments"); c.kind == "custom" { // takes a text
		c.arguments = function.Raw("input")
	}
}

func (r *reader) tool(t *tool, raw json.RawMessage, path string) {
	t.path = path
	function := r.function(r.Object(raw, path), path, &t.kind, &t.name)
	r.Value(function.Raw("description"), path, memberOf(t.kind)+".description", &t.description)
	r.Value(function.Raw("strict"), path, memberOf(t.kind)+".strict", &t.strict)
	t.parameters = function.Raw("parameters")
}

// function reads the kind of a tool or call, and the name in the member of that kind, which it returns.
func (r *reader) function(o jsonvalue.Members, path string, kind, name *string) (function jsonvalue.Members) {
	r.Read(o, path, "type", kind)
	member := memberOf(*kind)
	if o.Has(member) {
		function = r.Object(o.Raw(member), path+"."+member)
	}
	r.Value(function.Raw("name"), path, member+".name", name)
	return function
}

// memberOf returns the member that describes a kind of tool or call.
func memberOf(kind string) string {
	if kind == "custom" {
		return kind
	}
	return "function"
}
