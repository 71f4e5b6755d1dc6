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

// toolMembers are the members of a tool that the caller runs.
var toolMembers = jsonvalue.Set(`
	allowed_callers cache_control defer_loading description eager_input_streaming input_examples input_schema name
	strict type
`)

func checkTools(q *request) *dialect.Error {
	names := map[string]bool{}
	for _, t := range q.tools {
		if err := t.check(q.beta); err != nil {
			return err
		}
		if t.name != "" && names[t.name] {
			return invalid("tools: Tool names must be unique.")
		}
		names[t.name] = true
	}
	return nil
}

func (t *tool) check(isBeta bool) *dialect.Error {
	if t.kind != "" && t.kind != "custom" {
		if !isBeta && !providerTool.MatchString(t.kind) {
			return unexpectedTag(t.path, t.kind, providerTools...)
		}
		return nil
	}
	if err := checkMembers(t.Members, t.path+".custom.", toolMembers, isBeta); err != nil {
		return err
	}
	if !t.Has("name") {
		return missing(t.path, "custom.name")
	}
	if !toolName.MatchString(t.name) {
		return mismatch(t.path+".custom.name", toolName)
	}
	path := place(t.path) + ".custom.input_schema"
	if !t.Has("input_schema") {
		return missing(t.path, "custom.input_schema")
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
	if q.choice == nil {
		return nil
	}
	known := jsonvalue.Set("type disable_parallel_tool_use")
	switch q.choiceType {
	case "auto":
	case "any":
		if len(q.tools) == 0 {
			return invalid("tool_choice.any may only be specified while providing tools")
		}
	case "none":
		known = jsonvalue.Set("type")
	case "tool":
		known["name"] = true
		if !slices.ContainsFunc(q.tools, func(t tool) bool { return t.name == q.choiceOf }) {
			return invalid("Tool '%s' not found in provided tools", q.choiceOf)
		}
	default:
		return unexpectedTag("tool_choice", q.choiceType, "any", "auto", "none", "tool")
	}
	return checkMembers(q.choice, "tool_choice."+q.choiceType+".", known, false)
}
