package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func (m *Model) anthropicBody(params map[string]any) (map[string]any, error) {
	name := modelName(params, cmp.Or(m.options.Model, "claude-sonnet-4-5"), "claude-3-5-haiku-latest", "claude-opus-4-1")
	body := map[string]any{"model": name, "max_tokens": params["maxTokens"]}
	if prompt := jsonvalue.TextIn(params, "systemPrompt"); prompt != "" {
		body["system"] = prompt
	}
	messages, err := convertHistory(params, anthropicMessage)
	if err != nil {
		return nil, err
	}
	body["messages"] = append([]any{}, messages...) // an array, also if it is empty
	if tools := toolsOf(params, "input_schema"); tools != nil {
		body["tools"] = tools
		if params["toolChoice"] != nil {
			kind := choiceOf(params)
			if kind == "required" {
				kind = "any"
			}
			body["tool_choice"] = map[string]any{"type": kind}
		}
	}
	copyMembers(body, params, map[string]string{"temperature": "temperature", "stopSequences": "stop_sequences"})
	if !m.options.Plain {
		body["stream"] = true
	}
	return body, nil
}

// anthropicMessage writes one message. A message without text is left out: the API does not accept it.
func anthropicMessage(role string, blocks []map[string]any) ([]any, error) {
	content, err := anthropicContent(blocks)
	if err != nil || len(content) == 0 {
		return nil, err
	}
	return []any{map[string]any{"role": role, "content": content}}, nil
}

// anthropicContent writes the blocks of a message. Images of a failed tool follow them: its result holds text only.
func anthropicContent(blocks []map[string]any) ([]any, error) {
	var content, after []any
	for _, b := range blocks {
		var block map[string]any
		var err error
		switch b["type"] {
		case "tool_use":
			id := anthropicID(jsonvalue.TextIn(b, "id"))
			block = map[string]any{"type": "tool_use", "id": id, "name": b["name"], "input": b["input"]}
		case "tool_result":
			var shown []any
			block, shown, err = anthropicResult(b)
			after = append(after, shown...)
		default:
			block, err = anthropicBlock(b)
		}
		if err != nil {
			return nil, err
		}
		if block != nil {
			content = append(content, block)
		}
	}
	return append(content, after...), nil
}

// anthropicBlock writes text or an image. It returns nil for a blank text, which the API does not accept.
func anthropicBlock(b map[string]any) (map[string]any, error) {
	switch b["type"] {
	case "text":
		if strings.TrimSpace(jsonvalue.TextIn(b, "text")) == "" {
			return nil, nil
		}
		return anthropicText(jsonvalue.TextIn(b, "text")), nil
	case "image":
		source := map[string]any{"type": "base64", "media_type": b["mimeType"], "data": b["data"]}
		return map[string]any{"type": "image", "source": source}, nil
	}
	return nil, notAccepted(b)
}

// anthropicResult writes a tool result, and returns the images of one that is an error.
func anthropicResult(b map[string]any) (result map[string]any, shown []any, err error) {
	blocks, _ := b["content"].([]any)
	failed := b["isError"] == true
	var content []any
	for _, item := range blocks {
		block, _ := item.(map[string]any)
		written, err := anthropicResultBlock(block)
		switch {
		case err != nil:
			return nil, nil, err
		case written == nil:
			continue
		case failed && written["type"] != "text":
			shown = append(shown, written)
			written = anthropicText("(image of the tool follows)")
		}
		content = append(content, written)
	}
	if structured, ok := b["structuredContent"]; ok && len(content) == 0 {
		content = append(content, anthropicText(string(jsonvalue.Marshal(structured))))
	}
	result = map[string]any{"type": "tool_result", "tool_use_id": anthropicID(jsonvalue.TextIn(b, "toolUseId"))}
	if failed {
		result["is_error"] = true
		if len(content) == 0 { // an error needs content
			content = append(content, anthropicText("the tool failed"))
		}
	}
	if len(content) > 0 {
		result["content"] = content
	}
	return result, shown, nil
}

func anthropicText(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

func anthropicResultBlock(block map[string]any) (map[string]any, error) {
	switch block["type"] {
	case "text", "image", "audio":
		return anthropicBlock(block)
	}
	text, err := resourceText(block)
	return anthropicText(text), err
}

var anthropicIDs = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// anthropicID returns the id of a tool use, or if the API does not accept it one that is made from it.
func anthropicID(id string) string {
	if anthropicIDs.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "toolu_" + hex.EncodeToString(sum[:12])
}
