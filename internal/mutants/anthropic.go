package mutants

import (
	"bufio"
	"bytes"
	"io"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

// anthropicMutants are wrong in the translation to Anthropic Messages and back.
var anthropicMutants = chapter("parallel",
	m("ignores-block-index", "treats every block of Anthropic's stream as the first one",
		"streamed-uses all-uses | over-32-calls tool-use/text-and-tool", reply(oneBlock),
		only(dialect.Anthropic), streamed),
	m("ping-is-an-error", "abandons a stream at an event that it does not know, such as ping",
		"basic/answered | mrtr/retried mrtr/prompts-and-resources client/sampled declare/over-declared"+
			" basic/parameters-harmless basic/unknown-extras tool-use/many-tools tool-use/stop-beside-calls",
		just(Edit{Model: func(w *Wire, next http.RoundTripper) http.RoundTripper {
			return replies(next, func(body io.ReadCloser) io.ReadCloser {
				return readCloser{&lines{from: bufio.NewReader(body), edit: w.pingIsAnError}, body}
			})
		}}), only(dialect.Anthropic), streamed),
	m("appends-to-empty-input", "appends a streamed input to the {} at its start, and reads {}",
		"tool-use/input-intact streamed-uses | all-uses over-32-calls tool-use/bad-arguments",
		reply(func(chunks []object) []object {
			for _, e := range chunks {
				if delta := member(e, "delta"); delta["partial_json"] != nil {
					delta["partial_json"] = ""
				}
			}
			return chunks
		}), only(dialect.Anthropic), streamed),
	m("results-one-by-one", "sends each tool result in its own message, and not all in the next one",
		"results-reach-model", request(func(body object) {
			var messages []any
			eachMessage(func(m object) {
				if !hasResults(m) {
					messages = append(messages, m)
					return
				}
				for _, b := range m["content"].([]any) {
					messages = append(messages, object{"role": m["role"], "content": []any{b}})
				}
			})(body)
			body["messages"] = messages
		}), only(dialect.Anthropic)),
	m("results-as-assistant", "sends tool results with the role assistant", "results-reach-model | loop/three-rounds",
		request(eachMessage(func(m object) {
			if hasResults(m) {
				m["role"] = "assistant"
			}
		})), only(dialect.Anthropic)),
	m("text-before-results", "puts a text before the tool results, which have to come first",
		"results-reach-model | loop/three-rounds", request(eachMessage(func(m object) {
			if hasResults(m) {
				m["content"] = append([]any{textBlock("The tools say:")}, m["content"].([]any)...)
			}
		})), only(dialect.Anthropic)),
	m("drops-is-error-flag", "sends tool results without is_error", "error-result",
		request(eachBlock("tool_result", unset("is_error"))), only(dialect.Anthropic)),
	m("max-tokens-as-end-turn", "reports every stop reason except end_turn and tool_use as endTurn",
		"basic/stop-reason-true | basic/stop-reason provider-errors/refusal-told", result(func(r object) {
			if r["stopReason"] != "toolUse" {
				r["stopReason"] = "endTurn"
			}
		}), only(dialect.Anthropic)),
	m("anthropic-stop-reasons", "returns Anthropic's words for stop reasons",
		"tool-use/stop-reason-tooluse | basic/stop-reason", result(func(r object) {
			for ours, theirs := range map[string]string{"endTurn": "end_turn", "toolUse": "tool_use",
				"maxTokens": "max_tokens", "stopSequence": "stop_sequence"} {
				if r["stopReason"] == ours {
					r["stopReason"] = theirs
					return
				}
			}
		}), only(dialect.Anthropic)),
)

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
