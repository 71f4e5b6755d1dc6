package mutants

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// anthropicMutants are wrong in the translation to Anthropic Messages and back.
var anthropicEdits = edits{
	"ignores-block-index": reply(oneBlock),
	"ping-is-an-error":    replyLines((*Wire).pingIsAnError),
	"appends-to-empty-input": reply(func(chunks []object) []object {
		for _, e := range chunks {
			if delta := member(e, "delta"); delta["partial_json"] != nil {
				delta["partial_json"] = ""
			}
		}
		return chunks
	}),
	"results-one-by-one": request(func(body object) {
		var messages []any
		eachMessage(func(m object) {
			if !hasResults(m) {
				messages = append(messages, m)
				return
			}
			for i, b := range m["content"].([]any) {
				if i > 0 { // the API combines consecutive messages of a role
					messages = append(messages, object{"role": "assistant", "content": "And the next?"})
				}
				messages = append(messages, object{"role": m["role"], "content": []any{b}})
			}
		})(body)
		body["messages"] = messages
	}),
	"results-as-assistant": request(eachMessage(func(m object) {
		if hasResults(m) {
			m["role"] = "assistant"
		}
	})),
	"text-before-results": request(eachMessage(func(m object) {
		if hasResults(m) {
			m["content"] = append([]any{textBlock("The tools say:")}, m["content"].([]any)...)
		}
	})),
	"forgets-thinking": request(func(body object) {
		if choice, _ := body["tool_choice"].(object); choice["type"] == "any" || body["temperature"] != nil {
			return // the provider refuses both beside thinking
		}
		const budget = 1024
		limit, _ := body["max_tokens"].(json.Number)
		tokens, _ := limit.Int64() // 0 is refused anyway
		body["thinking"], body["max_tokens"] = object{"type": "enabled", "budget_tokens": budget}, tokens+budget
	}),
	"top-p-beside-temperature": request(func(body object) {
		if body["temperature"] != nil {
			body["top_p"] = 0.9
		}
	}),
	"caches-everything": request(func(body object) {
		blocks := 0
		each := func(f func(object)) {
			eachMessage(func(m object) { eachItem(m["content"], f) })(body)
		}
		each(func(object) { blocks++ })
		if blocks > 4 && !bytes.Contains(marshal(body), []byte(`"type":"image"`)) { // fewer are accepted
			each(func(b object) { b["cache_control"] = object{"type": "ephemeral"} })
		}
	}),
	"drops-is-error-flag": request(eachBlock("tool_result", unset("is_error"))),
	"failure-without-text": request(eachBlock("tool_result", func(b object) {
		if bytes.Contains(marshal(b), []byte(`"text":"the tool failed"`)) {
			delete(b, "content")
		}
	})),
	"max-tokens-as-end-turn": result(func(r object) {
		if r["stopReason"] != "toolUse" {
			r["stopReason"] = "endTurn"
		}
	}),
	"anthropic-stop-reasons": result(func(r object) {
		for ours, theirs := range map[string]string{"endTurn": "end_turn", "toolUse": "tool_use",
			"maxTokens": "max_tokens", "stopSequence": "stop_sequence"} {
			if r["stopReason"] == ours {
				r["stopReason"] = theirs
				return
			}
		}
	}),
}

// pingIsAnError makes an error of a ping. It edits lines, so that the error comes when the ping does.
func (w *Wire) pingIsAnError(line []byte) []byte {
	if e, err := jsonvalue.ReadObject(bytes.TrimPrefix(line, []byte("data:"))); err == nil && e["type"] == "ping" {
		w.Fire()
		e["type"] = "error"
		return append([]byte("data: "), marshal(e)...)
	}
	return line
}

func hasResults(m object) bool { return len(ofType(m["content"], "tool_result")) > 0 }

// oneBlock puts the deltas of all blocks into the first one.
func oneBlock(events []object) []object {
	var kept []object
	begun, last := false, -1
	for i, e := range events {
		if e["type"] == "content_block_stop" {
			last = i
		}
	}
	for i, e := range events {
		isStart := e["type"] == "content_block_start"
		if isStart && begun || e["type"] == "content_block_stop" && i != last {
			continue
		}
		begun = begun || isStart
		if e["index"] != nil {
			e["index"] = 0
		}
		kept = append(kept, e)
	}
	return kept
}
