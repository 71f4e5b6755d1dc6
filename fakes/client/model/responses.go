package model

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// minResponseTokens is the smallest limit that OpenAI's responses accept.
const minResponseTokens = 16

// responsesBody writes a request of OpenAI's responses. They have no stop sequences, which a client may leave out.
func (m *Model) responsesBody(params map[string]any) (map[string]any, error) {
	limit, _ := params["maxTokens"].(json.Number)
	if n, err := limit.Float64(); err == nil && n < minResponseTokens {
		return nil, refusal("the model does not accept a limit below %d tokens", minResponseTokens)
	}
	body := map[string]any{"model": m.openAI(params), "max_output_tokens": params["maxTokens"],
		"stream": !m.options.Plain, "store": false}
	if prompt := jsonvalue.TextIn(params, "systemPrompt"); prompt != "" {
		body["instructions"] = prompt
	}
	input, err := convertHistory(params, responsesItems)
	if err != nil {
		return nil, err
	}
	body["input"] = input
	copyMembers(body, params, map[string]string{"temperature": "temperature"})
	if tools := toolsOf(params, "parameters"); tools != nil {
		for _, tool := range tools {
			tool["type"], tool["strict"] = "function", false
		}
		body["tools"] = tools
		if params["toolChoice"] != nil {
			body["tool_choice"] = choiceOf(params)
		}
	}
	return body, nil
}

// responsesItems writes one message of MCP as items: each tool use and each tool result is one.
func responsesItems(role string, blocks []map[string]any) ([]any, error) {
	var items, parts, after []any
	for _, b := range blocks {
		switch {
		case b["type"] == "tool_use":
			items = append(items, map[string]any{"type": "function_call", "call_id": b["id"], "name": b["name"],
				"arguments": string(jsonvalue.Marshal(b["input"]))})
		case b["type"] == "tool_result":
			output, audio, err := responsesOutput(b)
			if err != nil {
				return nil, err
			}
			items = append(items, map[string]any{"type": "function_call_output", "call_id": b["toolUseId"], "output": output})
			after = append(after, audio...)
		case role == "assistant" && b["type"] != "text":
			return nil, refusal("the model does not accept %v in its own turn", b["type"])
		case role == "assistant":
			items = append(items, map[string]any{"role": role, "content": b["text"]})
		default:
			part, err := responsesPart(b)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
	}
	if parts = append(parts, after...); parts != nil {
		items = append(items, map[string]any{"role": "user", "content": parts})
	}
	return items, nil
}

func responsesPart(b map[string]any) (map[string]any, error) {
	switch b["type"] {
	case "text":
		return map[string]any{"type": "input_text", "text": b["text"]}, nil
	case "image":
		return map[string]any{"type": "input_image", "image_url": dataURL(b), "detail": "auto"}, nil
	case "audio":
		return inputAudio(b), nil
	}
	return nil, notAccepted(b)
}

// responsesOutput writes a tool result: a text, or parts if it has images. Audio cannot be in it and is returned.
func responsesOutput(b map[string]any) (output any, audio []any, err error) {
	content, media, err := resultContent(b)
	if err != nil {
		return nil, nil, err
	}
	parts := []any{map[string]any{"type": "input_text", "text": content}}
	for _, block := range media {
		part, err := responsesPart(block)
		if err != nil {
			return nil, nil, err
		}
		if block["type"] == "audio" {
			audio = append(audio, part)
		} else {
			parts = append(parts, part)
		}
	}
	if len(parts) == 1 {
		return content, audio, nil
	}
	return parts, audio, nil
}
