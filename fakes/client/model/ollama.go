package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func (m *Model) ollama(params map[string]any) (*exchange, error) {
	body, err := m.ollamaBody(params)
	return &exchange{"/api/chat", m.bearer(), body, func(answer io.Reader) (*turn, error) {
		return readOllama(answer, params)
	}}, err
}

// ollamaBody writes a request. The API has no tool choice: with "none" no tools are offered.
func (m *Model) ollamaBody(params map[string]any) (map[string]any, error) {
	options := map[string]any{"num_predict": params["maxTokens"]}
	copyMembers(options, params, map[string]string{"temperature": "temperature", "stopSequences": "stop"})
	name := modelName(params, cmp.Or(m.options.Model, "llama3.2"), "llama3.2:1b", "llama3.3")
	body := map[string]any{"model": name, "stream": !m.options.Plain, "options": options}
	var uses []map[string]any // of the message before
	messages, err := chatHistory(params, func(role string, blocks []map[string]any) ([]any, error) {
		before := uses
		uses = blocksOfType(blocks, "tool_use")
		if results := blocksOfType(blocks, "tool_result"); len(results) > 0 {
			return ollamaResults(results, before)
		}
		return ollamaMessage(role, blocks)
	})
	if err != nil {
		return nil, err
	}
	body["messages"] = messages
	if tools := functionsOf(params); tools != nil && choiceOf(params) != "none" {
		body["tools"] = tools
	}
	return body, nil
}

func blocksOfType(blocks []map[string]any, kind string) []map[string]any {
	return slices.DeleteFunc(slices.Clone(blocks), func(b map[string]any) bool { return b["type"] != kind })
}

func ollamaMessage(role string, blocks []map[string]any) ([]any, error) {
	message := map[string]any{"role": role}
	var calls []any
	var said []string
	for _, b := range blocks {
		switch b["type"] {
		case "text":
			said = append(said, jsonvalue.TextIn(b, "text"))
		case "tool_use":
			function := map[string]any{"index": len(calls), "name": b["name"], "arguments": b["input"]}
			calls = append(calls, map[string]any{"id": b["id"], "function": function})
		default:
			if err := addOllamaImage(message, b); err != nil {
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

func ollamaResults(results, uses []map[string]any) ([]any, error) {
	var messages []any
	for _, b := range inUseOrder(results, uses) {
		content, media, err := resultContent(b)
		if err != nil {
			return nil, err
		}
		message := map[string]any{"role": "tool", "content": content, "tool_call_id": b["toolUseId"]}
		if i := useOf(b, uses); i >= 0 {
			message["tool_name"] = uses[i]["name"]
		}
		for _, block := range media {
			if err := addOllamaImage(message, block); err != nil {
				return nil, err
			}
		}
		messages = append(messages, message)
	}
	return messages, nil
}

// addOllamaImage adds an image to a message. The API accepts no other media.
func addOllamaImage(message, b map[string]any) error {
	if b["type"] != "image" {
		return notAccepted(b)
	}
	images, _ := message["images"].([]any)
	message["images"] = append(images, b["data"])
	return nil
}

type ollamaLine struct {
	Model   string `json:"model"`
	Message struct {
		Content   string `json:"content"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Error      json.RawMessage `json:"error"`
}

// readOllama reads lines to the end of the answer. Calls without an id get one from the number of the turn and of the
// call, so that no two of a conversation are the same.
func readOllama(answer io.Reader, params map[string]any) (*turn, error) {
	number := 1
	for _, m := range jsonvalue.Messages(params) {
		if m["role"] == "assistant" {
			number++
		}
	}
	t, done, calls := &turn{}, false, 0
	for dec := json.NewDecoder(answer); ; {
		var line ollamaLine
		err := dec.Decode(&line)
		switch {
		case errors.Is(err, io.EOF):
			return t, whole(done, nil)
		case err != nil:
			return nil, err
		case line.Error != nil:
			return nil, errInStream
		}
		t.model = line.Model
		if line.Done {
			done, t.finish = true, line.DoneReason
		}
		t.say(line.Message.Content)
		for _, c := range line.Message.ToolCalls {
			calls++
			t.use(cmp.Or(c.ID, fmt.Sprintf("call_%d_%d", number, calls)), c.Function.Name, c.Function.Arguments)
		}
	}
}
