package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// request is a request body as Anthropic documents it. [messages.Check] judges what the parser reads leniently.
type request struct {
	dialect.Members
	model                string
	system               []block
	messages             []message
	tools                []tool
	choice, thinking     dialect.Members
	metadata             dialect.Members
	stream               bool
	maxTokens            *int64
	temperature, topP    *float64
	stopSequences        []string
	disableParallel      *bool
	budget               *int64
	choiceType, choiceOf string
}

type message struct {
	dialect.Members
	path, role string
	content    []block
}

// block is a content block. A string is one text block with nil raw.
type block struct {
	dialect.Members
	path, kind string
	raw        json.RawMessage
	text       string  // of text and thinking
	id         string  // of a tool use, or the tool use of a result
	name       string  // of a tool use
	isError    bool    // of a tool result
	content    []block // of a tool result
	source     dialect.Members
}

type tool struct {
	dialect.Members
	path, kind, name, description string
}

// parse refuses members of an undocumented type, as the API does before all other checks.
func parse(body []byte) (*request, *dialect.Error) {
	var q request
	var err error
	if q.Members, err = dialect.ReadMembers(body); err != nil {
		return nil, invalid("the request body could not be read as a JSON object: %v", err)
	}
	if q.Members == nil {
		return nil, invalid("the request body is null: want a JSON object")
	}
	r := &reader{}
	r.read(q.Members, "", "model", &q.model)
	r.read(q.Members, "", "stream", &q.stream)
	r.read(q.Members, "", "metadata", &q.metadata)
	q.maxTokens = optional[int64](r, q.Members, "", "max_tokens")
	q.temperature = optional[float64](r, q.Members, "", "temperature")
	q.topP = optional[float64](r, q.Members, "", "top_p")
	r.read(q.Members, "", "stop_sequences", &q.stopSequences)
	r.read(q.Members, "", "thinking", &q.thinking)
	q.budget = optional[int64](r, q.thinking, "thinking.", "budget_tokens")
	r.read(q.Members, "", "tool_choice", &q.choice)
	r.read(q.choice, "tool_choice.", "type", &q.choiceType)
	r.read(q.choice, "tool_choice.", "name", &q.choiceOf)
	q.disableParallel = optional[bool](r, q.choice, "tool_choice.", "disable_parallel_tool_use")
	q.system = r.content(q.Members, "", "system", 0)
	var list []json.RawMessage
	r.read(q.Members, "", "messages", &list)
	q.messages = make([]message, len(list))
	for i, raw := range list {
		q.messages[i] = r.message(raw, at("messages", i))
	}
	list = nil
	r.read(q.Members, "", "tools", &list)
	for i, raw := range list {
		q.tools = append(q.tools, r.tool(raw, at("tools", i)))
	}
	return &q, r.err
}

func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// reader reads members and keeps the first error.
type reader struct{ err *dialect.Error }

func (r *reader) read(o dialect.Members, path, name string, v any) {
	if o.Read(name, v) != nil {
		r.refuse(path+name, dialect.TypeName(v), o.Raw(name))
	}
}

func (r *reader) object(raw json.RawMessage, path string) dialect.Members {
	var o dialect.Members
	if dialect.ReadPart(raw, &o) != nil || o == nil {
		r.refuse(path, "an object", raw)
	}
	return o
}

func (r *reader) refuse(path string, want string, got json.RawMessage) {
	if r.err == nil {
		r.err = invalid("%s: want %s, got %s", path, want, dialect.JSONName(got))
	}
}

func optional[T any](r *reader, o dialect.Members, path, name string) *T {
	if !o.Has(name) {
		return nil
	}
	v := new(T)
	r.read(o, path, name, v)
	return v
}

func (r *reader) message(raw json.RawMessage, path string) message {
	m := message{Members: r.object(raw, path), path: path}
	r.read(m.Members, path+".", "role", &m.role)
	m.content = r.content(m.Members, path+".", "content", deepest)
	return m
}

// deepest is the depth of blocks within blocks: a tool result in a message. Deeper blocks stay raw.
const deepest = 1

// content reads a string or an array of blocks. depth is how many levels of blocks may follow.
func (r *reader) content(of dialect.Members, path, name string, depth int) []block {
	if dialect.IsKind(of.Raw(name), '"') {
		return []block{{path: path + name, kind: "text", text: of.Text(name)}}
	}
	var list []json.RawMessage
	r.read(of, path, name, &list)
	if len(list) == 0 {
		return nil
	}
	blocks := make([]block, len(list))
	for i, raw := range list {
		blocks[i] = r.block(raw, at(path+name, i), depth)
	}
	return blocks
}

func (r *reader) block(raw json.RawMessage, path string, depth int) block {
	b := block{Members: r.object(raw, path), path: path, raw: raw}
	at := path + "."
	r.read(b.Members, at, "type", &b.kind)
	switch b.kind {
	case "text", "thinking":
		r.read(b.Members, at, b.kind, &b.text)
	case "image":
		r.read(b.Members, at, "source", &b.source)
	case "tool_use":
		r.read(b.Members, at, "id", &b.id)
		r.read(b.Members, at, "name", &b.name)
	case "tool_result":
		r.read(b.Members, at, "tool_use_id", &b.id)
		r.read(b.Members, at, "is_error", &b.isError)
		if depth > 0 {
			b.content = r.content(b.Members, at, "content", depth-1)
		}
	}
	return b
}

func (r *reader) tool(raw json.RawMessage, path string) tool {
	t := tool{Members: r.object(raw, path), path: path}
	r.read(t.Members, path+".", "type", &t.kind)
	r.read(t.Members, path+".", "name", &t.name)
	r.read(t.Members, path+".", "description", &t.description)
	return t
}

func invalid(format string, args ...any) *dialect.Error {
	return &dialect.Error{Status: http.StatusBadRequest, Kind: "invalid_request_error", Message: fmt.Sprintf(format, args...)}
}
