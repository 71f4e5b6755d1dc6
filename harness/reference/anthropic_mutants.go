package reference

import "github.com/mcp-conform/mcp-conform/fakes/llm/dialect"

var anthropicOnly = []string{dialect.Anthropic}

// anthropicMutants break what only a translation to Anthropic Messages and back can break.
var anthropicMutants = []Mutant{
	{Name: "ignores-block-index", Doc: "takes every block of Anthropic's stream for the first", Kills: []string{"parallel/streamed-uses", "parallel/all-uses"},
		Also:     []string{"parallel/over-32-calls", "tool-use/text-and-tool"},
		Dialects: anthropicOnly, Streamed: true, broken: faults{ignoresIndex: true}},
	{Name: "ping-is-an-error", Doc: "gives a stream up at an event that it does not know, as a ping", Kills: []string{"basic/answered"},
		Also:     []string{"mrtr/retried", "mrtr/prompts-and-resources", "client/sampled", "declare/over-declared", "basic/parameters-harmless", "basic/unknown-extras", "tool-use/many-tools", "tool-use/stop-beside-calls"},
		Dialects: anthropicOnly, Streamed: true, broken: faults{pingIsAnError: true}},
	{Name: "appends-to-empty-input", Doc: "appends a streamed input to the {} with which its block begins, and reads {}", Kills: []string{"tool-use/input-intact", "parallel/streamed-uses"},
		Also:     []string{"parallel/all-uses", "parallel/over-32-calls", "tool-use/bad-arguments"},
		Dialects: anthropicOnly, Streamed: true, broken: faults{keepsFirstInput: true}},
	{Name: "results-one-by-one", Doc: "gives each tool result a message of its own, where Anthropic wants all in the next one", Kills: []string{"parallel/results-reach-model"},
		Dialects: anthropicOnly, broken: faults{body: func(body map[string]any) {
			var messages []any
			eachResultMessage(body, func(m map[string]any, results bool) {
				if !results {
					messages = append(messages, m)
					return
				}
				for _, b := range m["content"].([]any) {
					messages = append(messages, map[string]any{"role": m["role"], "content": []any{b}})
				}
			})
			body["messages"] = messages
		}}},
	{Name: "results-as-assistant", Doc: "sends tool results under the role assistant", Kills: []string{"parallel/results-reach-model"}, Also: []string{"loop/three-rounds"},
		Dialects: anthropicOnly, broken: faults{body: func(body map[string]any) {
			eachResultMessage(body, func(m map[string]any, results bool) {
				if results {
					m["role"] = "assistant"
				}
			})
		}}},
	{Name: "text-before-results", Doc: "puts a text of its own before the tool results, which have to come first", Kills: []string{"parallel/results-reach-model"}, Also: []string{"loop/three-rounds"},
		Dialects: anthropicOnly, broken: faults{body: func(body map[string]any) {
			eachResultMessage(body, func(m map[string]any, results bool) {
				if results {
					m["content"] = append([]any{map[string]any{"type": "text", "text": "The tools say:"}}, m["content"].([]any)...)
				}
			})
		}}},
	{Name: "drops-is-error-flag", Doc: "writes tool results without Anthropic's is_error", Kills: []string{"parallel/error-result"},
		Dialects: anthropicOnly, broken: faults{body: func(body map[string]any) {
			eachResultMessage(body, func(m map[string]any, _ bool) {
				for _, b := range ofType(m["content"], "tool_result") {
					delete(b, "is_error")
				}
			})
		}}},
	{Name: "max-tokens-as-end-turn", Doc: "knows end_turn and tool_use, and takes every other stop reason for the end of the turn", Kills: []string{"basic/stop-reason-true"}, Also: []string{"basic/stop-reason", "provider-errors/refusal-told"},
		Dialects: anthropicOnly, broken: faults{result: func(r map[string]any) {
			if r["stopReason"] != "toolUse" {
				r["stopReason"] = "endTurn"
			}
		}}},
	{Name: "anthropic-stop-reasons", Doc: "hands Anthropic's words for a stop reason on", Kills: []string{"tool-use/stop-reason-tooluse"}, Also: []string{"basic/stop-reason"},
		Dialects: anthropicOnly, broken: faults{result: func(r map[string]any) {
			for theirs, ours := range anthropicReasons {
				if r["stopReason"] == ours {
					r["stopReason"] = theirs
				}
			}
		}}},
}

// eachResultMessage calls f with each message of a request to the model, and whether it has tool results.
func eachResultMessage(body map[string]any, f func(m map[string]any, results bool)) {
	eachMessage(body, func(m map[string]any) { f(m, len(ofType(m["content"], "tool_result")) > 0) })
}
