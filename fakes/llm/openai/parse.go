package openai

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

type node = codecs.Node

//go:embed fields.txt
var fields string

// chatAPI and responsesAPI have the members of the API reference of 2026, in fields.txt.
var (
	chatAPI      = api("chat", refuseArguments)
	responsesAPI = api("responses", refuseMember)
)

func api(root string, unknown func(path string, names []string) *dialect.Error) *codecs.API {
	return &codecs.API{Table: codecs.NewTable(fields), Root: root, Kind: kind, Unreadable: unreadable,
		WrongType: wrongType, Unknown: unknown, Outside: outside,
		NotOneOf: func(path, found string, words []string) *dialect.Error { return unsupported(path, found, words...) }}
}

// kind returns the role of a message, and the type of anything else. An item's is optional if it is a message or a
// reference.
func kind(object string, o jsonvalue.Members) string {
	switch written := o.Text("type"); {
	case object == "message":
		return o.Text("role")
	case object != "item" || written != "":
		return written
	case o.Has("role") || o.Has("content"):
		return "message"
	}
	return "item_reference"
}

// request is a request to a server. Its checks judge what is read leniently.
type request struct {
	*node
	style    *style // of the server whose rules apply
	model    string // also of the path
	tools    []tool
	messages []message // of Chat Completions
}

// message is a message of Chat Completions, and its calls.
type message struct {
	*node
	calls []toolCall
}

func parse(body []byte) (*request, *dialect.Error) {
	q, refused := chatAPI.Read(body)
	if refused != nil {
		return nil, refused
	}
	all := q.List("messages")
	messages := make([]message, len(all))
	for i := range all {
		messages[i] = message{&all[i], callsOf(&all[i])}
	}
	return &request{node: q, tools: toolsOf(q, false), messages: messages}, nil
}

func parseResponses(body []byte) (*request, *dialect.Error) {
	q, refused := responsesAPI.Read(body)
	if refused != nil {
		return nil, refused
	}
	return &request{node: q, tools: toolsOf(q, true)}, nil
}

type tool struct {
	path, kind, name, description string
	parameters                    json.RawMessage
	strict, legacy                bool  // legacy: one of functions
	flat                          *node // in Responses and in functions: the tool itself
}

// toolsOf returns the tools, then the functions, which tools replaced in 2023.
func toolsOf(q *node, flat bool) (all []tool) {
	tools, functions := q.List("tools"), q.List("functions")
	for i := range tools {
		n := &tools[i]
		t := tool{path: n.Path, kind: n.Kind}
		if t.flat = n; flat {
			t.define(n)
		} else {
			t.define(n.At(memberOf(n.Kind)))
		}
		all = append(all, t)
	}
	for i := range functions {
		t := tool{path: functions[i].Path, kind: "function", legacy: true, flat: &functions[i]}
		t.define(t.flat)
		t.strict = false
		all = append(all, t)
	}
	return all
}

func (t *tool) define(n *node) {
	t.name, t.description, t.strict, t.parameters = n.Text("name"), n.Text("description"), n.Bool("strict"),
		n.Raw("parameters")
}

type toolCall struct {
	path, id, kind, name string
	raw                  json.RawMessage
	arguments            json.RawMessage // a string, if valid
	legacy               bool            // a function_call, which has no id
}

// callsOf returns the calls of a message, and its function_call.
func callsOf(m *node) (all []toolCall) {
	for _, n := range m.List("tool_calls") {
		called := n.At(memberOf(n.Kind))
		c := toolCall{path: n.Path, id: n.Text("id"), kind: n.Kind, name: called.Text("name"), raw: n.JSON,
			arguments: called.Raw("arguments")}
		if c.kind == "custom" { // takes a text
			c.arguments = called.Raw("input")
		}
		all = append(all, c)
	}
	for _, n := range m.List("function_call") {
		all = append(all, toolCall{path: n.Path, kind: "function", name: n.Text("name"), raw: n.JSON,
			arguments: n.Raw("arguments"), legacy: true})
	}
	return all
}

// memberOf returns the member that describes a kind of tool or call.
func memberOf(kind string) string {
	if kind == "custom" {
		return kind
	}
	return "function"
}

// contents names the content member of each kind of item.
var contents = map[string]string{
	"message": "content", "function_call_output": "output", "custom_tool_call_output": "output", "reasoning": "summary",
}

func refuseArguments(_ string, names []string) *dialect.Error {
	plural := ""
	if len(names) > 1 {
		plural = "s"
	}
	return invalid("", "", "Unrecognized request argument%s supplied: %s", plural, strings.Join(names, ", "))
}

// renamedMembers maps members of Chat Completions to their names in Responses.
var renamedMembers = map[string]string{
	"messages": "input", "max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens",
	"response_format": "text.format", "reasoning_effort": "reasoning.effort", "verbosity": "text.verbosity",
	"functions": "tools", "function_call": "tool_choice",
}

func refuseMember(path string, names []string) *dialect.Error {
	name := jsonvalue.Join(path, names[0])
	if moved := renamedMembers[name]; moved != "" {
		return invalid(name, "unsupported_parameter", "Unsupported parameter: '%s'. In the Responses API, this parameter "+
			"has moved to '%s'. Try again with the new parameter. See the API documentation for more information: "+
			"https://platform.openai.com/docs/api-reference/responses/create.", name, moved)
	}
	return unknown(name)
}
