package openai

import (
	"encoding/json"
	"net/url"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// EncodeRequest implements [dialect.Codec].
func (o responses) EncodeRequest(r *dialect.Request) (*url.URL, []byte) {
	input := []any{}
	for _, m := range codecs.MessagesFor(r, dialect.OpenAIResponses) {
		results, others := codecs.SplitResults(m.Content, func(_, b *dialect.Block) bool { return b.Type != dialect.Audio })
		for _, b := range results {
			input = append(input, jsonvalue.Ordered("type", "function_call_output", "call_id", b.ID,
				"output", flatContent(dialect.User, b.Content)))
		}
		input = append(input, itemsOf(m.Role, others)...)
	}
	var tools []any
	for _, t := range r.Tools {
		if hostedTools[t.Name] && t.InputSchema == nil {
			tools = append(tools, jsonvalue.Ordered("type", t.Name))
			continue
		}
		tools = append(tools, jsonvalue.Ordered("type", "function", "name", t.Name,
			"description", jsonvalue.OrAbsent(t.Description), "parameters", codecs.Schema(t), "strict", false))
	}
	return &url.URL{Path: o.base + "/responses"}, jsonvalue.Ordered("model", r.Model,
		"instructions", jsonvalue.OrAbsent(r.System), "input", input, "tools", jsonvalue.ListOrAbsent(tools),
		"tool_choice", choiceBody(r, true), "max_output_tokens", jsonvalue.OrAbsent(r.MaxTokens),
		"temperature", jsonvalue.OrAbsent(r.Temperature), "stream", r.Stream, "store", false)
}

// itemsOf writes a turn: a message for what is said in a row, and an item for each other block.
func itemsOf(role dialect.Role, blocks []dialect.Block) (items []any) {
	var said []dialect.Block
	say := func() {
		if said != nil {
			items = append(items, jsonvalue.Ordered("type", "message", "role", role, "content", flatContent(role, said)))
			said = nil
		}
	}
	for _, b := range blocks {
		var item json.RawMessage
		switch {
		case b.Type == dialect.ToolUse:
			item = jsonvalue.Ordered("type", "function_call", "call_id", b.ID, "name", b.Name, "arguments", string(b.Input))
		case b.Type == dialect.Thinking:
			summary := []any{}
			if b.Text != "" {
				summary = append(summary, jsonvalue.Ordered("type", "summary_text", "text", b.Text))
			}
			item = jsonvalue.Ordered("type", "reasoning", "id", jsonvalue.OrAbsent(b.ID), "summary", summary,
				"encrypted_content", jsonvalue.OrAbsent(b.Signature))
		case b.Type == dialect.Other && !isPart(b.Raw):
			item = b.Raw
		default:
			said = append(said, b)
			continue
		}
		say()
		items = append(items, item)
	}
	say()
	return items
}

// isPart reports whether JSON is a part of a message, not an item.
func isPart(raw json.RawMessage) bool {
	var o jsonvalue.Members
	return jsonvalue.ReadPart(raw, &o) == nil && responsesAPI.Has("flat_part", o.Text("type"))
}

func flatContent(role dialect.Role, blocks []dialect.Block) any {
	if text, isText := onlyText(blocks); isText {
		return text
	}
	kind := "input_text"
	if role == dialect.Assistant {
		kind = "output_text"
	}
	parts := make([]any, len(blocks))
	for i, b := range blocks {
		switch b.Type {
		case dialect.Text:
			parts[i] = jsonvalue.Ordered("type", kind, "text", b.Text)
		case dialect.Image:
			parts[i] = jsonvalue.Ordered("type", "input_image", "image_url", address(&b))
		case dialect.Audio:
			parts[i] = audioPart(&b)
		default:
			parts[i] = b.Raw
		}
	}
	return parts
}
