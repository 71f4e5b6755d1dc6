package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ollamaBody writes a sampling request as a chat of Ollama's. There is no tool choice there: who must not use tools is offered none.
func (m *model) ollamaBody(params map[string]any) (map[string]any, error) {
	options := map[string]any{"num_predict": params["maxTokens"]}
	for from, to := range map[string]string{"temperature": "temperature", "stopSequences": "stop"} {
		if v, ok := params[from]; ok {
			options[to] = v
		}
	}
	body := map[string]any{"model": modelName(params, cmp.Or(m.config.Model, "llama3.2"), "llama3.2:1b", "llama3.3"), "stream": !m.config.Plain, "options": options}
	var messages []any
	if prompt := text(params, "systemPrompt"); prompt != "" {
		messages = append(messages, map[string]any{"role": "system", "content": prompt})
	}
	var uses []map[string]any // of the assistant's last turn
	converted, err := convertHistory(params, func(role string, blocks []map[string]any) ([]any, error) {
		asked := uses
		uses = ofType(anySlice(blocks), "tool_use")
		return m.ollamaMessages(role, blocks, asked)
	})
	if err != nil {
		return nil, err
	}
	body["messages"] = append(messages, converted...)
	choice, _ := params["toolChoice"].(map[string]any)
	if tools, _ := params["tools"].([]any); len(tools) > 0 && text(choice, "mode") != "none" {
		body["tools"] = functions(tools)
	}
	return body, nil
}

// ollamaMessages writes one message of MCP, which is several where it has tool results: each is a message of its own.
func (m *model) ollamaMessages(role string, blocks, uses []map[string]any) ([]any, error) {
	if results := ofType(anySlice(blocks), "tool_result"); len(results) > 0 {
		return m.ollamaResults(results, uses)
	}
	message := map[string]any{"role": role}
	var calls []any
	var said []string
	for _, b := range blocks {
		switch b["type"] {
		case "text":
			said = append(said, text(b, "text"))
		case "tool_use":
			calls = append(calls, map[string]any{"id": b["id"], "function": map[string]any{"index": len(calls), "name": b["name"], "arguments": b["input"]}})
		default:
			if err := addImage(message, b); err != nil {
				return nil, err
			}
		}
	}
	message["content"] = strings.Join(said, "\n")
	if calls != nil {
		message["tool_calls"] = calls
	}
	return []any{message}, nil
}

// ollamaResults writes results in the order of the tool uses that they answer: a model that looks at neither names nor ids knows them by
// their place.
func (m *model) ollamaResults(results, uses []map[string]any) ([]any, error) {
	place := func(result map[string]any) int {
		return slices.IndexFunc(uses, func(use map[string]any) bool { return use["id"] == result["toolUseId"] })
	}
	if !m.config.broken.resultsAsTheyCame {
		slices.SortStableFunc(results, func(a, b map[string]any) int { return place(a) - place(b) })
	}
	var messages []any
	for _, b := range results {
		content, media, err := resultContent(b)
		if err != nil {
			return nil, err
		}
		message := map[string]any{"role": "tool", "content": content}
		if i := place(b); i >= 0 {
			message["tool_name"] = uses[i]["name"]
		}
		if !m.config.broken.resultsAsTheyCame {
			message["tool_call_id"] = b["toolUseId"]
		}
		for _, shown := range media {
			if err := addImage(message, shown); err != nil {
				return nil, err
			}
		}
		messages = append(messages, message)
	}
	return messages, nil
}

// addImage shows an image beside a message. There is nothing else that Ollama could show.
func addImage(m, b map[string]any) error {
	if b["type"] != "image" {
		return &rpcError{codeInternal, fmt.Sprintf("the model takes no %v", b["type"])}
	}
	images, _ := m["images"].([]any)
	m["images"] = append(images, b["data"])
	return nil
}
