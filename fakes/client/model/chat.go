package model

import (
	"cmp"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func (m *Model) chatBody(params map[string]any) (map[string]any, error) {
	body := map[string]any{"model": m.openAI(params), "max_tokens": params["maxTokens"]}
	var err error
	if body["messages"], err = chatHistory(params, chatMessages); err != nil {
		return nil, err
	}
	if tools := functionsOf(params); tools != nil {
		body["tools"] = tools
		if params["toolChoice"] != nil {
			body["tool_choice"] = choiceOf(params)
		}
	}
	copyMembers(body, params, map[string]string{"temperature": "temperature", "stopSequences": "stop"})
	if !m.options.Plain {
		body["stream"] = true
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	return body, nil
}

func (m *Model) openAI(params map[string]any) string {
	return modelName(params, cmp.Or(m.options.Model, "gpt-4o"), "gpt-4o-mini", "gpt-4.1")
}

func functionsOf(params map[string]any) []any {
	var functions []any
	for _, tool := range toolsOf(params, "parameters") {
		functions = append(functions, map[string]any{"type": "function", "function": tool})
	}
	return functions
}

// chatMessages writes one message of MCP: each tool result becomes a message of its own.
func chatMessages(role string, blocks []map[string]any) ([]any, error) {
	if role == "assistant" {
		return chatAssistant(blocks)
	}
	var messages, parts, shown []any
	for _, b := range blocks {
		if b["type"] != "tool_result" {
			part, err := chatPart(b)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
			continue
		}
		content, media, err := resultContent(b)
		if err != nil {
			return nil, err
		}
		messages = append(messages, map[string]any{"role": "tool", "tool_call_id": b["toolUseId"], "content": content})
		after, err := convertBlocks(media, chatPart)
		if err != nil {
			return nil, err
		}
		shown = append(shown, after...)
	}
	if shown != nil { // tool messages hold text only: media follow them
		messages = append(messages, map[string]any{"role": "user", "content": shown})
	}
	if len(parts) == 1 && blocks[0]["type"] == "text" {
		messages = append(messages, map[string]any{"role": "user", "content": blocks[0]["text"]})
	} else if parts != nil {
		messages = append(messages, map[string]any{"role": "user", "content": parts})
	}
	return messages, nil
}

func chatAssistant(blocks []map[string]any) ([]any, error) {
	m := map[string]any{"role": "assistant"}
	var calls []any
	var said []string
	for _, b := range blocks {
		switch b["type"] {
		case "text":
			said = append(said, jsonvalue.TextIn(b, "text"))
		case "tool_use":
			calls = append(calls, map[string]any{"id": b["id"], "type": "function", "function": map[string]any{
				"name": b["name"], "arguments": string(jsonvalue.Marshal(b["input"]))}})
		default:
			return nil, refusal("the model does not accept %v in its own turn", b["type"])
		}
	}
	if said != nil {
		m["content"] = strings.Join(said, "\n")
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return []any{m}, nil
}

func chatPart(b map[string]any) (map[string]any, error) {
	switch b["type"] {
	case "text":
		return map[string]any{"type": "text", "text": b["text"]}, nil
	case "image":
		return map[string]any{"type": "image_url", "image_url": map[string]any{"url": dataURL(b)}}, nil
	case "audio":
		return inputAudio(b), nil
	}
	return nil, notAccepted(b)
}

func dataURL(b map[string]any) string {
	return "data:" + jsonvalue.TextIn(b, "mimeType") + ";base64," + jsonvalue.TextIn(b, "data")
}

func inputAudio(b map[string]any) map[string]any {
	_, format, _ := strings.Cut(jsonvalue.TextIn(b, "mimeType"), "/")
	if format = strings.TrimPrefix(format, "x-"); format == "mpeg" {
		format = "mp3"
	}
	return map[string]any{"type": "input_audio", "input_audio": map[string]any{"data": b["data"], "format": format}}
}
