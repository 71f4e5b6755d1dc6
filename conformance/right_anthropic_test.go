package conformance_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// eachContent edits the blocks of each message to Anthropic.
func eachContent(edit func(blocks []any) []any) func(map[string]any) {
	return eachMessage(func(m map[string]any) { m["content"] = edit(m["content"].([]any)) })
}

// eachBlock edits each block of a type, in the messages to Anthropic.
func eachBlock(kind string, edit func(b map[string]any)) func(map[string]any) {
	return eachContent(func(blocks []any) []any {
		for _, b := range objects(blocks) {
			if b["type"] == kind {
				edit(b)
			}
		}
		return blocks
	})
}

// toolIDs renames the ids of tool uses and of their results in the messages to Anthropic.
func toolIDs(rename func(string) string) func(map[string]any) {
	uses := eachBlock("tool_use", func(b map[string]any) { b["id"] = rename(b["id"].(string)) })
	results := eachBlock("tool_result", func(b map[string]any) { b["tool_use_id"] = rename(b["tool_use_id"].(string)) })
	return func(body map[string]any) {
		uses(body)
		results(body)
	}
}

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

// The same for what clients of Anthropic may do otherwise.
func TestClientsOfAnthropicThatAreRightButDifferAreNotAccused(t *testing.T) {
	streamed := reference.Config{Dialect: dialect.Anthropic}
	plain := reference.Config{Dialect: dialect.Anthropic, Plain: true}
	own := func(id string) string { return "own-" + id }
	cached := map[string]any{"type": "ephemeral"}
	for name, c := range map[string]struct {
		habit
		config reference.Config
	}{
		"gives the model ids of its own": {config: streamed, habit: habit{request: toolIDs(own)}},
		"gives the server ids of its own": {config: plain, habit: habit{
			reply: func(body map[string]any) {
				for _, b := range objects(body["content"]) {
					if id, ok := b["id"].(string); ok {
						b["id"] = own(id)
					}
				}
			},
			request: toolIDs(func(id string) string { return strings.TrimPrefix(id, "own-") })}},
		"sends strings where it can": {config: streamed, habit: habit{request: eachMessage(func(m map[string]any) {
			blocks := objects(m["content"])
			for _, b := range blocks {
				if inner := objects(b["content"]); len(inner) == 1 && inner[0]["type"] == "text" {
					b["content"] = inner[0]["text"]
				}
			}
			if len(blocks) == 1 && blocks[0]["type"] == "text" {
				m["content"] = blocks[0]["text"]
			}
		})}},
		"has the system prompt as blocks, and caches": {config: streamed, habit: habit{request: func(body map[string]any) {
			if system, ok := body["system"].(string); ok {
				prompt := textBlock(system)
				prompt["cache_control"] = cached
				body["system"] = []any{textBlock("You speak for a server."), prompt}
			}
			for _, tool := range objects(body["tools"]) {
				tool["cache_control"] = cached
			}
		}}},
		"says hello in a message of its own": {config: streamed, habit: habit{request: func(body map[string]any) {
			body["messages"] = append([]any{map[string]any{"role": "user", "content": "You speak for a server of mine."}}, body["messages"].([]any)...)
		}}},
		"says something behind the results": {config: streamed, habit: habit{request: eachContent(func(blocks []any) []any {
			if objects(blocks)[0]["type"] == "tool_result" {
				return append(blocks, textBlock("Go on."))
			}
			return blocks
		})}},
		"says in words that a tool failed": {config: streamed, habit: habit{request: eachBlock("tool_result", func(b map[string]any) {
			if b["is_error"] == true {
				delete(b, "is_error")
				b["content"] = append([]any{textBlock("Error:")}, b["content"].([]any)...)
			}
		})}},
		"says of every result whether it is an error": {config: streamed, habit: habit{request: eachBlock("tool_result", func(b map[string]any) {
			b["is_error"] = b["is_error"] == true
		})}},
		"shows images behind the results": {config: streamed, habit: habit{request: eachContent(func(blocks []any) []any {
			for _, b := range objects(blocks) {
				for _, inner := range objects(b["content"]) {
					if inner["type"] == "image" {
						b["content"] = "see below"
						blocks = append(blocks, inner)
					}
				}
			}
			return blocks
		})}},
		"hands over what a tool wrote as a document": {config: streamed, habit: habit{request: eachBlock("tool_result", func(b map[string]any) {
			for _, inner := range objects(b["content"]) {
				if text, _ := inner["text"].(string); strings.HasPrefix(text, "weather:log") {
					b["content"] = []any{map[string]any{"type": "document", "title": "log",
						"source": map[string]any{"type": "text", "media_type": "text/plain", "data": text}}}
				}
			}
		})}},
		"gives tool uses back with their caller": {config: streamed, habit: habit{request: eachBlock("tool_use", func(b map[string]any) {
			b["caller"] = map[string]any{"type": "direct"}
		})}},
		"says what it means by auto": {config: streamed, habit: habit{request: func(body map[string]any) {
			if body["tool_choice"] != nil {
				return
			}
			body["tool_choice"] = map[string]any{"type": "auto"}
			if body["tools"] == nil {
				body["tools"] = []any{}
			}
		}}},
		"sets what the server leaves open": {config: plain, habit: habit{request: func(body map[string]any) {
			body["stream"], body["metadata"] = false, map[string]any{"user_id": "u"}
			if choice, _ := body["tool_choice"].(map[string]any); choice["type"] != "any" { // which no model that thinks can be made to do
				body["thinking"] = map[string]any{"type": "adaptive"}
				delete(body, "temperature") // which the provider does not take beside thinking
			}
		}}},
		"has strict schemas": {config: streamed, habit: habit{request: func(body map[string]any) {
			for _, tool := range objects(body["tools"]) {
				tool["type"], tool["strict"] = "custom", true
				tool["input_schema"].(map[string]any)["additionalProperties"] = false
			}
		}}},
		"asks for the answer in the model's turn": {config: streamed, habit: habit{request: func(body map[string]any) {
			if messages := body["messages"].([]any); len(messages) == 1 {
				body["messages"] = append(messages, map[string]any{"role": "assistant", "content": ""})
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
