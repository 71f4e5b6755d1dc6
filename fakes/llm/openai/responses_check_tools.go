package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

const maxFlatName = 128

var hostedTools = dialect.Set(`
	apply_patch code_interpreter computer computer_use_preview file_search image_generation local_shell mcp
	namespace programmatic_tool_calling shell tool_search web_search web_search_2025_08_26 web_search_preview
	web_search_preview_2025_03_11
`)

var toolMembers = map[string]map[string]bool{
	"function": dialect.Set("type name description parameters strict async defer_loading allowed_callers output_schema"),
	"custom":   dialect.Set("type name description format defer_loading allowed_callers"),
}

func (q *responsesRequest) checkTools() *dialect.Error {
	if len(q.tools) > maxTools {
		return invalid("tools", "array_above_max_length", "there are %d tools: want at most %d", len(q.tools), maxTools)
	}
	return dialect.Each(q.tools, (*tool).checkFlat)
}

// checkFlat checks the name first: in a Chat Completions tool it is one level deeper.
func (t *tool) checkFlat() *dialect.Error {
	members, named := toolMembers[t.kind]
	switch {
	case hostedTools[t.kind]:
		return nil
	case !named:
		return invalidAt(t.path, "type", "invalid_value",
			"has the type %q: want function, custom, or a tool that the provider runs", t.kind)
	case t.name == "":
		return missing(t.path, "name")
	case !identifier.MatchString(t.name):
		return invalidAt(t.path, "name", "invalid_value", "has the name %q: want a match of %s", t.name, identifier)
	case len(t.name) > maxFlatName:
		return invalidAt(t.path, "name", "string_above_max_length", "has a name of %d characters: want at most %d",
			len(t.name), maxFlatName)
	}
	if err := onlyKnown(t.flat, t.path, members); err != nil {
		return err
	}
	if t.kind == "custom" || !dialect.IsGiven(t.parameters) {
		return nil
	}
	if err := t.checkParameters("parameters"); err != nil {
		return err
	}
	var strict bool
	if _ = t.flat.Read("strict", &strict); strict { // checked by flatTool
		if at, why := strictViolation(t.parameters, "parameters"); why != "" {
			return invalid(t.path+".parameters", "invalid_function_parameters", "the tool %s is strict, and in its %s %s",
				t.name, at, why)
		}
	}
	return nil
}

// strictForbids are JSON Schema words that a strict tool must not use.
var strictForbids = []string{"allOf", "oneOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else"}

// strictViolation finds the first violation of strictness: each object requires all its properties and allows no
// others.
func strictViolation(raw json.RawMessage, path string) (at, why string) {
	var s, properties dialect.Members
	if dialect.ReadPart(raw, &s) != nil {
		return "", ""
	}
	for _, word := range strictForbids {
		if s.Has(word) {
			return path, fmt.Sprintf("%s is used, which is not permitted", word)
		}
	}
	_ = s.Read("properties", &properties) // a wrong type counts as empty
	if s.Text("type") == "object" || s.Has("properties") {
		if string(s.Raw("additionalProperties")) != "false" {
			return path, "additionalProperties is not false"
		}
		var required []string
		_ = s.Read("required", &required)
		for _, name := range properties.Names() {
			if !slices.Contains(required, name) {
				return path, fmt.Sprintf("%s is not required: want every property in required", name)
			}
		}
	}
	for path, inner := range innerSchemas(s, path, "items", "anyOf") {
		if at, why := strictViolation(inner, path); why != "" {
			return at, why
		}
	}
	return "", ""
}

func (q *responsesRequest) checkToolChoice() *dialect.Error {
	if !q.Has("tool_choice") {
		return nil
	}
	choice, refused := readChoice(q.Members)
	if refused == nil && q.Text("tool_choice") == dialect.ChoiceRequired && len(q.tools) == 0 {
		return invalid("tool_choice", "", "tool_choice is required, and there are no tools: want it only with tools")
	}
	if choice == nil {
		return refused
	}
	kind := choice.Text("type")
	switch {
	case kind == "allowed_tools":
		return q.checkAllowed(choice)
	case hostedTools[kind]:
		return nil
	case toolMembers[kind] == nil:
		return invalid("tool_choice.type", "invalid_value",
			"tool_choice has the type %q: want function, custom, allowed_tools, or a tool that the provider runs", kind)
	case !choice.Has("name"):
		return missing("tool_choice", "name")
	}
	return q.offered(choice, "tool_choice")
}

// checkAllowed requires a mode, and only offered tools.
func (q *responsesRequest) checkAllowed(choice dialect.Members) *dialect.Error {
	if mode := choice.Text("mode"); mode != dialect.ChoiceAuto && mode != dialect.ChoiceRequired {
		return invalid("tool_choice.mode", "invalid_value", "tool_choice.mode is %q: want auto or required", mode)
	}
	var tools []dialect.Members
	if choice.Read("tools", &tools) != nil || len(tools) == 0 {
		return missing("tool_choice", "tools")
	}
	for i, t := range tools {
		if toolMembers[t.Text("type")] == nil {
			continue // run by the provider
		}
		if err := q.offered(t, fmt.Sprintf("tool_choice.tools[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

func (q *responsesRequest) offered(choice dialect.Members, path string) *dialect.Error {
	kind, name := choice.Text("type"), choice.Text("name")
	if !slices.ContainsFunc(q.tools, func(t tool) bool { return t.kind == kind && t.name == name }) {
		return invalid(strings.Split(path, ".")[0], "", "%s is the tool %q: no such tool is among the tools", path, name)
	}
	return nil
}
