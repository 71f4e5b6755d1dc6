package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

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
	for _, holder := range []string{"properties", "$defs", "definitions"} {
		var inner dialect.Members
		_ = s.Read(holder, &inner) // a wrong type counts as empty
		for _, name := range inner.Names() {
			if at := withoutItems(inner.Raw(name), path+"."+holder+"."+name); at != "" {
				return at
			}
		}
	}
	for _, holder := range []string{"anyOf", "oneOf", "allOf"} {
		var choices []json.RawMessage
		_ = s.Read(holder, &choices)
		for i, choice := range choices {
			if at := withoutItems(choice, fmt.Sprintf("%s.%s[%d]", path, holder, i)); at != "" {
				return at
			}
		}
	}
	return withoutItems(s.Raw("items"), path+".items")
}
