package anthropic

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// EncodeRequest implements [dialect.Codec]. Images of a failed tool follow its result, which holds text only.
func (messages) EncodeRequest(r *dialect.Request) (*url.URL, []byte) {
	all, tools := []any{}, []any{}
	for _, m := range codecs.MessagesFor(r, dialect.Anthropic) {
		results, others := codecs.SplitResults(m.Content, func(result, b *dialect.Block) bool {
			return b.Type == dialect.Text || !result.IsError
		})
		all = append(all, jsonvalue.Ordered("role", m.Role, "content", blocksOf(append(results, others...))))
	}
	for _, t := range r.Tools {
		tools = append(tools, jsonvalue.Ordered("name", t.Name, "description", jsonvalue.OrAbsent(t.Description),
			"input_schema", codecs.Schema(t)))
	}
	var choice any = jsonvalue.Absent
	name, isTool := strings.CutPrefix(r.ToolChoice, "tool:")
	switch {
	case r.ToolChoice == "" || len(tools) == 0:
	case isTool:
		choice = jsonvalue.Ordered("type", "tool", "name", name)
	case r.ToolChoice == dialect.ChoiceRequired:
		choice = jsonvalue.Ordered("type", "any")
	default:
		choice = jsonvalue.Ordered("type", r.ToolChoice)
	}
	return &url.URL{Path: "/v1/messages"}, jsonvalue.Ordered("model", r.Model,
		"max_tokens", jsonvalue.OrAbsent(r.MaxTokens), "system", jsonvalue.OrAbsent(r.System), "messages", all,
		"tools", jsonvalue.ListOrAbsent(tools), "tool_choice", choice,
		"temperature", jsonvalue.OrAbsent(r.Temperature), "stop_sequences", jsonvalue.ListOrAbsent(r.StopSequences),
		"stream", jsonvalue.OrAbsent(r.Stream))
}

func blocksOf(blocks []dialect.Block) []any {
	all := []any{}
	for _, b := range blocks {
		if written := blockOf(&b); written != nil {
			all = append(all, written)
		}
	}
	return all
}

// blockOf writes a block; nil for a sound, for which the API has none.
func blockOf(b *dialect.Block) json.RawMessage {
	switch b.Type {
	case dialect.Text:
		return jsonvalue.Ordered("type", "text", "text", b.Text)
	case dialect.Thinking:
		return jsonvalue.Ordered("type", "thinking", "thinking", b.Text, "signature", b.Signature)
	case dialect.Image:
		source := jsonvalue.Ordered("type", "base64", "media_type", b.MimeType, "data", b.Data)
		if strings.Contains(b.Text, ":") {
			source = jsonvalue.Ordered("type", "url", "url", b.Text)
		} else if b.Text != "" {
			source = jsonvalue.Ordered("type", "file", "file_id", b.Text)
		}
		return jsonvalue.Ordered("type", "image", "source", source)
	case dialect.ToolUse:
		return jsonvalue.Ordered("type", "tool_use", "id", b.ID, "name", b.Name, "input", codecs.Arguments(b))
	case dialect.ToolResult:
		return jsonvalue.Ordered("type", "tool_result", "tool_use_id", b.ID, "content",
			jsonvalue.ListOrAbsent(blocksOf(b.Content)), "is_error", jsonvalue.OrAbsent(b.IsError))
	case dialect.Other:
		return b.Raw
	}
	return nil
}
