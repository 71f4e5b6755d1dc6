package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// request is a request body as Anthropic documents it. [messages.Check] judges what the parser reads leniently.
type request struct {
	jsonvalue.Members
	model                string
	system               []block
	messages             []message
	tools                []tool
	choice, thinking     jsonvalue.Members
	metadata             jsonvalue.Members
	stream, beta         bool
	interleaved          bool // a beta for thinking between tool uses
	maxTokens            *int64
	temperature, topP    *float64
	stopSequences        []string
	budget               *int64
	choiceType, choiceOf string
}

type message struct {
	jsonvalue.Members
	path, role string
	content    []block
}

// block is a content block. A string is one text block with nil raw.
type block struct {
	jsonvalue.Members
	path, kind string
	raw        json.RawMessage
	text       string  // of text and thinking
	id         string  // of a tool use, or the tool use of a result
	name       string  // of a tool use
	isError    bool    // of a tool result
	content    []block // of a tool result
	source     jsonvalue.Members
}

type tool struct {
	jsonvalue.Members
	path, kind, name, description string
}

// parse refuses members of an undocumented type, as the API does before all other checks.
func parse(body []byte) (*request, *dialect.Error) {
	var q request
	var err error
	if q.Members, err = jsonvalue.ReadMembers(body); err != nil {
		return nil, unreadable(body, err)
	}
	if q.Members == nil {
		return nil, ours("the request body is null: want a JSON object")
	}
	r := &reader{codecs.Reader{Invalid: func(path, want string, got json.RawMessage) *dialect.Error {
		if kind := validTypes[want]; kind != "" {
			return invalid("%s: Input should be a valid %s", place(path), kind)
		}
		if path == "tool_choice" {
			return invalid("tool_choice: Input should be an object")
		}
		return ours("%s: want %s, got %s", place(path), want, jsonvalue.JSONName(got))
	}}}
	r.ReadAll(q.Members, "", "model", &q.model, "stream", &q.stream, "metadata", &q.metadata,
		"max_tokens", &q.maxTokens, "temperature", &q.temperature, "top_p", &q.topP,
		"stop_sequences", &q.stopSequences, "thinking", &q.thinking)
	r.Read(q.thinking, "thinking", "budget_tokens", &q.budget)
	r.Read(q.Members, "", "tool_choice", &q.choice)
	r.ReadAll(q.choice, "tool_choice", "type", &q.choiceType, "name", &q.choiceOf,
		"disable_parallel_tool_use", new(bool))
	for _, name := range []string{"system", "tool_choice"} {
		if raw := q.Raw(name); raw != nil && !q.Has(name) {
			r.Refuse(name, notNull[name], raw)
		}
	}
	q.system = r.content(q.Members, "", "system", 0)
	r.Each(q.Members, "", "messages", func(raw json.RawMessage, path string) {
		m := message{Members: r.Object(raw, path), path: path}
		r.Read(m.Members, path, "role", &m.role)
		m.content = r.content(m.Members, path, "content", maxDepth)
		q.messages = append(q.messages, m)
	})
	r.Each(q.Members, "", "tools", func(raw json.RawMessage, path string) {
		t := tool{Members: r.Object(raw, path), path: path}
		r.Read(t.Members, path, "type", &t.kind)
		r.ReadAll(t.Members, path+".custom", "name", &t.name, "description", &t.description)
		q.tools = append(q.tools, t)
	})
	return &q, r.Err
}

// notNull are the types of the members that the API is known to refuse as null: in the code of its users are its
// messages "system: Input should be a valid list" and "tool_choice: Input should be an object".
var notNull = map[string]string{"system": "an array", "tool_choice": "an object"}

// validTypes are the API's words for the types that a member may have.
var validTypes = map[string]string{"a string": "string", "an integer": "integer", "a number": "number",
	"true or false": "boolean", "an array": "list", "an array of strings": "list"}

type reader struct{ codecs.Reader }

// maxDepth is the depth of blocks within blocks: a tool result in a message. Deeper blocks stay raw.
const maxDepth = 1

// content reads a string or an array of blocks. depth is how many levels of blocks may follow.
func (r *reader) content(of jsonvalue.Members, path, name string, depth int) (blocks []block) {
	if jsonvalue.IsKind(of.Raw(name), '"') {
		return []block{{path: jsonvalue.Join(path, name), kind: "text", text: of.Text(name)}}
	}
	r.Each(of, path, name, func(raw json.RawMessage, path string) {
		blocks = append(blocks, r.block(raw, path, depth))
	})
	return blocks
}

func (r *reader) block(raw json.RawMessage, path string, depth int) block {
	b := block{Members: r.Object(raw, path), path: path, raw: raw}
	r.Read(b.Members, path, "type", &b.kind)
	switch tagged := b.tagged(); b.kind {
	case "text", "thinking":
		r.Read(b.Members, tagged, b.kind, &b.text)
	case "image":
		r.Read(b.Members, tagged, "source", &b.source)
	case "tool_use":
		r.ReadAll(b.Members, tagged, "id", &b.id, "name", &b.name)
	case "tool_result":
		r.ReadAll(b.Members, tagged, "tool_use_id", &b.id, "is_error", &b.isError)
		if depth > 0 {
			b.content = r.content(b.Members, path, "content", depth-1)
		}
	}
	return b
}

// place writes a path as the API does: messages.0.content.1.
func place(path string) string { return strings.NewReplacer("[", ".", "]", "").Replace(path) }

func mismatch(path string, pattern *regexp.Regexp) *dialect.Error {
	return invalid("%s: String should match pattern '%s'", place(path), pattern)
}

// unexpectedTag refuses a type that is not an expected one: AstrBotDevs/AstrBot#4444.
func unexpectedTag(path, kind string, expected ...string) *dialect.Error {
	expected = slices.Clone(expected)
	slices.Sort(expected)
	return invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags: '%s'", place(path),
		kind, strings.Join(expected, "', '"))
}

// unreadable refuses a body that is not JSON: sternachel/claude-code#37. The reason is our JSON reader's.
func unreadable(body []byte, err error) *dialect.Error {
	if json.Valid(body) {
		return ours("the request body is not a JSON object: %v", err)
	}
	return invalid("The request body is not valid JSON: %v", err)
}

// ours refuses in our own words, where the API's are not known.
func ours(format string, args ...any) *dialect.Error {
	return invalid(format+dialect.OwnWords, args...)
}

func invalid(format string, args ...any) *dialect.Error {
	return &dialect.Error{
		Status: http.StatusBadRequest, Kind: "invalid_request_error", Message: fmt.Sprintf(format, args...),
	}
}
