package anthropic

import (
	"regexp"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var (
	// Valid tool names and tool use ids.
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	toolID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	// providerTool matches the type of a provider's tool, such as web_search_20250305. Tool search needs no date.
	providerTool = regexp.MustCompile(`^([a-z_]+_[0-9]{8}|tool_search_tool_(bm25|regex))$`)
)

// providerTools are the types that the API names in a refusal.
var providerTools = []string{"bash_20250124", "custom", "memory_20250818", "text_editor_20250124",
	"text_editor_20250429", "text_editor_20250728", "tool_search_tool_bm25", "tool_search_tool_bm25_20251119",
	"tool_search_tool_regex", "tool_search_tool_regex_20251119"}

func checkTools(q *request) *dialect.Error {
	names := map[string]bool{}
	for _, t := range q.List("tools") {
		if err := checkTool(&t, q.beta); err != nil {
			return err
		}
		name := t.Text("name")
		if name != "" && names[name] {
			return invalid("tools: Tool names must be unique.")
		}
		names[name] = true
	}
	return nil
}

func checkTool(t *node, isBeta bool) *dialect.Error {
	if t.Kind != "" && t.Kind != "custom" {
		if !isBeta && !providerTool.MatchString(t.Kind) {
			return unexpectedTag(t.Path, t.Kind, providerTools...)
		}
		return nil
	}
	if !isBeta {
		if err := api.CheckKnown(t, "tool", t.Path+".custom."); err != nil {
			return err
		}
	}
	if !t.Has("name") {
		return missing(t.Path, "custom.name")
	}
	if !toolName.MatchString(t.Text("name")) {
		return mismatch(t.Path+".custom.name", toolName)
	}
	path := place(t.Path) + ".custom.input_schema"
	if !t.Has("input_schema") {
		return missing(t.Path, "custom.input_schema")
	}
	var schema jsonvalue.Members
	if t.Read("input_schema", &schema) != nil {
		return invalid("%s: Input should be a valid dictionary", path)
	}
	if !schema.Has("type") {
		return missing(path, "type")
	}
	if schema.Text("type") != "object" {
		return invalid("%s.type: Input should be 'object'", path)
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		if schema.Has(word) {
			return invalid("%s: input_schema does not support oneOf, allOf, or anyOf at the top level", path)
		}
	}
	return nil
}

func checkToolChoice(q *request) *dialect.Error {
	choice, tools := q.At("tool_choice"), q.List("tools")
	name := choice.Text("name")
	switch kind := choice.Kind; {
	case !q.Has("tool_choice"):
		return nil
	case api.CheckValues(choice, "choice", "tool_choice") != nil:
		return api.CheckValues(choice, "choice", "tool_choice")
	case kind == "any" && len(tools) == 0:
		return invalid("tool_choice.any may only be specified while providing tools")
	case kind == "tool" && !slices.ContainsFunc(tools, func(t node) bool { return t.Text("name") == name }):
		return invalid("Tool '%s' not found in provided tools", name)
	}
	return api.CheckKnown(choice, "choice", "tool_choice."+choice.Kind+".")
}
