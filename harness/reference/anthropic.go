package reference

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// anthropicBody writes a sampling request as a request of Anthropic Messages.
func anthropicBody(params map[string]any, stream bool) (map[string]any, error) {
	body := map[string]any{"model": modelName(params, "claude-sonnet-4-5", "claude-3-5-haiku-latest", "claude-opus-4-1"), "max_tokens": params["maxTokens"]}
	if prompt := text(params, "systemPrompt"); prompt != "" {
		body["system"] = prompt
	}
	messages, err := convertHistory(params, anthropicMessage)
	if err != nil {
		return nil, err
	}
	body["messages"] = append([]any{}, messages...) // an array, where nothing is said at all
	addAnthropicTools(body, params)
	for from, to := range map[string]string{"temperature": "temperature", "stopSequences": "stop_sequences"} {
		if v, ok := params[from]; ok {
			body[to] = v
		}
	}
	if stream {
		body["stream"] = true
	}
	return body, nil
}

// addAnthropicTools offers the tools of the request, and these only.
func addAnthropicTools(body, params map[string]any) {
	tools, _ := params["tools"].([]any)
	var offered []any
	for _, item := range tools {
		tool, _ := item.(map[string]any)
		o := map[string]any{"name": tool["name"], "input_schema": tool["inputSchema"]}
		if description, ok := tool["description"]; ok {
			o["description"] = description
		}
		offered = append(offered, o)
	}
	if offered == nil {
		return
	}
	body["tools"] = offered
	if params["toolChoice"] != nil {
		kind := choiceOf(params)
		if kind == "required" {
			kind = "any"
		}
		body["tool_choice"] = map[string]any{"type": kind}
	}
}

// anthropicMessage writes one message; none for one that says nothing, which the API does not take.
func anthropicMessage(role string, blocks []map[string]any) ([]any, error) {
	content, err := anthropicContent(blocks)
	if err != nil || len(content) == 0 {
		return nil, err
	}
	return []any{map[string]any{"role": role, "content": content}}, nil
}

// anthropicContent writes the blocks of a message, tool results first. What a failed tool showed follows them: a result that is
// an error takes text only.
func anthropicContent(blocks []map[string]any) ([]any, error) {
	var content, after []any
	for _, b := range blocks {
		var block map[string]any
		var err error
		switch b["type"] {
		case "tool_use":
			block = map[string]any{"type": "tool_use", "id": anthropicID(text(b, "id")), "name": b["name"], "input": b["input"]}
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

// anthropicBlock writes text or an image; nil for a text that says nothing, which the API does not take.
func anthropicBlock(b map[string]any) (map[string]any, error) {
	switch b["type"] {
	case "text":
		if strings.TrimSpace(text(b, "text")) == "" {
			return nil, nil
		}
		return map[string]any{"type": "text", "text": b["text"]}, nil
	case "image":
		return map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": b["mimeType"], "data": b["data"]}}, nil
	}
	return nil, &rpcError{codeInternal, fmt.Sprintf("the model takes no %v", b["type"])}
}

// anthropicResult writes a tool result, and returns apart the images of one that is an error.
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
			written = map[string]any{"type": "text", "text": "(image of the tool follows)"}
		}
		content = append(content, written)
	}
	if structured, ok := b["structuredContent"]; ok && len(content) == 0 {
		content = append(content, map[string]any{"type": "text", "text": string(marshal(structured))})
	}
	result = map[string]any{"type": "tool_result", "tool_use_id": anthropicID(text(b, "toolUseId"))}
	if failed {
		result["is_error"] = true
		if len(content) == 0 { // an error has to say something
			content = append(content, map[string]any{"type": "text", "text": "the tool failed"})
		}
	}
	if len(content) > 0 {
		result["content"] = content
	}
	return result, shown, nil
}

func anthropicResultBlock(block map[string]any) (map[string]any, error) {
	switch block["type"] {
	case "text", "image", "audio":
		return anthropicBlock(block)
	case "resource":
		resource, _ := block["resource"].(map[string]any)
		if _, isText := resource["text"].(string); !isText {
			return nil, &rpcError{codeInternal, "the model takes no binary resource"}
		}
		return map[string]any{"type": "text", "text": fmt.Sprintf("%s:\n%s", text(resource, "uri"), text(resource, "text"))}, nil
	}
	// A resource link, or what is yet to come.
	return map[string]any{"type": "text", "text": string(marshal(block))}, nil
}

var anthropicIDs = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// anthropicID returns a tool use's id, or where the API would not take it one of our own that is the same each time.
func anthropicID(id string) string {
	if anthropicIDs.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "toolu_" + hex.EncodeToString(sum[:12])
}

// anthropicTurn is what the model said: blocks in the shape of MCP, and why it stopped.
type anthropicTurn struct {
	blocks        []map[string]any
	reason, model string
}

// anthropicReasons are the words of MCP. The provider's others are handed on, as MCP has none.
var anthropicReasons = map[string]string{"end_turn": "endTurn", "tool_use": "toolUse", "max_tokens": "maxTokens", "stop_sequence": "stopSequence"}

// result writes the turn as a CreateMessageResult: one text where there are no tool uses, which every revision can read, or all
// blocks in their order.
func (t *anthropicTurn) result() map[string]any {
	result := map[string]any{"role": "assistant", "model": t.model, "stopReason": t.reason}
	if word, ok := anthropicReasons[t.reason]; ok {
		result["stopReason"] = word
	}
	said, uses := "", false
	blocks := []any{}
	for _, b := range t.blocks {
		uses = uses || b["type"] == "tool_use"
		said += text(b, "text")
		if b["type"] != "text" || text(b, "text") != "" {
			blocks = append(blocks, b)
		}
	}
	result["content"] = any(blocks)
	if !uses {
		result["content"] = map[string]any{"type": "text", "text": said}
	}
	return result
}
