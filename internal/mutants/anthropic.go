package mutants

import (
	"bufio"
	"bytes"
	"io"
	"net/http"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

// anthropicMutants are wrong in the translation to Anthropic Messages and back.
var anthropicMutants = []Mutant{
	{Name: "ignores-block-index", Doc: "treats every block of Anthropic's stream as the first one",
		Kills:    []string{"parallel/streamed-uses", "parallel/all-uses"},
		Also:     []string{"parallel/over-32-calls", "tool-use/text-and-tool"},
		Dialects: anthropicOnly, Streamed: true, edit: just(Edit{ModelReply: oneBlock})},
	{Name: "ping-is-an-error", Doc: "abandons a stream at an event that it does not know, such as ping",
		Kills: []string{"basic/answered"},
		Also: []string{"mrtr/retried", "mrtr/prompts-and-resources", "client/sampled", "declare/over-declared",
			"basic/parameters-harmless", "basic/unknown-extras", "tool-use/many-tools", "tool-use/stop-beside-calls"},
		Dialects: anthropicOnly, Streamed: true,
		edit: func(w *Wire) Edit {
			return Edit{Model: func(next http.RoundTripper) http.RoundTripper {
				return replies(next, func(body io.ReadCloser) io.ReadCloser {
					return readCloser{&lines{from: bufio.NewReader(body), edit: w.pingIsAnError}, body}
				})
			}}
		}},
	{Name: "appends-to-empty-input", Doc: "appends a streamed input to the {} at its start, and reads {}",
		Kills:    []string{"tool-use/input-intact", "parallel/streamed-uses"},
		Also:     []string{"parallel/all-uses", "parallel/over-32-calls", "tool-use/bad-arguments"},
		Dialects: anthropicOnly, Streamed: true,
		edit: just(Edit{ModelReply: func(chunks []map[string]any) []map[string]any {
			for _, e := range chunks {
				if delta := member(e, "delta"); delta["partial_json"] != nil {
					delta["partial_json"] = ""
				}
			}
			return chunks
		}})},
	{Name: "results-one-by-one", Doc: "sends each tool result in its own message, and not all in the next one",
		Kills: []string{"parallel/results-reach-model"}, Dialects: anthropicOnly, edit: request(func(body map[string]any) {
			var messages []any
			eachMessage(func(m map[string]any) {
				if !hasResults(m) {
					messages = append(messages, m)
					return
				}
				for _, b := range m["content"].([]any) {
					messages = append(messages, map[string]any{"role": m["role"], "content": []any{b}})
				}
			})(body)
			body["messages"] = messages
		})},
	{Name: "results-as-assistant", Doc: "sends tool results with the role assistant",
		Kills: []string{"parallel/results-reach-model"}, Also: []string{"loop/three-rounds"}, Dialects: anthropicOnly,
		edit: request(eachMessage(func(m map[string]any) {
			if hasResults(m) {
				m["role"] = "assistant"
			}
		}))},
	{Name: "text-before-results", Doc: "puts a text before the tool results, which have to come first",
		Kills: []string{"parallel/results-reach-model"}, Also: []string{"loop/three-rounds"}, Dialects: anthropicOnly,
		edit: request(eachMessage(func(m map[string]any) {
			if hasResults(m) {
				m["content"] = append([]any{textBlock("The tools say:")}, m["content"].([]any)...)
			}
		}))},
	{Name: "drops-is-error-flag", Doc: "sends tool results without is_error", Kills: []string{"parallel/error-result"},
		Dialects: anthropicOnly, edit: request(eachBlock("tool_result", func(b map[string]any) { delete(b, "is_error") }))},
	{Name: "max-tokens-as-end-turn", Doc: "reports every stop reason except end_turn and tool_use as endTurn",
		Kills: []string{"basic/stop-reason-true"}, Also: []string{"basic/stop-reason", "provider-errors/refusal-told"},
		Dialects: anthropicOnly, edit: result(func(r map[string]any) {
			if r["stopReason"] != "toolUse" {
				r["stopReason"] = "endTurn"
			}
		})},
	{Name: "anthropic-stop-reasons", Doc: "returns Anthropic's words for stop reasons",
		Kills: []string{"tool-use/stop-reason-tooluse"}, Also: []string{"basic/stop-reason"}, Dialects: anthropicOnly,
		edit: result(func(r map[string]any) {
			for ours, theirs := range map[string]string{"endTurn": "end_turn", "toolUse": "tool_use",
				"maxTokens": "max_tokens", "stopSequence": "stop_sequence"} {
				if r["stopReason"] == ours {
					r["stopReason"] = theirs
					return
				}
			}
		})},
}

// pingIsAnError makes an error of a ping. It edits lines, so that the error comes when the ping does.
func (w *Wire) pingIsAnError(line []byte) []byte {
	if e, err := mcpjson.Object(bytes.TrimPrefix(line, []byte("data:"))); err == nil && e["type"] == "ping" {
		w.Fire()
		e["type"] = "error"
		return append([]byte("data: "), marshal(e)...)
	}
	return line
}

// hasResults reports whether a message of a request to the model has tool results.
func hasResults(m map[string]any) bool { return len(ofType(m["content"], "tool_result")) > 0 }

// oneBlock puts the deltas of all blocks into the first one.
func oneBlock(events []map[string]any) []map[string]any {
	var kept []map[string]any
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
