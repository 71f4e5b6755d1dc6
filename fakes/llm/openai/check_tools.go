package openai

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// toolName is the pattern of valid tool names, maxTools the maximum number of tools.
const (
	toolName = `^[a-zA-Z0-9_-]{1,64}$`
	maxTools = 128
)

func isToolName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return 1 <= len(name) && len(name) <= 64
}

func checkTools(q *request) *dialect.Error {
	switch {
	case q.Has("tools") && len(q.tools) == 0:
		return invalid("tools", "empty_array", "tools is empty: want at least one tool, or no tools")
	case len(q.tools) > maxTools:
		return invalid("tools", "array_above_max_length", "there are %d tools: want at most %d", len(q.tools), maxTools)
	case !q.Has("tools") && q.Has("parallel_tool_calls"):
		return invalid("parallel_tool_calls", "", "parallel_tool_calls is set without tools: want it only with tools")
	}
	return dialect.Each(q.tools, (*tool).check)
}

func (t *tool) check() *dialect.Error {
	if t.kind != "function" && t.kind != "custom" {
		return invalidAt(t.path, "type", "invalid_value", "has the type %q: want function", t.kind)
	}
	at := t.path + "." + t.kind
	if t.name == "" {
		return invalidAt(at, "name", "missing_required_parameter", "has no name")
	}
	if !isToolName(t.name) {
		return invalidAt(at, "name", "invalid_value", "has the name %q: want a match of %s", t.name, toolName)
	}
	if t.kind == "custom" || !dialect.IsGiven(t.parameters) {
		return nil
	}
	return t.checkParameters("function.parameters")
}

// checkParameters requires an object schema with properties. JSON Schema does not require properties: MCP tools without
// arguments often fail here.
func (t *tool) checkParameters(member string) *dialect.Error {
	const code = "invalid_function_parameters"
	var isObject, hasProperties bool
	var forbidden string
	isSchema := dialect.EachMember(t.parameters, func(name []byte, value json.RawMessage) {
		switch string(name) {
		case "type":
			kind, _ := dialect.TextOf(value)
			isObject = kind == "object"
		case "properties":
			hasProperties = dialect.IsGiven(value)
		default:
			if topLevelForbidden[string(name)] {
				forbidden = string(name)
			}
		}
	})
	refuse := func(code, format string, args ...any) *dialect.Error {
		return invalid(t.path+"."+member, code, format, append([]any{t.name}, args...)...)
	}
	switch at := withoutItems(t.parameters, "parameters"); {
	case !isSchema:
		return refuse("invalid_type", "the parameters of tool %s are no schema: want an object, got %s",
			dialect.JSONName(t.parameters))
	case !isObject:
		return refuse(code, `the parameters of tool %s have no "type": "object": want the schema of an object`)
	case !hasProperties:
		return refuse(code, "the parameters of tool %s have no properties: want them in every object schema, "+
			`"properties": {} if there are none`)
	case forbidden != "":
		return refuse(code, "the parameters of tool %s have %s at their top level, where it is not possible", forbidden)
	case at != "":
		return refuse(code, "the tool %s has an array without items at %s: want items in the schema of every array", at)
	}
	return nil
}

func checkToolChoice(q *request) *dialect.Error {
	if !q.Has("tool_choice") {
		return nil
	}
	if !q.Has("tools") {
		return invalid("tool_choice", "", "tool_choice is set without tools: want it only with tools")
	}
	choice, refused := readChoice(q.Members)
	if choice == nil {
		return refused
	}
	var inner dialect.Members
	kind := choice.Text("type")
	_ = choice.Read(kind, &inner)
	switch kind {
	case "allowed_tools":
		return nil
	case "function", "custom":
		name := inner.Text("name")
		if !slices.ContainsFunc(q.tools, func(t tool) bool { return t.kind == kind && t.name == name }) {
			return invalid("tool_choice", "invalid_value", "tool_choice is the tool %q: no such tool is among the tools", name)
		}
		return nil
	}
	return invalid("tool_choice.type", "invalid_value",
		"tool_choice has the type %q: want function, custom or allowed_tools", kind)
}

// readChoice reads a tool choice that is an object; nil for a mode. It refuses unknown modes and other types.
func readChoice(q dialect.Members) (choice dialect.Members, refused *dialect.Error) {
	raw := q.Raw("tool_choice")
	if mode, isText := dialect.TextOf(raw); isText {
		if !slices.Contains([]string{dialect.ChoiceAuto, dialect.ChoiceNone, dialect.ChoiceRequired}, mode) {
			refused = invalid("tool_choice", "invalid_value", "tool_choice is %q: want auto, none, required, or an object", mode)
		}
		return nil, refused
	}
	if q.Read("tool_choice", &choice) != nil {
		return nil, invalid("tool_choice", "invalid_type",
			"tool_choice has the wrong type: want a string or an object, got %s", dialect.JSONName(raw))
	}
	return choice, nil
}

// topLevelForbidden are forbidden at the top level of a function's schema.
var topLevelForbidden = dialect.Set("oneOf anyOf allOf enum not")

// withoutItems returns the path of an array without items in a schema, or "". JSON Schema allows it, so MCP servers use
// it; the API does not.
func withoutItems(raw json.RawMessage, path string) (at string) {
	if !bytes.Contains(raw, []byte(`"array"`)) {
		return ""
	}
	var s dialect.Members
	if dialect.ReadPart(raw, &s) != nil {
		return ""
	}
	if s.Text("type") == "array" && !s.Has("items") {
		return path
	}
	for path, inner := range innerSchemas(s, path, "anyOf", "oneOf", "allOf", "items") {
		if at := withoutItems(inner, path); at != "" {
			return at
		}
	}
	return ""
}

// innerSchemas yields the paths and schemas of properties and definitions, then those of the other members: items has
// one schema, the others have lists.
func innerSchemas(s dialect.Members, path string, others ...string) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for _, holder := range []string{"properties", "$defs", "definitions"} {
			var inner dialect.Members
			_ = s.Read(holder, &inner) // a wrong type counts as empty
			for _, name := range inner.Names() {
				if !yield(path+"."+holder+"."+name, inner.Raw(name)) {
					return
				}
			}
		}
		for _, holder := range others {
			if holder == "items" {
				if !yield(path+".items", s.Raw(holder)) {
					return
				}
				continue
			}
			var all []json.RawMessage
			_ = s.Read(holder, &all)
			for i, raw := range all {
				if !yield(dialect.At(path+"."+holder, i), raw) {
					return
				}
			}
		}
	}
}
