package reference

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

var basicMutants = []Mutant{
	{Name: "never-answers", Wire: true, Doc: "takes the request and never answers it", Kills: []string{"declare/over-declared"},
		Also: slices.Concat([]string{"mrtr/retried", "mrtr/prompts-and-resources", "client/sampled", "client/ends-cleanly", "declare/undeclared-sampling-refused", "declare/undeclared-tools-refused",
			"declare/undeclared-toolchoice-refused", "declare/alive", "basic/answered", "balance/alive", "consent/declined"}, refusesAll),
		Hangs: true, broken: faults{neverAnswers: true}},
	{Name: "refuses", Wire: true, Doc: "answers every request with an error", Kills: []string{"basic/answered"},
		Also:   []string{"mrtr/retried", "mrtr/prompts-and-resources", "client/sampled", "declare/over-declared", "consent/declined-code"},
		broken: faults{refuses: true}},
	{Name: "answers-twice", Wire: true, Doc: "posts each response two times", Kills: []string{"basic/answers-once", "loop/concurrent"}, Era: "legacy",
		Also: []string{"cancel/cancel-not-answered", "cancel/race", "transport/duplicate-request", "transport/answers-once"}, broken: faults{answersTwice: true}},
	{Name: "id-as-string", Wire: true, Doc: "gives a number id back as a string", Kills: []string{"basic/id-echoed"}, Era: "legacy",
		broken: faults{response: func(r map[string]any) { r["id"] = strings.Trim(string(marshal(r["id"])), `"`) }}},
	{Name: "answers-a-ghost", Wire: true, Doc: "posts beside each response one more, to a request that nobody made", Kills: []string{"basic/id-echoed"}, Era: "legacy",
		broken: faults{answersAGhost: true}},
	{Name: "json-rpc-1", Wire: true, Doc: "responds in JSON-RPC 1.0", Kills: []string{"basic/json-rpc"}, Era: "legacy",
		broken: faults{response: func(r map[string]any) { r["jsonrpc"] = "1.0" }}},
	{Name: "null-content", Doc: "answers with content null", Kills: []string{"basic/has-content"}, Also: []string{"mrtr/answers-valid", "basic/valid-result", "basic/empty-answer"},
		broken: faults{result: func(r map[string]any) { r["content"] = nil }}},
	{Name: "no-model", Wire: true, Doc: "leaves the model's name out", Kills: []string{"basic/has-model"}, Also: []string{"mrtr/answers-valid", "basic/valid-result"},
		broken: faults{result: func(r map[string]any) { delete(r, "model") }}},
	{Name: "role-user", Wire: true, Doc: "gives the answer the role user", Kills: []string{"basic/role-assistant"},
		broken: faults{result: func(r map[string]any) { r["role"] = "user" }}},
	{Name: "untyped-block", Doc: "leaves the type out of text blocks", Kills: []string{"basic/valid-result"}, Also: []string{"time/model-slow", "mrtr/answers-valid", "basic/text-intact", "basic/empty-answer", "tool-use/text-and-tool", "tool-use/required-unmet", "loop/three-rounds", "loop/last-round-none", "loop/concurrent"},
		broken: faults{result: func(r map[string]any) {
			for _, b := range ofType(r["content"], "text") {
				delete(b, "type")
			}
		}}},
	{Name: "ascii-only", Doc: "replaces what is not ASCII in the model's text", Kills: []string{"basic/text-intact"},
		broken: faults{result: func(r map[string]any) {
			for _, b := range ofType(r["content"], "text") {
				b["text"] = strings.Map(func(c rune) rune {
					if c > 127 {
						return '?'
					}
					return c
				}, text(b, "text"))
			}
		}}},
	{Name: "trims-prompt", Doc: "folds the white space of what the user said", Kills: []string{"basic/prompt-reaches-model"},
		broken: faults{params: func(p map[string]any) {
			eachMessage(p, func(m map[string]any) {
				for _, b := range ofType(m["content"], "text") {
					b["text"] = strings.Join(strings.Fields(text(b, "text")), " ")
				}
			})
		}}},
	{Name: "always-end-turn", Doc: "reports every answer as finished, truncated ones too", Kills: []string{"basic/stop-reason-true"}, Also: []string{"basic/stop-reason", "provider-errors/refusal-told"},
		broken: faults{result: func(r map[string]any) {
			if len(ofType(r["content"], "tool_use")) == 0 {
				r["stopReason"] = "endTurn"
			}
		}}},
	{Name: "asks-twice", Doc: "makes two model calls of one request", Kills: []string{"basic/one-model-call"},
		broken: faults{asksTwice: true}},
	{Name: "more-tokens", Doc: "raises maxTokens to a minimum of its own", Kills: []string{"basic/max-tokens"}, Also: []string{"malformed/tolerated"},
		broken: faults{params: func(p map[string]any) { p["maxTokens"] = 4096 }}},
	{Name: "id-as-number", Wire: true, Doc: "gives a string id back as the number that it looks like", Kills: []string{"basic/id-echoed"}, Era: "legacy",
		broken: faults{response: func(r map[string]any) {
			if id := string(marshal(r["id"])); id == `"1"` {
				r["id"] = json.Number("1")
			}
		}}},
	{Name: "error-without-code", Wire: true, Doc: "gives errors a message and no code", Kills: []string{"basic/error-shape"}, Era: "legacy",
		Also: append([]string{"malformed/error-code", "consent/declined-code"}, refusesAll...),
		broken: faults{response: func(r map[string]any) {
			if r["error"] != nil {
				r["error"] = map[string]any{"message": "it failed"}
			}
		}}},
	{Name: "error-code-as-text", Wire: true, Doc: "gives errors a code that is a string", Kills: []string{"basic/error-shape"}, Era: "legacy",
		Also: append([]string{"malformed/error-code", "consent/declined-code"}, refusesAll...),
		broken: faults{response: func(r map[string]any) {
			if r["error"] != nil {
				r["error"] = map[string]any{"code": "INTERNAL", "message": "it failed"}
			}
		}}},
	{Name: "array-before-its-time", Doc: "answers with an array where content is a single block", Kills: []string{"basic/no-array-before-a"},
		Also: []string{"basic/valid-result", "basic/empty-answer"}, In: []server.Revision{server.V20250326, server.V20250618},
		broken: faults{result: func(r map[string]any) { r["content"] = []any{r["content"]} }}},
	{Name: "empty-as-null", Doc: "makes null of an empty completion", Kills: []string{"basic/empty-answer"},
		broken: faults{result: func(r map[string]any) {
			said := ""
			for _, b := range ofType(r["content"], "text") {
				said += text(b, "text")
			}
			if said == "" && len(ofType(r["content"], "tool_use")) == 0 {
				r["content"] = nil
			}
		}}},
	{Name: "cuts-long-texts", Doc: "cuts the model's text at 64 KiB", Kills: []string{"basic/text-intact"},
		broken: faults{result: func(r map[string]any) {
			for _, b := range ofType(r["content"], "text") {
				b["text"] = strings.ToValidUTF8(text(b, "text")[:min(1<<16, len(text(b, "text")))], "")
			}
		}}},
	{Name: "cuts-long-prompts", Doc: "cuts the user's text at 64 KiB", Kills: []string{"basic/prompt-reaches-model"},
		broken: faults{params: eachText(func(b map[string]any) {
			b["text"] = strings.ToValidUTF8(text(b, "text")[:min(1<<16, len(text(b, "text")))], "")
		})}},
	{Name: "names-itself", Wire: true, Doc: "names itself as the model", Kills: []string{"basic/model-named"},
		broken: faults{result: func(r map[string]any) { r["model"] = "my-client" }}},
	{Name: "no-stop-reason", Wire: true, Doc: "gives no stop reason", Kills: []string{"basic/stop-reason"}, Also: []string{"tool-use/stop-reason-tooluse", "provider-errors/refusal-told"},
		broken: faults{result: func(r map[string]any) { delete(r, "stopReason") }}},
	{Name: "drops-system-prompt", Doc: "leaves the system prompt out", Kills: []string{"basic/system-prompt"},
		broken: faults{params: func(p map[string]any) { delete(p, "systemPrompt") }}},
	{Name: "echoes-system-prompt", Doc: "puts the system prompt before the model's text", Kills: []string{"basic/system-prompt-not-echoed"},
		Also: []string{"basic/text-intact"}, broken: faults{echoesSystem: true}},
	{Name: "drops-parameters", Doc: "leaves temperature and stop sequences out", Kills: []string{"basic/parameters"}, Also: []string{"malformed/tolerated"},
		broken: faults{params: func(p map[string]any) { delete(p, "temperature"); delete(p, "stopSequences") }}},
	{Name: "refuses-parameters", Wire: true, Doc: "refuses a request with a temperature", Kills: []string{"basic/parameters-harmless"},
		broken: faults{refusesWhen: func(p map[string]any) bool { return p["temperature"] != nil }}},
	{Name: "ignores-hints", Doc: "does not look at hints", Kills: []string{"basic/hints-respected"},
		broken: faults{params: editHints(func([]any) []any { return nil })}},
	{Name: "last-hint-wins", Doc: "lets the last hint decide", Kills: []string{"basic/hints-in-order"},
		broken: faults{params: editHints(func(hints []any) []any { slices.Reverse(hints); return hints })}},
	{Name: "whole-hints-only", Doc: "does not match parts of a model's name", Kills: []string{"basic/hint-substring"}, Except: geminiOnly,
		broken: faults{params: editHints(func(hints []any) []any {
			return slices.DeleteFunc(hints, func(hint any) bool { return len(text(hint.(map[string]any), "name")) < 10 })
		})}},
	{Name: "numbers-first", Doc: "chooses by the numbers where there are any", Kills: []string{"basic/hints-over-numbers"}, Dialects: []string{dialect.OpenAIChat, dialect.Anthropic},
		broken: faults{params: func(p map[string]any) {
			if preferences, ok := p["modelPreferences"].(map[string]any); ok && preferences["intelligencePriority"] != nil {
				delete(preferences, "hints")
			}
		}}},
	{Name: "last-message-only", Doc: "gives the model the last message of a history without tools", Kills: []string{"basic/multi-turn"},
		broken: faults{params: func(p map[string]any) {
			if messages, ok := p["messages"].([]any); ok && p["tools"] == nil {
				p["messages"] = messages[len(messages)-1:]
			}
		}}},
	{Name: "all-by-the-user", Doc: "gives the model every message as the user's", Kills: []string{"basic/multi-turn"},
		broken: faults{params: func(p map[string]any) {
			if p["tools"] == nil {
				eachMessage(p, func(m map[string]any) { m["role"] = "user" })
			}
		}}},
	{Name: "refuses-arrays", Wire: true, Doc: "refuses content that is an array of one text", Kills: []string{"basic/single-and-array"},
		broken: faults{refusesWhen: func(p map[string]any) bool {
			found := false
			eachMessage(p, func(m map[string]any) { found = found || isArrayOfOne(m["content"]) })
			return found
		}}},
	{Name: "arrays-as-json", Doc: "gives the model an array of one text as its JSON", Kills: []string{"basic/same-effect"},
		broken: faults{params: func(p map[string]any) {
			eachMessage(p, func(m map[string]any) {
				if isArrayOfOne(m["content"]) {
					m["content"] = map[string]any{"type": "text", "text": string(marshal(m["content"]))}
				}
			})
		}}},
	{Name: "first-block-only", Doc: "takes the first block of a message for the whole", Kills: []string{"basic/content-array"}, Also: []string{"basic/text-beside-media"},
		broken: faults{params: func(p map[string]any) {
			eachMessage(p, func(m map[string]any) {
				if blocks, ok := m["content"].([]any); ok && p["tools"] == nil {
					m["content"] = blocks[:1]
				}
			})
		}}},
	{Name: "placeholders", Doc: "puts a word in the place of images and sounds", Kills: []string{"basic/media"},
		broken: faults{params: eachMedium(func(b map[string]any) {
			b["text"], b["type"] = "["+text(b, "type")+"]", "text"
			delete(b, "data")
			delete(b, "mimeType")
		})}},
	{Name: "drops-text-beside-media", Doc: "drops the text of a message that has an image or a sound", Kills: []string{"basic/text-beside-media"},
		broken: faults{params: func(p map[string]any) {
			eachMessage(p, func(m map[string]any) {
				if len(ofType(m["content"], "image"))+len(ofType(m["content"], "audio")) > 0 {
					keep(m, "text", 0)
				}
			})
		}}},
	{Name: "strict-params", Wire: true, Doc: "refuses what it does not know", Kills: []string{"basic/unknown-extras"},
		broken: faults{refusesWhen: func(p map[string]any) bool { return p["comExampleHint"] != nil }}},
	{Name: "drops-block-meta", Doc: "rebuilds tool uses and results without their _meta", Kills: []string{"basic/meta-preserved"}, Dialects: []string{dialect.Native},
		broken: faults{params: func(p map[string]any) {
			eachMessage(p, func(m map[string]any) {
				for _, b := range append(ofType(m["content"], "tool_use"), ofType(m["content"], "tool_result")...) {
					delete(b, "_meta")
				}
			})
		}}},
	{Name: "refuses-all-servers", Wire: true, Doc: "refuses to include the context of all servers", Kills: []string{"basic/include-context"},
		broken: faults{refusesWhen: func(p map[string]any) bool { return p["includeContext"] == "allServers" }}},
	{Name: "remembers", Doc: "tells the model what another request said", Kills: []string{"basic/no-foreign-context", "loop/stateless"}, Also: []string{"basic/system-prompt", "loop/interleaved", "loop/concurrent"},
		broken: faults{remembers: true}},
}

// eachText edits the texts that the user said.
func eachText(f func(b map[string]any)) func(map[string]any) {
	return func(p map[string]any) {
		eachMessage(p, func(m map[string]any) {
			for _, b := range ofType(m["content"], "text") {
				f(b)
			}
		})
	}
}

// eachMedium edits the images and sounds of messages.
func eachMedium(f func(b map[string]any)) func(map[string]any) {
	return func(p map[string]any) {
		eachMessage(p, func(m map[string]any) {
			for _, b := range append(ofType(m["content"], "image"), ofType(m["content"], "audio")...) {
				f(b)
			}
		})
	}
}

// editHints edits the hints of the preferences.
func editHints(f func([]any) []any) func(map[string]any) {
	return func(p map[string]any) {
		preferences, _ := p["modelPreferences"].(map[string]any)
		if hints, ok := preferences["hints"].([]any); ok {
			preferences["hints"] = f(hints)
		}
	}
}

// isArrayOfOne reports whether content is an array of one text.
func isArrayOfOne(content any) bool {
	blocks, ok := content.([]any)
	return ok && len(blocks) == 1 && len(ofType(content, "text")) == 1
}
