package anthropic

import (
	_ "embed"
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

type node = codecs.Node

//go:embed fields.txt
var fields string

// api has the members of a request, of a token count, and those that an anthropic-beta header adds to both, of the API
// reference of 2026, in fields.txt. That the API refuses null for two of them is in the code of its users.
var api = &codecs.API{
	Table: codecs.NewTable(fields),
	VariantPath: func(path, object, kind string) string {
		switch object {
		case "block", "inner":
			return path + "." + kind
		case "tool":
			return path + ".custom"
		}
		return path
	},
	Unreadable: func(body []byte, err error) *dialect.Error { // sternachel/claude-code#37; the reason is our reader's
		if why := codecs.NotObject(body); why != "" {
			return ours("the request body: %s", why)
		}
		return invalid("The request body is not valid JSON: %v", err)
	},
	WrongType: func(path, expected string, found json.RawMessage) *dialect.Error {
		if kind := validTypes[expected]; kind != "" {
			return invalid("%s: Input should be a valid %s", place(path), kind)
		}
		if strings.HasPrefix(path, "messages[") && expected == "an object" && !strings.Contains(path, ".") {
			return invalid("%s: Input does not match the expected shape.", place(path))
		}
		if path == "tool_choice" || strings.HasPrefix(path, "messages[") && expected == "an object" {
			return invalid("%s: Input should be an object", place(path))
		}
		return ours("%s: expected %s, found %s", place(path), expected, jsonvalue.JSONName(found))
	},
	Unknown: func(path string, names []string) *dialect.Error {
		return invalid("%s%s: Extra inputs are not permitted", place(path), names[0])
	},
	Missing: missing,
	NotOneOf: func(path, found string, words []string) *dialect.Error {
		return unexpectedTag(strings.TrimSuffix(path, ".type"), found, words...)
	},
	Outside: func(path string, v any, low, high string) *dialect.Error {
		if n, isInteger := v.(int64); isInteger && n < 0 || !isInteger && v.(float64) < 0 {
			return invalid("%s: Input should be greater than or equal to %s", path, low)
		}
		return invalid("%s: Input should be less than or equal to %s", path, high)
	},
}

// validTypes are the API's words for the types that a member may have.
var validTypes = map[string]string{"a string": "string", "an integer": "integer", "a number": "number",
	"true or false": "boolean", "an array": "list", "an array of strings": "list"}

// request is a request whose members have the documented types. [messages.Check] judges what is read leniently.
type request struct {
	*node
	system            []block
	messages          []message
	beta, interleaved bool // interleaved: a beta for thinking between tool uses
}

type message struct {
	*node
	role    string
	content []block
}

// block is a content block. A string is one text block with nil raw.
type block struct {
	*node
	path, kind string
	raw        json.RawMessage
	text       string  // of text and thinking
	id         string  // of a tool use, or the tool use of a result
	content    []block // of a tool result
}

func parse(body []byte) (*request, *dialect.Error) {
	n, refused := api.Read(body)
	if refused != nil {
		return nil, refused
	}
	q := &request{node: n, system: contentOf(n, "system", 0)}
	all := n.List("messages")
	for i := range all {
		q.messages = append(q.messages, message{&all[i], all[i].Text("role"), contentOf(&all[i], "content", maxDepth)})
	}
	return q, nil
}

// maxDepth is the depth of blocks within blocks: a tool result in a message. Deeper blocks stay raw.
const maxDepth = 1

// contentOf returns a string or an array of blocks. depth is how many levels of blocks may follow.
func contentOf(n *node, name string, depth int) []block {
	if n.IsText(name) {
		return []block{{node: new(node), path: jsonvalue.Join(n.Path, name), kind: "text", text: n.Text(name)}}
	}
	all := n.List(name)
	blocks := make([]block, len(all))
	for i := range all {
		inner := &all[i]
		b := block{node: inner, path: inner.Path, kind: inner.Kind, raw: inner.JSON}
		switch b.kind {
		case "text", "thinking":
			b.text = inner.Text(b.kind)
		case "tool_use":
			b.id = inner.Text("id")
		case "tool_result":
			b.id = inner.Text("tool_use_id")
			if depth > 0 {
				b.content = contentOf(inner, "content", depth-1)
			}
		}
		blocks[i] = b
	}
	return blocks
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

// ours refuses in our own words, where the API's are not known.
func ours(format string, args ...any) *dialect.Error {
	return invalid(format+dialect.OwnWords, args...)
}

func invalid(format string, args ...any) *dialect.Error {
	return &dialect.Error{
		Status: http.StatusBadRequest, Kind: "invalid_request_error", Message: fmt.Sprintf(format, args...),
	}
}
