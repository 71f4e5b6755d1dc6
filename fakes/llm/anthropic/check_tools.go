package anthropic

import (
	"regexp"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

var (
	// Valid tool names and tool use ids.
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	toolID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	// providerTool matches the type of a provider's tool, such as web_search_20250305.
	providerTool = regexp.MustCompile(`^[a-z_]+_[0-9]{8}$`)
)

// toolMembers are the members of a tool that the caller runs.
var toolMembers = dialect.Set(`
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
			return invalid("%s: there are two tools with the name %q: want names that differ", t.path, t.name)
		}
		names[t.name] = true
	}
	return nil
}

func (t *tool) check(isBeta bool) *dialect.Error {
	if t.kind != "" && t.kind != "custom" {
		if !isBeta && !providerTool.MatchString(t.kind) {
			return invalid("%s: it has the type %q: want custom, or no type", t.path, t.kind)
		}
		return nil
	}
	if err := checkMembers(t.Members, t.path+".", toolMembers, isBeta); err != nil {
		return err
	}
	if !toolName.MatchString(t.name) {
		return invalid("%s.name: it is %q: want a match of %s", t.path, t.name, toolName)
	}
	path := t.path + ".input_schema"
	if !t.Has("input_schema") {
		return missing(t.path, "input_schema")
	}
	var schema dialect.Members
	if t.Read("input_schema", &schema) != nil {
		return invalid("%s: want an object, got %s", path, dialect.JSONName(t.Raw("input_schema")))
	}
	if schema.Text("type") != "object" {
		return invalid(`%s.type: it is %q: want object`, path, schema.Text("type"))
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		if schema.Has(word) {
			return invalid("%s: %s is not possible at its top level", path, word)
		}
	}
	return nil
}

func checkToolChoice(q *request) *dialect.Error {
	if q.choice == nil {
		return nil
	}
	known := dialect.Set("type disable_parallel_tool_use")
	switch q.choiceType {
	case "auto":
	case "any":
		if len(q.tools) == 0 {
			return invalid("tool_choice: it is any and there are no tools: want it only with tools")
		}
	case "none":
		known = dialect.Set("type")
	case "tool":
		known["name"] = true
		if !slices.ContainsFunc(q.tools, func(t tool) bool { return t.name == q.choiceOf }) {
			return invalid("tool_choice: it is the tool %q: no such tool is among the tools", q.choiceOf)
		}
	default:
		return invalid("tool_choice: it has the type %q: want auto, any, tool or none", q.choiceType)
	}
	return checkMembers(q.choice, "tool_choice.", known, false)
}
