package mutants

import (
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// ollamaMutants are wrong in the translation to Ollama: each has code that was written for another provider.
var ollamaMutants = chapter("parallel",
	m("ollama-arguments-as-text", "repeats tool uses to the model with their arguments as text, as for OpenAI",
		"uses-restated | results-reach-model results-order error-result loop/three-rounds",
		request(eachMessage(func(m object) {
			eachItem(m["tool_calls"], func(call object) {
				function := member(call, "function")
				function["arguments"] = string(marshal(function["arguments"]))
			})
		})), only(dialect.Ollama)),
	m("ollama-limit-beside-options", "sends the token limit where OpenAI has it, which Ollama ignores",
		"basic/max-tokens | malformed/tolerated", request(func(body object) {
			options := member(body, "options")
			body["max_tokens"] = options["num_predict"]
			delete(options, "num_predict")
		}), only(dialect.Ollama)),
	m("ollama-tools-of-mcp", "offers tools in the format of MCP, which Ollama ignores",
		"tool-use/tools-reach-model | tool-use/only-these-tools tool-use/many-tools",
		request(func(body object) {
			eachItem(body["tools"], func(tool object) {
				function := member(tool, "function")
				tool["name"], tool["inputSchema"] = function["name"], function["parameters"]
				delete(tool, "function")
			})
		}), only(dialect.Ollama)),
	m("ollama-ids-from-names", "uses the tool's name as the id of a tool use",
		"unique-ids | tool-use/id-minted tool-use/fresh-ids", result(idsFromNames), only(dialect.Ollama)),
	m("ollama-mints-names", "uses the tool's name as the id that an old Ollama does not send",
		"tool-use/id-minted unique-ids | tool-use/fresh-ids basic/hints-respected",
		just(Edit{Result: idsFromNames, ModelRequest: set("model", "llama3.2:no-ids")}),
		only(dialect.Ollama)),
	m("ollama-thinks-aloud", "puts the model's thinking before its text", "basic/thinking-apart",
		reply(func(lines []object) []object {
			for _, line := range lines {
				if message := member(line, "message"); message["thinking"] != nil {
					message["content"] = text(message, "thinking") + text(message, "content")
				}
			}
			return lines
		}), only(dialect.Ollama)),
	m("ollama-results-by-name", "sends tool results with the tool's name but no id, in the server's order",
		"results-order", just(Edit{Params: byNameAndPlace, ModelRequest: eachMessage(unset("tool_call_id"))}),
		only(dialect.Ollama)),
)

// idsFromNames gives tool uses their tool's name as the id.
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
