package native

import (
	"encoding/json"
	"net/url"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// EncodeRequest implements [dialect.Codec]. The model is the hint, unless it is [DefaultModel].
func (codec) EncodeRequest(r *dialect.Request) (*url.URL, []byte) {
	messages := []any{}
	var tools []any
	for _, m := range codecs.MessagesFor(r, dialect.Native) {
		messages = append(messages, jsonvalue.Ordered("role", m.Role, "content", blocks(m.Content)))
	}
	for _, t := range r.Tools {
		tools = append(tools, jsonvalue.Ordered("name", t.Name, "description", jsonvalue.OrAbsent(t.Description),
			"inputSchema", codecs.Schema(t)))
	}
	var preferences, choice any = jsonvalue.Absent, jsonvalue.Absent
	if r.Model != "" && r.Model != DefaultModel {
		preferences = jsonvalue.Ordered("hints", []any{jsonvalue.Ordered("name", r.Model)})
	}
	if r.ToolChoice != "" && tools != nil {
		choice = jsonvalue.Ordered("mode", r.ToolChoice)
	}
	return &url.URL{Path: "/native"}, jsonvalue.Ordered("modelPreferences", preferences,
		"systemPrompt", jsonvalue.OrAbsent(r.System), "messages", messages, "tools", jsonvalue.ListOrAbsent(tools),
		"toolChoice", choice, "maxTokens", jsonvalue.OrAbsent(r.MaxTokens), "temperature", jsonvalue.OrAbsent(r.Temperature),
		"stopSequences", jsonvalue.ListOrAbsent(r.StopSequences))
}

// blocks writes a single block as an object, which all revisions have, any other number as an array.
func blocks(content []dialect.Block) any {
	all := []json.RawMessage{}
	for _, b := range content {
		if b.Type == dialect.ToolResult {
			all = append(all, jsonvalue.Ordered("type", b.Type, "toolUseId", b.ID, "content", results(b.Content),
				"isError", jsonvalue.OrAbsent(b.IsError)))
		} else if b.Type != dialect.Thinking { // which MCP does not have
			if b.Type != dialect.Other {
				b.Raw = nil
			}
			all = append(all, block(b, b.ID))
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// results writes the content of a tool result, always an array.
func results(content []dialect.Block) any {
	all := blocks(content)
	if one, isOne := all.(json.RawMessage); isOne {
		return []json.RawMessage{one}
	}
	return all
}
