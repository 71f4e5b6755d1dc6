package codecs

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// MessagesFor returns the messages for a codec that writes them: each tool result has the name of its tool, and an
// Other block of another dialect is a text, its JSON.
func MessagesFor(r *dialect.Request, name string) []dialect.Message {
	names := map[string]string{}
	var written func(blocks []dialect.Block) []dialect.Block
	written = func(blocks []dialect.Block) (all []dialect.Block) {
		for _, b := range blocks {
			switch {
			case b.Type == dialect.Other && r.Dialect != name:
				b = dialect.Block{Type: dialect.Text, Text: string(b.Raw)}
			case b.Type == dialect.ToolUse:
				names[b.ID] = b.Name
			case b.Type == dialect.ToolResult && b.Name == "":
				b.Name = names[b.ID]
			}
			b.Content = written(b.Content)
			all = append(all, b)
		}
		return all
	}
	var all []dialect.Message
	for _, m := range r.Messages {
		all = append(all, dialect.Message{Role: m.Role, Content: written(m.Content)})
	}
	return all
}

// SplitResults returns the tool results of a message, and its other blocks. What does not fit into a result precedes
// the other blocks.
func SplitResults(
	content []dialect.Block, fits func(result, inner *dialect.Block) bool,
) (results, others []dialect.Block) {
	var moved []dialect.Block
	for _, b := range content {
		if b.Type != dialect.ToolResult {
			others = append(others, b)
			continue
		}
		all := b.Content
		b.Content = nil
		for _, inner := range all {
			if fits(&b, &inner) {
				b.Content = append(b.Content, inner)
			} else {
				moved = append(moved, inner)
			}
		}
		results = append(results, b)
	}
	return results, append(moved, others...)
}

// Functions returns the tools in the form that most chat APIs share.
func Functions(tools []dialect.Tool) (all []any) {
	for _, t := range tools {
		all = append(all, jsonvalue.Ordered("type", "function", "function", jsonvalue.Ordered("name", t.Name,
			"description", jsonvalue.OrAbsent(t.Description), "parameters", Schema(t))))
	}
	return all
}

// Schema returns the input schema, or [jsonvalue.Absent] if there is none.
func Schema(t dialect.Tool) any {
	if t.InputSchema == nil {
		return jsonvalue.Absent
	}
	return t.InputSchema
}

// Arguments returns the input of a tool use as a JSON object; an invalid one is empty.
func Arguments(b *dialect.Block) json.RawMessage {
	if jsonvalue.IsKind(b.Input, '{') {
		return b.Input
	}
	return json.RawMessage("{}")
}
