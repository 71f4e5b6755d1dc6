package mutants

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

var parallelMutants = chapter("parallel",
	m("one-id-for-all", "gives all tool uses of a turn the same id",
		"unique-ids | tool-use/fresh-ids tool-use/id-minted tool-use/thought-signature",
		result(eachUse(func(_ int, use object) { use["id"] = "call_1" }))),
	m("first-use-only", "returns the first tool use of a turn and drops the others",
		"all-uses | streamed-uses late-delta over-32-calls", result(func(r object) { keep(r, "tool_use", 1) })),
	m("uses-reversed", "returns the tool uses of a turn in reverse order",
		"all-uses | streamed-uses tool-use/text-and-tool", result(func(r object) {
			if blocks, ok := r["content"].([]any); ok {
				slices.Reverse(blocks)
			}
		})),
	m("keeps-last-streamed", "keeps only one of several streamed tool calls", "streamed-uses | all-uses over-32-calls",
		reply(lastCallOnly),
		only(dialect.OpenAIChat, dialect.OpenAIResponses, dialect.Ollama), streamed),
	m("stops-at-finish", "stops reading a stream at the finish reason", "late-delta",
		reply(func(chunks []object) []object {
			for i, c := range chunks {
				if finish(chunks[i:i+1]) != "" {
					eachDelta(chunks[i:i+1], func(d object) { clear(d) })
					return chunks[:i+1]
				}
				if c["done"] == true {
					clear(member(c, "message"))
					return chunks[:i+1]
				}
			}
			return chunks
		}), only(dialect.OpenAIChat, dialect.Ollama), streamed),
	m("first-result-only", "passes only the first tool result of a message to the model", "results-reach-model",
		history(eachMessage(func(m object) {
			keep(m, "tool_result", 1)
		}))),
	m("results-collapsed", "merges all tool results of a message under the id of the first one",
		"results-reach-model | result-content", history(eachMessage(func(m object) {
			results := ofType(m["content"], "tool_result")
			for _, b := range results[min(1, len(results)):] {
				first, _ := results[0]["content"].([]any)
				more, _ := b["content"].([]any)
				results[0]["content"] = append(first, more...)
			}
			keep(m, "tool_result", 1)
		}))),
	m("results-by-position", "matches results to tool uses by position instead of id", "results-order",
		params(func(p object) {
			var uses []string
			eachMessage(func(m object) {
				uses = append(uses, ids(m, "tool_use", "id")...)
				for _, b := range ofType(m["content"], "tool_result") {
					if len(uses) > 0 {
						b["toolUseId"], uses = uses[0], uses[1:]
					}
				}
			})(p)
		})),
	m("forgets-arguments", "repeats the assistant's tool uses to the model without their arguments",
		"uses-restated | loop/three-rounds",
		params(eachBlock("tool_use", set("input", object{})))),
	m("drops-is-error", "passes the result of a failed tool to the model as a success", "error-result",
		params(eachBlock("tool_result", unset("isError")))),
	m("text-results-only", "drops everything except text from tool results", "result-content",
		params(eachBlock("tool_result", func(b object) {
			drop(b, func(inner object) bool { return inner["type"] != "text" })
			delete(b, "structuredContent")
		}))),
	m("first-image-only", "keeps only the first image of a tool result", "result-content",
		params(eachBlock("tool_result", func(b object) { keep(b, "image", 1) }))),
	m("audio-as-placeholder", "replaces audio in tool results with a placeholder", "result-content",
		params(eachBlock("tool_result", func(b object) {
			for _, block := range ofType(b["content"], "audio") {
				clear(block)
				block["type"], block["text"] = "text", "[audio]"
			}
		}))),
	m("first-text-only", "keeps only the first text of a tool result", "result-content",
		params(eachBlock("tool_result", func(b object) { keep(b, "text", 1) }))),
	m("at-most-32-calls", "returns 32 tool uses and silently drops the rest", "over-32-calls",
		result(func(r object) { keep(r, "tool_use", 32) })),
)

// lastCallOnly leaves the last tool call of a stream of chat completions, responses or Ollama's lines.
func lastCallOnly(chunks []object) []object {
	last := ""
	indexOf := func(call object) string { return string(marshal(call["index"])) }
	eachDelta(chunks, func(d object) {
		eachItem(d["tool_calls"], func(call object) { last = max(last, indexOf(call)) })
	})
	eachDelta(chunks, func(d object) {
		if calls, ok := d["tool_calls"].([]any); ok {
			d["tool_calls"] = slices.DeleteFunc(calls, func(item any) bool {
				call, _ := item.(object)
				return indexOf(call) != last
			})
		}
	})
	var all []any
	for _, c := range chunks {
		all = append(all, c)
	}
	all = keepLast(all, func(c object) bool {
		return c["type"] == "response.output_item.done" && member(c, "item")["type"] == "function_call"
	})
	chunks = chunks[:0]
	for _, c := range all {
		chunks = append(chunks, c.(object))
	}
	later := false
	for _, c := range slices.Backward(chunks) {
		if message := member(c, "message"); message["tool_calls"] != nil {
			if later {
				delete(message, "tool_calls")
			}
			later = true
		}
	}
	return chunks
}
