package variations

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// anthropicPlain asks for whole answers.
var anthropicPlain = with(reference.Config{Dialect: dialect.Anthropic, Plain: true})

func eachContent(edit func(blocks []any) []any) func(object) {
	return each("messages", func(m object) { m["content"] = edit(array(m["content"])) })
}

// eachBlock edits each block of a type, in the messages to Anthropic.
func eachBlock(kind string, edit func(b object)) func(object) {
	return each("messages", func(m object) {
		for _, b := range ofType(m["content"], kind) {
			edit(b)
		}
	})
}

func ofTexts(content any) []any {
	var texts []any
	for _, b := range ofType(content, "text") {
		texts = append(texts, b)
	}
	return texts
}

func blockIDs(change func(string) string) func(object) {
	return each("messages", each("content", func(b object) {
		rename(b, "id", change)
		rename(b, "tool_use_id", change)
	}))
}

var anthropicVariations = of(reference.Config{Dialect: dialect.Anthropic}, "anthropic-",
	v("own-ids-to-model", "gives the model its own ids", "own-ids", results, blockIDs(own)),
	edited("own-ids-to-server", "gives the server its own ids", "answer-ids", minted,
		replyAndRequest(each("content", func(b object) { rename(b, "id", own) }), blockIDs(given)), anthropicPlain),
	v("strings", "sends a string for content of one text block", "provider-forms", "basic tool-use/one-tool parallel",
		each("messages", func(m object) {
			blocks := objects(m["content"])
			for _, b := range blocks {
				if inner := objects(b["content"]); len(inner) == 1 && inner[0]["type"] == "text" {
					b["content"] = inner[0]["text"]
				}
			}
			if len(blocks) == 1 && blocks[0]["type"] == "text" {
				m["content"] = blocks[0]["text"]
			}
		})),
	v("cached-prompt-blocks", "sends the system prompt as blocks, with cache control",
		"provider-members", prompts,
		func(body object) {
			cached := object{"type": "ephemeral"}
			if system, ok := body["system"].(string); ok {
				prompt := textBlock(system)
				prompt["cache_control"] = cached
				body["system"] = []any{textBlock("You speak for a server."), prompt}
			}
			if tools := objects(body["tools"]); len(tools) > 0 { // up to the last one
				tools[len(tools)-1]["cache_control"] = cached
			}
		}),
	v("own-first-message", "puts its own user message before the conversation", "own-messages", prompts,
		func(body object) {
			body["messages"] = append([]any{user("You speak for a server of mine.")}, array(body["messages"])...)
		}),
	v("text-after-results", "adds a text after the tool results", "text-after-results", results,
		eachContent(func(blocks []any) []any {
			if objects(blocks)[0]["type"] == "tool_result" {
				return append(blocks, textBlock("Go on."))
			}
			return blocks
		})),
	v("error-in-words", "says in a text, not with is_error, that a tool failed", "error-in-words", results,
		eachBlock("tool_result", func(b object) {
			if b["is_error"] == true {
				delete(b, "is_error")
				b["content"] = append([]any{textBlock("Error:")}, array(b["content"])...)
			}
		})),
	v("always-is-error", "sends is_error with every result", "provider-forms", results,
		eachBlock("tool_result", func(b object) { b["is_error"] = b["is_error"] == true })),
	v("images-after-results", "sends images of tool results after the results", "media-after-results", results,
		eachContent(func(blocks []any) []any {
			for _, b := range objects(blocks) {
				images := ofType(b["content"], "image")
				if len(images) > 0 {
					b["content"] = append(ofTexts(b["content"]), textBlock("see below"))
				}
				for _, image := range images {
					blocks = append(blocks, image)
				}
			}
			return blocks
		})),
	v("result-as-document", "sends a tool's log as a document", "labelled-results", results,
		eachBlock("tool_result", func(b object) {
			for i, inner := range objects(b["content"]) {
				if log := text(inner, "text"); strings.HasPrefix(log, "weather:log") {
					source := object{"type": "text", "media_type": "text/plain", "data": log}
					array(b["content"])[i] = object{"type": "document", "title": "log", "source": source}
				}
			}
		})),
	v("uses-with-caller", "repeats tool uses with their caller", "provider-members", results,
		eachBlock("tool_use", func(b object) { b["caller"] = object{"type": "direct"} })),
	v("says-auto", "sends the tool choice auto, and tools even if there are none", "provider-forms", "basic tool-use",
		func(body object) {
			if body["tool_choice"] != nil {
				return
			}
			body["tool_choice"] = object{"type": "auto"}
			if body["tools"] == nil {
				body["tools"] = []any{}
			}
		}),
	v("own-settings", "sets stream, metadata and thinking", "own-settings", "basic tool-use parallel/two-cities",
		func(body object) {
			body["stream"], body["metadata"] = false, object{"user_id": "u"}
			choice, _ := body["tool_choice"].(object)
			if choice["type"] != "any" { // a model that thinks cannot be made to use a tool
				body["thinking"] = object{"type": "adaptive"}
				delete(body, "temperature") // the provider refuses it beside thinking
			}
		}, anthropicPlain),
	v("strict-schemas", "makes the tools' schemas strict", "same-schema", tools,
		each("tools", func(tool object) {
			tool["type"], tool["strict"] = "custom", true
			tool["input_schema"].(object)["additionalProperties"] = false
		})),
	v("prefilled-answer", "ends the first request with an empty message of the assistant",
		"prefilled-answer", prompts, func(body object) {
			if messages := array(body["messages"]); len(messages) == 1 {
				body["messages"] = append(messages, object{"role": "assistant", "content": ""})
			}
		}),
)
