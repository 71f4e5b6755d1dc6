package mutants

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

var parallelMutants = []Mutant{
	{Name: "one-id-for-all", Doc: "gives all tool uses of a turn the same id", Kills: []string{"parallel/unique-ids"},
		Also: []string{"tool-use/fresh-ids", "tool-use/id-minted", "tool-use/thought-signature"},
		edit: result(eachUse(func(_ int, use map[string]any) { use["id"] = "call_1" }))},
	{Name: "first-use-only", Doc: "returns the first tool use of a turn and drops the others",
		Kills: []string{"parallel/all-uses"},
		Also:  []string{"parallel/streamed-uses", "parallel/late-delta", "parallel/over-32-calls"},
		edit:  result(func(r map[string]any) { keep(r, "tool_use", 1) })},
	{Name: "uses-reversed", Doc: "returns the tool uses of a turn in reverse order", Kills: []string{"parallel/all-uses"},
		Also: []string{"parallel/streamed-uses", "tool-use/text-and-tool"}, edit: result(func(r map[string]any) {
			if blocks, ok := r["content"].([]any); ok {
				slices.Reverse(blocks)
			}
		})},
	{Name: "keeps-last-streamed", Doc: "keeps only one of several streamed tool calls",
		Kills: []string{"parallel/streamed-uses"}, Also: []string{"parallel/all-uses", "parallel/over-32-calls"},
		Dialects: []string{dialect.OpenAIChat, dialect.OpenAIResponses, dialect.Ollama}, Streamed: true,
		edit: just(Edit{ModelReply: lastCallOnly})},
	{Name: "stops-at-finish", Doc: "stops reading a stream at the finish reason", Kills: []string{"parallel/late-delta"},
		Dialects: []string{dialect.OpenAIChat, dialect.Ollama}, Streamed: true,
		edit: just(Edit{ModelReply: func(chunks []map[string]any) []map[string]any {
			for i, c := range chunks {
				if finish(chunks[i:i+1]) != "" {
					eachDelta(chunks[i:i+1], func(d map[string]any) { clear(d) })
					return chunks[:i+1]
				}
				if c["done"] == true {
					clear(member(c, "message"))
					return chunks[:i+1]
				}
			}
			return chunks
		}})},
	{Name: "first-result-only", Doc: "passes only the first tool result of a message to the model",
		Kills: []string{"parallel/results-reach-model"}, edit: history(eachMessage(func(m map[string]any) {
			keep(m, "tool_result", 1)
		}))},
	{Name: "results-collapsed", Doc: "merges all tool results of a message under the id of the first one",
		Kills: []string{"parallel/results-reach-model"},
		Also:  []string{"parallel/result-content"}, // if the provider accepts such a history
		edit: history(eachMessage(func(m map[string]any) {
			results := ofType(m["content"], "tool_result")
			for _, b := range results[min(1, len(results)):] {
				first, _ := results[0]["content"].([]any)
				more, _ := b["content"].([]any)
				results[0]["content"] = append(first, more...)
			}
			keep(m, "tool_result", 1)
		}))},
	{Name: "results-by-position", Doc: "matches results to tool uses by position instead of id",
		Kills: []string{"parallel/results-order"}, edit: params(func(p map[string]any) {
			var uses []string
			eachMessage(func(m map[string]any) {
				uses = append(uses, ids(m, "tool_use", "id")...)
				for _, b := range ofType(m["content"], "tool_result") {
					if len(uses) > 0 {
						b["toolUseId"], uses = uses[0], uses[1:]
					}
				}
			})(p)
		})},
	{Name: "forgets-arguments", Doc: "repeats the assistant's tool uses to the model without their arguments",
		Kills: []string{"parallel/uses-restated"}, Also: []string{"loop/three-rounds"},
		edit: params(eachBlock("tool_use", func(use map[string]any) { use["input"] = map[string]any{} }))},
	{Name: "drops-is-error", Doc: "passes the result of a failed tool to the model as a success",
		Kills: []string{"parallel/error-result"},
		edit:  params(eachBlock("tool_result", func(b map[string]any) { delete(b, "isError") }))},
	{Name: "text-results-only", Doc: "drops everything except text from tool results",
		Kills: []string{"parallel/result-content"}, edit: params(eachBlock("tool_result", func(b map[string]any) {
			drop(b, func(inner map[string]any) bool { return inner["type"] != "text" })
			delete(b, "structuredContent")
		}))},
	{Name: "first-image-only", Doc: "keeps only the first image of a tool result",
		Kills: []string{"parallel/result-content"},
		edit:  params(eachBlock("tool_result", func(b map[string]any) { keep(b, "image", 1) }))},
	{Name: "audio-as-placeholder", Doc: "replaces audio in tool results with a placeholder",
		Kills: []string{"parallel/result-content"}, edit: params(eachBlock("tool_result", func(b map[string]any) {
			for _, block := range ofType(b["content"], "audio") {
				clear(block)
				block["type"], block["text"] = "text", "[audio]"
			}
		}))},
	{Name: "first-text-only", Doc: "keeps only the first text of a tool result",
		Kills: []string{"parallel/result-content"},
		edit:  params(eachBlock("tool_result", func(b map[string]any) { keep(b, "text", 1) }))},
	{Name: "at-most-32-calls", Doc: "returns 32 tool uses and silently drops the rest",
		Kills: []string{"parallel/over-32-calls"}, edit: result(func(r map[string]any) { keep(r, "tool_use", 32) })},
}

// lastCallOnly leaves the last tool call of a stream of chat completions, responses or Ollama's lines.
func lastCallOnly(chunks []map[string]any) []map[string]any {
	last := ""
	indexOf := func(call map[string]any) string { return string(marshal(call["index"])) }
	eachDelta(chunks, func(d map[string]any) {
		eachItem(d["tool_calls"], func(call map[string]any) { last = max(last, indexOf(call)) })
	})
	eachDelta(chunks, func(d map[string]any) {
		if calls, ok := d["tool_calls"].([]any); ok {
			d["tool_calls"] = slices.DeleteFunc(calls, func(item any) bool {
				call, _ := item.(map[string]any)
				return indexOf(call) != last
			})
		}
	})
	var all []any
	for _, c := range chunks {
		all = append(all, c)
	}
	all = keepLast(all, func(c map[string]any) bool {
		return c["type"] == "response.output_item.done" && member(c, "item")["type"] == "function_call"
	})
	chunks = chunks[:0]
	for _, c := range all {
		chunks = append(chunks, c.(map[string]any))
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
