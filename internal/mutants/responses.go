package mutants

import "slices"

// responsesMutants are wrong in the translation to OpenAI Responses.
var responsesMutants = []Mutant{
	{Name: "responses-results-as-text", Doc: "sends tool results to the model as messages of the user",
		Kills: []string{"parallel/results-reach-model"}, Also: []string{"loop/three-rounds"}, Dialects: responsesOnly,
		edit: request(func(body map[string]any) {
			eachItem(body["input"], func(it map[string]any) {
				if it["type"] == "function_call_output" {
					it["type"], it["role"], it["content"] = "message", "user", it["output"]
					delete(it, "output")
					delete(it, "call_id")
				}
			})
		})},
	{Name: "responses-limit-of-chat", Doc: "names the token limit as in chat completions, which the provider refuses",
		Kills: []string{"basic/max-tokens", "basic/answered"},
		Also: []string{"time/model-slow", "mrtr/retried", "mrtr/prompts-and-resources", "declare/over-declared",
			"client/sampled"},
		Dialects: responsesOnly, edit: request(func(body map[string]any) {
			body["max_tokens"] = body["max_output_tokens"]
			delete(body, "max_output_tokens")
		})},
	{Name: "responses-tools-of-chat", Doc: "offers tools in the format of chat completions, which the provider refuses",
		Kills: []string{"tool-use/tools-reach-model"},
		Also: []string{"declare/over-declared", "tool-use/only-these-tools", "tool-use/many-tools",
			"malformed/tolerated"},
		Dialects: responsesOnly, edit: request(func(body map[string]any) {
			eachItem(body["tools"], func(tool map[string]any) {
				function := map[string]any{}
				for name, value := range tool {
					if name != "type" {
						function[name] = value
						delete(tool, name)
					}
				}
				tool["function"] = function
			})
		})},
	{Name: "responses-uses-dropped", Doc: "repeats the assistant's text to the model, but not its tool uses",
		Kills: []string{"parallel/uses-restated"}, Also: []string{"parallel/results-reach-model", "loop/three-rounds"},
		Dialects: responsesOnly, edit: request(func(body map[string]any) {
			input, _ := body["input"].([]any)
			body["input"] = slices.DeleteFunc(input, func(item any) bool {
				it, _ := item.(map[string]any)
				return it["type"] == "function_call"
			})
		})},
}
