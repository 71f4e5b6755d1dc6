package reference

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// leastTokens is the least that the provider takes for a limit.
const leastTokens = 16

// responsesBody writes a sampling request as one for a response. There are no stop sequences there, which a client may leave out.
func responsesBody(params map[string]any, stream bool) (map[string]any, error) {
	limit, _ := params["maxTokens"].(json.Number)
	if n, err := limit.Float64(); err == nil && n < leastTokens {
		return nil, &rpcError{codeInternal, fmt.Sprintf("the model cannot be held to fewer than %d tokens", leastTokens)}
	}
	body := map[string]any{"model": modelName(params, "gpt-4o", "gpt-4o-mini", "gpt-4.1"), "max_output_tokens": params["maxTokens"], "stream": stream, "store": false}
	if prompt := text(params, "systemPrompt"); prompt != "" {
		body["instructions"] = prompt
	}
	input, err := convertHistory(params, inputItems)
	if err != nil {
		return nil, err
	}
	body["input"] = input
	if v, ok := params["temperature"]; ok {
		body["temperature"] = v
	}
	if tools, _ := params["tools"].([]any); len(tools) > 0 {
		var offered []any
		for _, f := range functions(tools) {
			tool := f.(map[string]any)["function"].(map[string]any) // here its members stand in the tool itself
			tool["type"], tool["strict"] = "function", false
			offered = append(offered, tool)
		}
		body["tools"] = offered
		if choice, ok := params["toolChoice"].(map[string]any); ok {
			body["tool_choice"] = mode(choice)
		}
	}
	return body, nil
}

// inputItems writes one message of MCP as items: what is said, and each tool use and each result by itself.
func inputItems(role string, blocks []map[string]any) ([]any, error) {
	var items, parts, after []any
	for _, b := range blocks {
		switch {
		case b["type"] == "tool_use":
			items = append(items, map[string]any{"type": "function_call", "call_id": b["id"], "name": b["name"], "arguments": string(marshal(b["input"]))})
		case b["type"] == "tool_result":
			output, heard, err := output(b)
			if err != nil {
				return nil, err
			}
			items = append(items, map[string]any{"type": "function_call_output", "call_id": b["toolUseId"], "output": output})
			after = append(after, heard...)
		case role == "assistant" && b["type"] != "text":
			return nil, &rpcError{codeInternal, fmt.Sprintf("the model takes no %v of its own turn", b["type"])}
		case role == "assistant":
			items = append(items, map[string]any{"role": role, "content": b["text"]})
		default:
			part, err := inputPart(b)
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

// inputPart writes a block of the user's.
func inputPart(b map[string]any) (map[string]any, error) {
	switch b["type"] {
	case "text":
		return map[string]any{"type": "input_text", "text": b["text"]}, nil
	case "image":
		url := "data:" + text(b, "mimeType") + ";base64," + text(b, "data")
		return map[string]any{"type": "input_image", "image_url": url, "detail": "auto"}, nil
	case "audio":
		return inputAudio(b), nil
	}
	return nil, &rpcError{codeInternal, fmt.Sprintf("the model takes no %v", b["type"])}
}

// output writes what a tool result holds: a text, or parts where it shows something. What it lets hear is returned apart, as an output takes
// none of that.
func output(b map[string]any) (output any, heard []any, err error) {
	content, media, err := resultContent(b)
	if err != nil {
		return nil, nil, err
	}
	parts := []any{map[string]any{"type": "input_text", "text": content}}
	for _, block := range media {
		part, err := inputPart(block)
		if err != nil {
			return nil, nil, err
		}
		if block["type"] == "audio" {
			heard = append(heard, part)
		} else {
			parts = append(parts, part)
		}
	}
	if len(parts) == 1 {
		return content, heard, nil
	}
	return parts, heard, nil
}

// response is a response, or what an event of a stream says of one.
type response struct {
	Status     string `json:"status"`
	Model      string `json:"model"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []outputItem `json:"output"`
}

type outputItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

// turn reads the items of an output. Others than messages and calls are the provider's own.
func (r *response) turn(items []outputItem) (*turn, error) {
	if r.Status == "failed" {
		return nil, errors.New("the provider could not answer")
	}
	t := &turn{model: r.Model, finish: r.finish()}
	var said []string
	for _, it := range items {
		switch it.Type {
		case "function_call":
			t.calls = append(t.calls, call{it.CallID, it.Name, it.Arguments})
		case "message":
			for _, part := range it.Content {
				said = append(said, part.Text+part.Refusal)
				if part.Type == "refusal" {
					t.finish = "refusal"
				}
			}
		}
	}
	t.text = strings.Join(said, "")
	return t, nil
}

// finish is why it ended, in the words of chat completions where they have one.
func (r *response) finish() string {
	switch {
	case r.Status == "completed":
		return "stop"
	case r.Incomplete.Reason == "max_output_tokens":
		return "length"
	case r.Incomplete.Reason != "":
		return r.Incomplete.Reason
	}
	return r.Status
}
