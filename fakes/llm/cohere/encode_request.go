package cohere

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// EncodeRequest implements [dialect.Codec]. The text before tool calls is the plan. The choice auto has no word; that
// of one tool becomes REQUIRED.
func (chat) EncodeRequest(r *dialect.Request) (*url.URL, []byte) {
	var messages []any
	tools := codecs.Functions(r.Tools)
	if r.System != "" {
		messages = append(messages, jsonvalue.Ordered("role", "system", "content", r.System))
	}
	for _, m := range codecs.MessagesFor(r, dialect.CohereChat) {
		results, others := codecs.SplitResults(m.Content, func(_, b *dialect.Block) bool {
			return b.Type == dialect.Text || b.Type == dialect.Other
		})
		for _, b := range results {
			messages = append(messages, jsonvalue.Ordered("role", "tool", "tool_call_id", b.ID, "content", contentOf(b.Content)))
		}
		if len(others) > 0 || len(results) == 0 {
			messages = append(messages, messageOf(m.Role, others))
		}
	}
	var choice any = jsonvalue.Absent
	switch {
	case len(tools) == 0 || r.ToolChoice == dialect.ChoiceAuto:
	case strings.HasPrefix(r.ToolChoice, "tool:"):
		choice = "REQUIRED"
	default:
		choice = jsonvalue.OrAbsent(strings.ToUpper(r.ToolChoice))
	}
	return &url.URL{Path: "/v2/chat"}, jsonvalue.Ordered("model", r.Model, "messages", messages,
		"tools", jsonvalue.ListOrAbsent(tools), "tool_choice", choice, "max_tokens", jsonvalue.OrAbsent(r.MaxTokens),
		"temperature", jsonvalue.OrAbsent(r.Temperature), "stop_sequences", jsonvalue.ListOrAbsent(r.StopSequences),
		"stream", r.Stream)
}

func messageOf(role dialect.Role, blocks []dialect.Block) json.RawMessage {
	var said []dialect.Block
	var calls []any
	for _, b := range blocks {
		if b.Type != dialect.ToolUse {
			said = append(said, b)
			continue
		}
		function := jsonvalue.Ordered("name", b.Name, "arguments", string(b.Input))
		calls = append(calls, jsonvalue.Ordered("id", b.ID, "type", "function", "function", function))
	}
	plan := ""
	if calls != nil && len(said) > 0 && said[0].Type == dialect.Text {
		plan, said = said[0].Text, said[1:]
	}
	var content any = jsonvalue.Absent
	if len(said) > 0 || calls == nil {
		content = contentOf(said)
	}
	return jsonvalue.Ordered("role", role, "tool_plan", jsonvalue.OrAbsent(plan), "content", content,
		"tool_calls", jsonvalue.ListOrAbsent(calls))
}

// contentOf writes a text as a string, and anything else as parts. Sounds have none.
func contentOf(blocks []dialect.Block) any {
	if len(blocks) == 0 || len(blocks) == 1 && blocks[0].Type == dialect.Text {
		return dialect.PlainText(blocks)
	}
	parts := []any{}
	for _, b := range blocks {
		switch kind := string(b.Type); b.Type {
		case dialect.Text, dialect.Thinking:
			parts = append(parts, jsonvalue.Ordered("type", kind, kind, b.Text))
		case dialect.Image:
			address := b.Text
			if address == "" {
				address = "data:" + b.MimeType + ";base64," + base64.StdEncoding.EncodeToString(b.Data)
			}
			parts = append(parts, jsonvalue.Ordered("type", "image_url", "image_url", jsonvalue.Ordered("url", address)))
		case dialect.Other:
			parts = append(parts, b.Raw)
		}
	}
	return parts
}
