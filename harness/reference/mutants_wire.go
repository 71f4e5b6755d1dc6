package reference

import "github.com/mcp-conform/mcp-conform/fakes/llm/dialect"

// Mutants that break in the translation to one provider's wire. Each is of code that was written for another provider.

var ollamaOnly = []string{dialect.Ollama}

var ollamaMutants = []Mutant{
	{Name: "ollama-arguments-as-text", Doc: "restates tool uses with their arguments as text, as OpenAI has them and Ollama does not take them",
		Kills: []string{"parallel/uses-restated"}, Also: []string{"parallel/results-reach-model", "parallel/results-order", "parallel/error-result", "loop/three-rounds"},
		Dialects: ollamaOnly, broken: faults{body: func(body map[string]any) {
			eachItem(body["messages"], func(m map[string]any) {
				eachItem(m["tool_calls"], func(call map[string]any) {
					function := call["function"].(map[string]any)
					function["arguments"] = string(marshal(function["arguments"]))
				})
			})
		}}},
	{Name: "ollama-limit-beside-options", Doc: "puts the limit where OpenAI has it, which Ollama ignores", Kills: []string{"basic/max-tokens"}, Also: []string{"malformed/tolerated"},
		Dialects: ollamaOnly, broken: faults{body: func(body map[string]any) {
			options := body["options"].(map[string]any)
			body["max_tokens"] = options["num_predict"]
			delete(options, "num_predict")
		}}},
	{Name: "ollama-tools-of-mcp", Doc: "offers tools in the shape of MCP, of which Ollama reads nothing", Kills: []string{"tool-use/tools-reach-model"}, Also: []string{"tool-use/only-these-tools", "tool-use/many-tools"},
		Dialects: ollamaOnly, broken: faults{body: func(body map[string]any) {
			eachItem(body["tools"], func(tool map[string]any) {
				function := tool["function"].(map[string]any)
				tool["name"], tool["inputSchema"] = function["name"], function["parameters"]
				delete(tool, "function")
			})
		}}},
	{Name: "ollama-ids-from-names", Doc: "takes the tool's name for the id of a tool use, as Ollama long had no ids", Kills: []string{"parallel/unique-ids"},
		Also: []string{"tool-use/id-minted", "tool-use/fresh-ids"}, Dialects: ollamaOnly, broken: faults{idsFromNames: true}},
	{Name: "ollama-mints-names", Doc: "takes the tool's name for the id that an old Ollama does not give", Kills: []string{"tool-use/id-minted", "parallel/unique-ids"},
		Also: []string{"tool-use/fresh-ids", "basic/hints-respected"}, Dialects: ollamaOnly, broken: faults{idsFromNames: true, body: func(body map[string]any) { body["model"] = "llama3.2:no-ids" }}},
	{Name: "ollama-thinks-aloud", Doc: "puts what the model thinks before what it says", Kills: []string{"basic/thinking-apart"},
		Dialects: ollamaOnly, broken: faults{thinksAloud: true}},
	{Name: "ollama-results-by-name", Doc: "gives results back under their tool's name alone, in the order in which the server sent them", Kills: []string{"parallel/results-order"},
		Dialects: ollamaOnly, broken: faults{resultsAsTheyCame: true}},
}

var responsesOnly = []string{dialect.OpenAIResponses}

var responsesMutants = []Mutant{
	{Name: "responses-results-as-text", Doc: "gives tool results to the model as messages of the user", Kills: []string{"parallel/results-reach-model"}, Also: []string{"loop/three-rounds"},
		Dialects: responsesOnly, broken: faults{body: func(body map[string]any) {
			eachItem(body["input"], func(it map[string]any) {
				if it["type"] == "function_call_output" {
					it["type"], it["role"], it["content"] = "message", "user", it["output"]
					delete(it, "output")
					delete(it, "call_id")
				}
			})
		}}},
	{Name: "responses-limit-of-chat", Doc: "names the limit as in chat completions, which the provider refuses", Kills: []string{"basic/max-tokens", "basic/answered"}, Also: []string{"time/model-slow", "mrtr/retried", "mrtr/prompts-and-resources", "declare/over-declared", "client/sampled"},
		Dialects: responsesOnly, broken: faults{body: func(body map[string]any) {
			body["max_tokens"] = body["max_output_tokens"]
			delete(body, "max_output_tokens")
		}}},
	{Name: "responses-tools-of-chat", Doc: "offers tools in the shape of chat completions, which the provider refuses", Kills: []string{"tool-use/tools-reach-model"}, Also: []string{"declare/over-declared", "tool-use/only-these-tools", "tool-use/many-tools", "malformed/tolerated"},
		Dialects: responsesOnly, broken: faults{body: func(body map[string]any) {
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
		}}},
	{Name: "responses-uses-dropped", Doc: "restates what the assistant said, and not the tools that it called", Kills: []string{"parallel/uses-restated"},
		Also: []string{"parallel/results-reach-model", "loop/three-rounds"}, Dialects: responsesOnly, broken: faults{body: func(body map[string]any) {
			kept := []any{}
			input, _ := body["input"].([]any)
			for _, item := range input {
				if item.(map[string]any)["type"] != "function_call" {
					kept = append(kept, item)
				}
			}
			body["input"] = kept
		}}},
}

// eachItem calls f with each object of an array.
func eachItem(list any, f func(map[string]any)) {
	items, _ := list.([]any)
	for _, item := range items {
		f(item.(map[string]any))
	}
}
