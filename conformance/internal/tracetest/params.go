package tracetest

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Asking returns a sampling request with one question.
func Asking(question string, tools ...server.Tool) *server.CreateMessageParams {
	return &server.CreateMessageParams{MaxTokens: 1000, Tools: tools, SystemPrompt: "You are a helpful assistant.",
		Messages: []server.SamplingMessage{{Role: "user", Content: server.Text(question)}}}
}

// Saying returns a result with one text.
func Saying(text string) string {
	return resultOf("endTurn", server.Text(text))
}

// Wanting returns a result with tool uses, each given as id, name and input.
func Wanting(uses ...[3]string) string {
	blocks := []any{}
	for _, use := range uses {
		block := server.ToolUseContent{Type: "tool_use", ID: use[0], Name: use[1], Input: json.RawMessage(use[2])}
		blocks = append(blocks, block)
	}
	return resultOf("toolUse", blocks)
}

func resultOf(stopReason string, content any) string {
	result := story.Object{"role": "assistant", "model": "gpt-4o", "stopReason": stopReason, "content": content}
	return string(jsonvalue.Marshal(result))
}

// Without returns a JSON object without a member.
func Without(raw, name string) string { return With(raw, name, "") }

// With returns a JSON object with a member as it is written; "" removes it.
func With(raw, name, value string) string {
	var o map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		panic(err)
	}
	delete(o, name)
	if value != "" {
		o[name] = json.RawMessage(value)
	}
	return string(jsonvalue.Marshal(o))
}
