package conformance_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// eachInputItem edits each item of a type in the input of a response; a message has none.
func eachInputItem(kind any, edit func(it map[string]any)) func(map[string]any) {
	return func(body map[string]any) {
		for _, it := range objects(body["input"]) {
			if it["type"] == kind {
				edit(it)
			}
		}
	}
}

// The same for what clients of OpenAI Responses may do otherwise.
func TestClientsOfResponsesThatAreRightButDifferAreNotAccused(t *testing.T) {
	streamed := reference.Config{Dialect: dialect.OpenAIResponses}
	plain := reference.Config{Dialect: dialect.OpenAIResponses, Plain: true}
	for name, c := range map[string]struct {
		habit
		config reference.Config
	}{
		"gives the model ids of its own": {config: streamed, habit: habit{request: func(body map[string]any) {
			for _, it := range objects(body["input"]) {
				if id, ok := it["call_id"].(string); ok {
					it["call_id"] = "own-" + id
				}
			}
		}}},
		"takes an item's id for that of the call": {config: plain, habit: habit{reply: func(body map[string]any) {
			for _, it := range objects(body["output"]) {
				if it["type"] == "function_call" {
					it["call_id"] = it["id"]
				}
			}
		}}},
		"has the system prompt as a message": {config: streamed, habit: habit{request: func(body map[string]any) {
			body["input"] = slices.Insert(body["input"].([]any), 0, any(map[string]any{"role": "developer", "content": body["instructions"]}))
			delete(body, "instructions")
		}}},
		"asks in a string where it can": {config: streamed, habit: habit{request: func(body map[string]any) {
			items := objects(body["input"])
			for _, it := range items {
				if parts := objects(it["content"]); len(parts) == 1 && parts[0]["type"] == "input_text" {
					it["content"] = parts[0]["text"]
				}
			}
			if text, ok := items[0]["content"].(string); ok && len(items) == 1 {
				body["input"] = text
			}
		}}},
		"gives items back as they came, with the reasoning before them": {config: streamed, habit: habit{request: func(body map[string]any) {
			eachInputItem("function_call", func(it map[string]any) { it["id"], it["status"] = "fc_1", "completed" })(body)
			input, _ := body["input"].([]any)
			at := slices.IndexFunc(input, func(it any) bool { return it.(map[string]any)["type"] == "function_call" })
			if at >= 0 {
				body["input"] = slices.Insert(input, at, any(map[string]any{"type": "reasoning", "id": "rs_1", "summary": []any{}, "encrypted_content": "sealed"}))
			}
		}}},
		"gives outputs in parts": {config: streamed, habit: habit{request: eachInputItem("function_call_output", func(it map[string]any) {
			if text, ok := it["output"].(string); ok {
				it["output"] = []any{map[string]any{"type": "input_text", "text": text}}
			}
		})}},
		"shows images behind the outputs": {config: streamed, habit: habit{request: func(body map[string]any) {
			input, _ := body["input"].([]any)
			eachInputItem("function_call_output", func(it map[string]any) {
				if parts := objects(it["output"]); len(parts) > 1 {
					input = append(input, map[string]any{"role": "user", "content": it["output"].([]any)[1:]})
					it["output"] = "see below"
				}
			})(body)
			body["input"] = input
		}}},
		"sets what the server leaves open": {config: streamed, habit: habit{request: func(body map[string]any) {
			body["store"], body["parallel_tool_calls"], body["metadata"] = true, true, map[string]any{"a": "b"}
			if body["tool_choice"] == nil {
				body["tool_choice"] = "auto"
			}
			body["include"], body["text"] = []any{"reasoning.encrypted_content"}, map[string]any{"verbosity": "low"}
			if body["tools"] == nil {
				body["tools"] = []any{}
			}
		}}},
		"leaves it to the provider whether tools are strict": {config: streamed, habit: habit{request: func(body map[string]any) {
			for _, tool := range objects(body["tools"]) {
				delete(tool, "strict")
			}
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			var shown atomic.Bool
			require.Equal(t, looked{}, lookAtTheModel(t, c.client(c.config, &shown)))
			require.True(t, shown.Load(), "the habit never showed")
		})
	}
}
