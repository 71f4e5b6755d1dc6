package model

import (
	"fmt"
	"maps"
	"regexp"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// toolNames are the names of tools that a provider accepts. MCP also allows dots, and up to 128 characters.
var toolNames = sync.OnceValue(func() map[string]*regexp.Regexp {
	patterns := map[string]*regexp.Regexp{}
	for name, facts := range dialects.Facts() {
		if facts.ToolNames != "" {
			patterns[name] = regexp.MustCompile(facts.ToolNames)
		}
	}
	return patterns
})

// refusedCharacter is one that any provider refuses.
var refusedCharacter = regexp.MustCompile(`[^a-zA-Z0-9_]`)

// acceptedNames returns params with names of tools that the provider accepts, and the server's names by those that were
// changed. The same tools get the same names in each round of a loop.
func acceptedNames(params map[string]any, provider string) (accepted map[string]any, given map[string]string) {
	pattern, taken := toolNames()[provider], map[string]bool{}
	var tools []map[string]any
	list, _ := params["tools"].([]any)
	for _, item := range list {
		if tool, ok := item.(map[string]any); ok {
			tools = append(tools, tool)
			taken[jsonvalue.TextIn(tool, "name")] = true
		}
	}
	for _, m := range jsonvalue.Messages(params) { // a history may have tools that are not offered any more
		tools = append(tools, jsonvalue.OfType(m["content"], "tool_use")...)
	}
	names, given := map[string]string{}, map[string]string{}
	for _, tool := range tools {
		name := jsonvalue.TextIn(tool, "name")
		if pattern == nil || name == "" || pattern.MatchString(name) || names[name] != "" {
			continue
		}
		base := "t_" + refusedCharacter.ReplaceAllString(name, "_")
		base = base[:min(len(base), 60)]
		other := base
		for n := 2; taken[other]; n++ {
			other = fmt.Sprintf("%s_%d", base, n)
		}
		names[name], given[other], taken[other] = other, name, true
	}
	if len(names) == 0 {
		return params, nil
	}
	accepted, _ = renamed(params, names).(map[string]any)
	return accepted, given
}

// renamed copies the params with other names of tools and tool uses.
func renamed(v any, names map[string]string) any {
	switch v := v.(type) {
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = renamed(item, names)
		}
		return items
	case map[string]any:
		o := maps.Clone(v)
		for _, member := range []string{"tools", "messages", "content"} {
			if inner, ok := o[member]; ok {
				o[member] = renamed(inner, names)
			}
		}
		if name := names[jsonvalue.TextIn(o, "name")]; name != "" && (o["type"] == "tool_use" || o["inputSchema"] != nil) {
			o["name"] = name
		}
		return o
	}
	return v
}
