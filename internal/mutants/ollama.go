package mutants

// ollamaMutants are wrong in the translation to Ollama: each has code that was written for another provider.
var ollamaMutants = []Mutant{
	{Name: "ollama-arguments-as-text", Doc: "repeats tool uses to the model with their arguments as text, as for OpenAI",
		Kills:    []string{"parallel/uses-restated"},
		Also:     []string{"parallel/results-reach-model", "parallel/results-order", "parallel/error-result", "loop/three-rounds"},
		Dialects: ollamaOnly, edit: request(eachMessage(func(m map[string]any) {
			eachItem(m["tool_calls"], func(call map[string]any) {
				function := member(call, "function")
				function["arguments"] = string(marshal(function["arguments"]))
			})
		}))},
	{Name: "ollama-limit-beside-options", Doc: "sends the token limit where OpenAI has it, which Ollama ignores",
		Kills: []string{"basic/max-tokens"}, Also: []string{"malformed/tolerated"}, Dialects: ollamaOnly,
		edit: request(func(body map[string]any) {
			options := member(body, "options")
			body["max_tokens"] = options["num_predict"]
			delete(options, "num_predict")
		})},
	{Name: "ollama-tools-of-mcp", Doc: "offers tools in the format of MCP, which Ollama ignores",
		Kills: []string{"tool-use/tools-reach-model"}, Also: []string{"tool-use/only-these-tools", "tool-use/many-tools"},
		Dialects: ollamaOnly, edit: request(func(body map[string]any) {
			eachItem(body["tools"], func(tool map[string]any) {
				function := member(tool, "function")
				tool["name"], tool["inputSchema"] = function["name"], function["parameters"]
				delete(tool, "function")
			})
		})},
	{Name: "ollama-ids-from-names", Doc: "uses the tool's name as the id of a tool use", Kills: []string{"parallel/unique-ids"},
		Also: []string{"tool-use/id-minted", "tool-use/fresh-ids"}, Dialects: ollamaOnly, edit: result(idsFromNames)},
	{Name: "ollama-mints-names", Doc: "uses the tool's name as the id that an old Ollama does not send",
		Kills: []string{"tool-use/id-minted", "parallel/unique-ids"},
		Also:  []string{"tool-use/fresh-ids", "basic/hints-respected"}, Dialects: ollamaOnly,
		edit: just(Edit{Result: idsFromNames, ModelRequest: func(body map[string]any) { body["model"] = "llama3.2:no-ids" }})},
	{Name: "ollama-thinks-aloud", Doc: "puts the model's thinking before its text", Kills: []string{"basic/thinking-apart"},
		Dialects: ollamaOnly, edit: just(Edit{ModelReply: func(lines []map[string]any) []map[string]any {
			for _, line := range lines {
				if message := member(line, "message"); message["thinking"] != nil {
					message["content"] = text(message, "thinking") + text(message, "content")
				}
			}
			return lines
		}})},
	{Name: "ollama-results-by-name", Kills: []string{"parallel/results-order"}, Dialects: ollamaOnly,
		Doc: "sends tool results with the tool's name but no id, in the server's order",
		edit: just(Edit{Params: byNameAndPlace, ModelRequest: eachMessage(func(m map[string]any) {
			delete(m, "tool_call_id")
		})})},
}

// idsFromNames gives tool uses their tool's name as the id.
func idsFromNames(r map[string]any) {
	eachUse(func(_ int, use map[string]any) { use["id"] = use["name"] })(r)
}

// byNameAndPlace matches results to the tool uses of the message before by the tool's name, and uses with one name by
// position.
func byNameAndPlace(p map[string]any) {
	names, byName := map[string]string{}, map[string][]string{}
	eachMessage(func(m map[string]any) {
		for _, b := range ofType(m["content"], "tool_result") {
			name := names[text(b, "toolUseId")]
			if open := byName[name]; len(open) > 0 {
				b["toolUseId"], byName[name] = open[0], open[1:]
			}
		}
		clear(names)
		clear(byName)
		for _, use := range ofType(m["content"], "tool_use") {
			id, name := text(use, "id"), text(use, "name")
			names[id], byName[name] = name, append(byName[name], id)
		}
	})(p)
}
