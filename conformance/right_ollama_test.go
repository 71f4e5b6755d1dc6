package conformance_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// eachOllamaResult edits each message with a tool result to Ollama.
func eachOllamaResult(edit func(m map[string]any)) func(map[string]any) {
	return eachMessage(func(m map[string]any) {
		if m["role"] == "tool" {
			edit(m)
		}
	})
}

// The same for what clients of Ollama may do otherwise.
func TestClientsOfOllamaThatAreRightButDifferAreNotAccused(t *testing.T) {
	streamed := reference.Config{Dialect: dialect.Ollama}
	withoutIDs := reference.Config{Dialect: dialect.Ollama, Model: "llama3.2:no-ids"}
	idless := eachMessage(func(m map[string]any) {
		delete(m, "tool_call_id")
		for _, call := range objects(m["tool_calls"]) {
			delete(call, "id")
		}
	})
	for name, c := range map[string]struct {
		habit
		config reference.Config
	}{
		"gives the model ids of its own":      {config: streamed, habit: habit{request: chatIDs(func(id string) string { return "own-" + id })}},
		"gives no ids back":                   {config: streamed, habit: habit{request: idless}},
		"gives no ids back where it got none": {config: withoutIDs, habit: habit{request: idless}},
		"names no tool in results":            {config: streamed, habit: habit{request: eachOllamaResult(func(m map[string]any) { delete(m, "tool_name") })}},
		"knows results by their place alone":  {config: withoutIDs, habit: habit{request: eachOllamaResult(func(m map[string]any) { delete(m, "tool_name"); delete(m, "tool_call_id") })}},
		"sends results in the server's order, under an id": {config: streamed, habit: habit{request: func(body map[string]any) {
			messages, _ := body["messages"].([]any)
			for i := 0; i < len(messages); i++ {
				end := i // of the results that stand together
				for end < len(messages) && messages[end].(map[string]any)["role"] == "tool" {
					end++
				}
				slices.Reverse(messages[i:end])
				i = max(i, end)
			}
		}}},
		"knows of schemas what Ollama's own types have": {config: streamed, habit: habit{request: func(body map[string]any) {
			for _, tool := range objects(body["tools"]) {
				schema := tool["function"].(map[string]any)["parameters"].(map[string]any)
				for _, property := range schema["properties"].(map[string]any) {
					delete(property.(map[string]any), "minLength")
				}
			}
		}}},
		"shows images in a message of the user's": {config: streamed, habit: habit{request: func(body map[string]any) {
			var shown []any
			eachOllamaResult(func(m map[string]any) {
				if images, ok := m["images"].([]any); ok {
					shown = append(shown, images...)
					delete(m, "images")
				}
			})(body)
			if shown != nil {
				body["messages"] = append(body["messages"].([]any), map[string]any{"role": "user", "content": "This is what it showed.", "images": shown})
			}
		}}},
		"gives thinking back, and sets what the server leaves open": {config: streamed, habit: habit{request: func(body map[string]any) {
			body["think"], body["keep_alive"] = false, "5m"
			eachMessage(func(m map[string]any) {
				if m["role"] == "assistant" {
					m["thinking"] = "hm"
				}
			})(body)
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			var shown atomic.Bool
			require.Equal(t, looked{}, lookAtTheModel(t, c.client(c.config, &shown)))
			require.True(t, shown.Load(), "the habit never showed")
		})
	}
}
