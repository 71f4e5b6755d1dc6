package mutants

import (
	"encoding/json"
	"slices"
)

var parallelEdits = edits{
	"one-id-for-all": result(eachUse(func(_ int, use object) { use["id"] = "call_1" })),
	"first-use-only": result(func(r object) { keep(r, "tool_use", 1) }),
	"uses-reversed": result(func(r object) {
		if blocks, ok := r["content"].([]any); ok {
			slices.Reverse(blocks)
		}
	}),
	"keeps-last-streamed": reply(lastCallOnly),
	"appends-to-the-latest": reply(func(chunks []object) []object {
		latest := any(json.Number("0"))
		eachDelta(chunks, func(d object) {
			eachItem(d["tool_calls"], func(call object) {
				if call["id"] != nil {
					latest = call["index"]
				}
				call["index"] = latest
			})
		})
		return chunks
	}),
	"adds-up-names": reply(func(chunks []object) []object {
		names := map[any]string{}
		eachDelta(chunks, func(d object) {
			eachItem(d["tool_calls"], func(call object) {
				function := member(call, "function")
				names[call["index"]] += text(function, "name")
				function["name"] = names[call["index"]]
			})
		})
		return chunks
	}),
	"stops-at-finish": reply(func(chunks []object) []object {
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
	}),
	"first-result-only": history(eachMessage(func(m object) {
		keep(m, "tool_result", 1)
	})),
	"results-collapsed": history(eachMessage(func(m object) {
		results := ofType(m["content"], "tool_result")
		for _, b := range results[min(1, len(results)):] {
			first, _ := results[0]["content"].([]any)
			more, _ := b["content"].([]any)
			results[0]["content"] = append(first, more...)
		}
		keep(m, "tool_result", 1)
	})),
	"results-by-position": params(func(p object) {
		var uses []string
		eachMessage(func(m object) {
			uses = append(uses, ids(m, "tool_use", "id")...)
			for _, b := range ofType(m["content"], "tool_result") {
				if len(uses) > 0 {
					b["toolUseId"], uses = uses[0], uses[1:]
				}
			}
		})(p)
	}),
	"forgets-arguments": params(eachBlock("tool_use", set("input", object{}))),
	"drops-is-error":    params(eachBlock("tool_result", unset("isError"))),
	"text-results-only": params(eachBlock("tool_result", func(b object) {
		drop(b, func(inner object) bool { return inner["type"] != "text" })
		delete(b, "structuredContent")
	})),
	"first-image-only": params(eachBlock("tool_result", func(b object) { keep(b, "image", 1) })),
	"audio-as-placeholder": params(eachBlock("tool_result", func(b object) {
		for _, block := range ofType(b["content"], "audio") {
			clear(block)
			block["type"], block["text"] = "text", "[audio]"
		}
	})),
	"first-text-only":  params(eachBlock("tool_result", func(b object) { keep(b, "text", 1) })),
	"at-most-32-calls": result(func(r object) { keep(r, "tool_use", 32) }),
}

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
