package variations

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

func eachInput(kind string, edit func(item object)) func(object) {
	return func(body object) {
		for _, item := range ofType(body["input"], kind) {
			edit(item)
		}
	}
}

var responsesVariations = of(reference.Config{Dialect: dialect.OpenAIResponses}, "responses-",
	v("own-ids", "gives the model its own ids", "own-ids", results,
		each("input", func(item object) { rename(item, "call_id", own) })),
	edited("item-ids", "uses the id of the item as the id of the call", "own-ids", minted,
		replyAndRequest(each("output", func(item object) {
			if item["type"] == "function_call" {
				item["call_id"] = item["id"]
			}
		}), nil), with(reference.Config{Dialect: dialect.OpenAIResponses, Plain: true})),
	v("prompt-as-message", "sends the system prompt as a message of the developer", "provider-forms", prompts,
		func(body object) {
			if prompt, _ := body["instructions"].(string); prompt != "" {
				body["input"] = slices.Insert(array(body["input"]), 0, any(object{"role": "developer", "content": prompt}))
			}
			delete(body, "instructions")
		}),
	v("strings", "sends a string for content of one text", "provider-forms", "basic tool-use/one-tool parallel",
		func(body object) {
			items := objects(body["input"])
			for _, item := range items {
				if parts := objects(item["content"]); len(parts) == 1 && parts[0]["type"] == "input_text" {
					item["content"] = parts[0]["text"]
				}
			}
			if text, ok := items[0]["content"].(string); ok && len(items) == 1 {
				body["input"] = text
			}
		}),
	v("items-as-received", "repeats calls with id and status, and the reasoning before them",
		"provider-members", results, func(body object) {
			eachInput("function_call", func(item object) { item["id"], item["status"] = "fc_1", "completed" })(body)
			body["input"] = afterResults(array(body["input"]), func(item object) (medium []any, isResult bool) {
				parts := array(item["output"])
				if len(parts) > 1 {
					item["output"] = text(parts[0].(object), "text") + " see below"
					medium = parts[1:]
				}
				return medium, item["type"] == "function_call_output"
			}, func(media []any) object { return user(media) })
		}),
	v("own-settings", "sets store, verbosity and others", "own-settings", "basic tool-use parallel/two-cities",
		func(body object) {
			body["store"], body["parallel_tool_calls"], body["metadata"] = true, true, object{"a": "b"}
			if body["tool_choice"] == nil {
				body["tool_choice"] = "auto"
			}
			body["include"], body["text"] = []any{"reasoning.encrypted_content"}, object{"verbosity": "low"}
			if body["tools"] == nil {
				body["tools"] = []any{}
			}
		}),
	v("detail", "has the model look at the original of an image", "own-settings", "basic parallel",
		each("input", each("content", func(part object) {
			if part["type"] == "input_image" {
				part["detail"] = "original"
			}
		}))),
	v("omits-strict", "leaves it to the provider whether tools are strict", "provider-forms", tools,
		each("tools", func(tool object) { delete(tool, "strict") })),
)
