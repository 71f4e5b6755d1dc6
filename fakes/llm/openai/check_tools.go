package openai

import (
	"regexp"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The limits of tools and their names.
const (
	maxName  = 64
	maxTools = 128
)

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func checkName(path, name string) *dialect.Error {
	switch {
	case len(name) > maxName:
		return tooLong(path, "string", "a", maxName, len(name))
	case !toolName.MatchString(name):
		return noMatch(path, toolName.String())
	}
	return nil
}

// checkTools leaves it to compatible servers how many tools they take, and of which types, such as OpenRouter's
// openrouter:web_search and Groq's browser_search. OpenAI accepts an empty list since 2025; some of those servers
// refuse it.
func checkTools(q *request) *dialect.Error {
	if !q.style.isOpenAI {
		return codecs.Each(q.tools, func(t *tool) *dialect.Error {
			if t.kind != "function" {
				return nil
			}
			return t.check(q.style)
		})
	}
	switch {
	case len(q.tools) > maxTools:
		return tooLong("tools", "array", "an", maxTools, len(q.tools))
	case !q.Has("tools") && q.Has("parallel_tool_calls"):
		return onlyWith("parallel_tool_calls", "tools")
	}
	if q.Has("functions") && len(q.tools) == 0 {
		return emptyArray("functions")
	}
	return codecs.Each(q.tools, func(t *tool) *dialect.Error { return t.check(q.style) })
}

func (t *tool) check(s *style) *dialect.Error {
	if t.kind != "function" && t.kind != "custom" {
		return unsupported(t.path+".type", t.kind, "function", "custom")
	}
	at, parameters := t.path+"."+t.kind, "function.parameters"
	if t.legacy {
		at, parameters = t.path, "parameters"
	}
	if t.name == "" {
		return missing(at, "name")
	}
	if err := checkName(at+".name", t.name); err != nil {
		return err
	}
	if t.kind == "custom" || !jsonvalue.IsGiven(t.parameters) {
		return nil
	}
	if !s.isOpenAI && jsonvalue.IsKind(t.parameters, '{') {
		return nil // the servers differ in what they require of a schema
	}
	return t.checkParameters(parameters, t.strict)
}

func checkToolChoice(q *request) *dialect.Error {
	if err := checkFunctionCall(q); err != nil {
		return err
	}
	if !q.Has("tool_choice") {
		return nil
	}
	if !q.style.isOpenAI && (!q.Has("tools") || jsonvalue.IsKind(q.Raw("tool_choice"), '"')) {
		return nil // Mistral has the mode any
	}
	if !q.Has("tools") || len(q.tools) == 0 && q.Text("tool_choice") == dialect.ChoiceRequired {
		return onlyWith("tool_choice", "tools")
	}
	choice, refused := readChoice(q.Members)
	if choice == nil {
		return refused
	}
	kind := choice.Text("type")
	switch kind {
	case "allowed_tools":
		return nil
	case "function", "custom":
		name := choice.Object(kind).Text("name")
		if !slices.ContainsFunc(q.tools, func(t tool) bool { return t.kind == kind && t.name == name }) {
			return ours("tool_choice", "invalid_value",
				"Invalid value: 'tool_choice.%s.name': '%s' is not among the names in 'tools'.", kind, name)
		}
		return nil
	}
	if !q.style.isOpenAI {
		return nil // a tool of the server
	}
	return unsupported("tool_choice.type", kind, "function", "allowed_tools", "custom")
}

// readChoice reads a tool choice that is an object; nil for a mode. It refuses unknown modes and other types.
func readChoice(q jsonvalue.Members) (choice jsonvalue.Members, refused *dialect.Error) {
	raw := q.Raw("tool_choice")
	if mode, isText := jsonvalue.TextOf(raw); isText {
		if !slices.Contains([]string{dialect.ChoiceAuto, dialect.ChoiceNone, dialect.ChoiceRequired}, mode) {
			refused = unsupported("tool_choice", mode, dialect.ChoiceNone, dialect.ChoiceAuto, dialect.ChoiceRequired)
		}
		return nil, refused
	}
	if q.Read("tool_choice", &choice) != nil {
		return nil, wrongType("tool_choice", "one of a string or object", raw)
	}
	return choice, nil
}
