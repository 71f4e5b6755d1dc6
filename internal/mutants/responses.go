package mutants

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// responsesMutants are wrong in the translation to OpenAI Responses.
var responsesMutants = chapter("parallel",
	m("responses-results-as-text", "sends tool results to the model as messages of the user",
		"results-reach-model | loop/three-rounds", request(func(body object) {
			eachItem(body["input"], func(it object) {
				if it["type"] == "function_call_output" {
					it["type"], it["role"], it["content"] = "message", "user", it["output"]
					delete(it, "output")
					delete(it, "call_id")
				}
			})
		}), only(dialect.OpenAIResponses)),
	m("responses-limit-of-chat", "names the token limit as in chat completions, which the provider refuses",
		"basic/max-tokens basic/answered | time/model-slow mrtr/retried mrtr/prompts-and-resources"+
			" declare/over-declared client/sampled", request(func(body object) {
			body["max_tokens"] = body["max_output_tokens"]
			delete(body, "max_output_tokens")
		}), only(dialect.OpenAIResponses)),
	m("responses-tools-of-chat", "offers tools in the format of chat completions, which the provider refuses",
		"tool-use/tools-reach-model | declare/over-declared tool-use/only-these-tools tool-use/many-tools"+
			" malformed/tolerated", request(func(body object) {
			eachItem(body["tools"], func(tool object) {
				function := object{}
				for name, value := range tool {
					if name != "type" {
						function[name] = value
						delete(tool, name)
					}
				}
				tool["function"] = function
			})
		}), only(dialect.OpenAIResponses)),
	m("responses-uses-dropped", "repeats the assistant's text to the model, but not its tool uses",
		"uses-restated | results-reach-model loop/three-rounds", request(func(body object) {
			input, _ := body["input"].([]any)
			body["input"] = slices.DeleteFunc(input, func(item any) bool {
				it, _ := item.(object)
				return it["type"] == "function_call"
			})
		}), only(dialect.OpenAIResponses)),
)
