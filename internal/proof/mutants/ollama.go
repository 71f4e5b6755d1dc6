package mutants

// ollamaMutants are wrong in the translation to Ollama: each has code that was written for another provider.
var ollamaEdits = edits{
	"ollama-arguments-as-text": request(eachMessage(func(m object) {
		eachItem(m["tool_calls"], func(call object) {
			function := member(call, "function")
			function["arguments"] = string(marshal(function["arguments"]))
		})
	})),
	"ollama-limit-beside-options": request(func(body object) {
		options := member(body, "options")
		body["max_tokens"] = options["num_predict"]
		delete(options, "num_predict")
	}),
	"ollama-tools-of-mcp": request(func(body object) {
		eachItem(body["tools"], func(tool object) {
			function := member(tool, "function")
			tool["name"], tool["inputSchema"] = function["name"], function["parameters"]
			delete(tool, "function")
		})
	}),
	"ollama-ids-from-names": result(idsFromNames),
	"ollama-mints-names":    just(Edit{Result: idsFromNames, ModelRequest: set("model", "llama3.2:no-ids")}),
	"ollama-thinks-aloud": reply(func(lines []object) []object {
		for _, line := range lines {
			if message := member(line, "message"); message["thinking"] != nil {
				message["content"] = text(message, "thinking") + text(message, "content")
			}
		}
		return lines
	}),
	"ollama-results-by-name": just(Edit{Params: byNameAndPlace, ModelRequest: eachMessage(unset("tool_call_id"))}),
}

func idsFromNames(r object) {
	eachUse(func(_ int, use object) { use["id"] = use["name"] })(r)
}

// byNameAndPlace matches results to the tool uses of the message before by the tool's name, and uses with one name by
// position.
func byNameAndPlace(p object) {
	names, byName := map[string]string{}, map[string][]string{}
	eachMessage(func(m object) {
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
