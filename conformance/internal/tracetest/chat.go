package tracetest

import (
	"encoding/json"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// asChat is a sampling request as a right client puts it to OpenAI.
func AsChat(p *server.CreateMessageParams) story.Object {
	var params struct {
		SystemPrompt  string
		MaxTokens     int
		Temperature   *float64
		StopSequences []string
		Messages      []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
	}
	if err := json.Unmarshal(dialect.Marshal(p), &params); err != nil {
		panic(err)
	}
	var messages []any
	if params.SystemPrompt != "" {
		messages = append(messages, story.Object{"role": "system", "content": params.SystemPrompt})
	}
	for _, m := range params.Messages {
		messages = append(messages, chatMessages(m.Role, m.Content)...)
	}
	body := story.Object{"model": "gpt-4o", "max_tokens": params.MaxTokens, "messages": messages}
	if params.Temperature != nil {
		body["temperature"] = *params.Temperature
	}
	if params.StopSequences != nil {
		body["stop"] = params.StopSequences
	}
	var tools []any
	for _, t := range params.Tools {
		tools = append(tools, story.Object{"type": "function", "function": story.Object{"name": t.Name, "description": t.Description, "parameters": t.InputSchema}})
	}
	if tools != nil {
		body["tools"] = tools
	}
	return body
}

// chatBlock is a block of any type.
type chatBlock struct {
	Type, Text, ID, Name, ToolUseID string
	Data, MimeType                  string
	Input                           json.RawMessage
	Content                         []json.RawMessage
	StructuredContent               json.RawMessage
	IsError                         bool
}

// chatMessages is one message of MCP, of which each tool result is a message of its own.
func chatMessages(role string, content json.RawMessage) []any {
	var blocks []chatBlock
	if json.Unmarshal(content, &blocks) != nil {
		blocks = make([]chatBlock, 1)
		if err := json.Unmarshal(content, &blocks[0]); err != nil {
			panic(err)
		}
	}
	var messages, calls []any
	for _, b := range blocks {
		switch b.Type {
		case "text":
			messages = append(messages, story.Object{"role": role, "content": b.Text})
		case "image":
			messages = append(messages, story.Object{"role": role, "content": []any{story.Object{"type": "image_url", "image_url": story.Object{"url": "data:" + b.MimeType + ";base64," + b.Data}}}})
		case "audio":
			messages = append(messages, story.Object{"role": role, "content": []any{story.Object{"type": "input_audio", "input_audio": story.Object{"format": "wav", "data": b.Data}}}})
		case "tool_use":
			calls = append(calls, story.Object{"id": b.ID, "type": "function", "function": story.Object{"name": b.Name, "arguments": string(b.Input)}})
		case "tool_result":
			messages = append(messages, story.Object{"role": "tool", "tool_call_id": b.ToolUseID, "content": resultText(b)})
		}
	}
	if calls != nil {
		messages = append(messages, story.Object{"role": "assistant", "tool_calls": calls})
	}
	return messages
}

// resultText is what a tool result holds, as text.
func resultText(b chatBlock) string {
	var texts []string
	if b.IsError {
		texts = append(texts, "Error:")
	}
	for _, raw := range b.Content {
		var inner chatBlock
		if json.Unmarshal(raw, &inner) == nil && inner.Type == "text" {
			texts = append(texts, inner.Text)
		} else {
			texts = append(texts, string(raw))
		}
	}
	if len(texts) == 0 {
		texts = append(texts, string(b.StructuredContent))
	}
	return strings.Join(texts, "\n")
}
