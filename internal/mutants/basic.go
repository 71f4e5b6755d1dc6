package mutants

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// manyBytes is where long texts are cut.
const manyBytes = 1 << 16

var basicMutants = []Mutant{
	{Name: "never-answers", Wire: true, Doc: "never responds to a sampling request",
		Kills: []string{"declare/over-declared"},
		Also: slices.Concat([]string{"mrtr/retried", "mrtr/prompts-and-resources", "client/sampled", "client/ends-cleanly",
			"declare/undeclared-sampling-refused", "declare/undeclared-tools-refused",
			"declare/undeclared-toolchoice-refused", "declare/alive", "basic/answered", "balance/alive", "consent/declined"},
			refusesAll),
		Hangs: true, edit: asked(func(s *Sample) {
			if s.Key == "" {
				s.Withhold()
			} else {
				s.Refuse(codeInternal, "never answers")
			}
		})},
	{Name: "refuses", Wire: true, Doc: "responds to every request with an error", Kills: []string{"basic/answered"},
		Also: []string{"mrtr/retried", "mrtr/prompts-and-resources", "client/sampled", "declare/over-declared",
			"consent/declined-code"},
		edit: refuses(func(*Sample) bool { return true })},
	{Name: "answers-twice", Wire: true, Doc: "sends each response twice",
		Kills: []string{"basic/answers-once", "loop/concurrent"}, Era: "legacy",
		Also: []string{"cancel/cancel-not-answered", "cancel/race", "transport/duplicate-request", "transport/answers-once"},
		edit: out(func(m *Message) {
			if m.AnswersSample() {
				m.After(copyOf(m.Body))
			}
		})},
	{Name: "id-as-string", Wire: true, Doc: "returns a number id as a string", Kills: []string{"basic/id-echoed"},
		Era: "legacy", edit: response(func(r map[string]any) { r["id"] = strings.Trim(Key(r["id"]), `"`) })},
	{Name: "answers-a-ghost", Wire: true, Doc: "sends beside each response another one, to a request that does not exist",
		Kills: []string{"basic/id-echoed"}, Era: "legacy", edit: out(func(m *Message) {
			if m.AnswersSample() {
				ghost := copyOf(m.Body)
				ghost["id"] = "ghost of " + Key(m.Body["id"])
				m.After(ghost)
			}
		})},
	{Name: "json-rpc-1", Wire: true, Doc: "responds in JSON-RPC 1.0", Kills: []string{"basic/json-rpc"}, Era: "legacy",
		edit: response(func(r map[string]any) { r["jsonrpc"] = "1.0" })},
	{Name: "null-content", Doc: "answers with the content null", Kills: []string{"basic/has-content"},
		Also: []string{"mrtr/answers-valid", "basic/valid-result", "basic/empty-answer"},
		edit: result(func(r map[string]any) { r["content"] = nil })},
	{Name: "no-model", Wire: true, Doc: "does not name the model", Kills: []string{"basic/has-model"},
		Also: []string{"mrtr/answers-valid", "basic/valid-result"},
		edit: result(func(r map[string]any) { delete(r, "model") })},
	{Name: "role-user", Wire: true, Doc: "answers with the role user", Kills: []string{"basic/role-assistant"},
		edit: result(func(r map[string]any) { r["role"] = "user" })},
	{Name: "untyped-block", Doc: "leaves the type out of text blocks", Kills: []string{"basic/valid-result"},
		Also: []string{"time/model-slow", "mrtr/answers-valid", "basic/text-intact", "basic/empty-answer",
			"tool-use/text-and-tool", "tool-use/required-unmet", "loop/three-rounds", "loop/last-round-none",
			"loop/concurrent"},
		edit: result(eachText(func(b map[string]any) { delete(b, "type") }))},
	{Name: "ascii-only", Doc: "replaces all characters except ASCII in the model's text",
		Kills: []string{"basic/text-intact"}, edit: result(eachText(func(b map[string]any) {
			b["text"] = asciiOnly(text(b, "text"))
		}))},
	{Name: "trims-prompt", Doc: "collapses white space in the user's text", Kills: []string{"basic/prompt-reaches-model"},
		edit: params(eachBlock("text", func(b map[string]any) {
			b["text"] = strings.Join(strings.Fields(text(b, "text")), " ")
		}))},
	{Name: "always-end-turn", Doc: "reports every answer as finished, truncated ones too",
		Kills: []string{"basic/stop-reason-true"}, Also: []string{"basic/stop-reason", "provider-errors/refusal-told"},
		edit: result(func(r map[string]any) {
			if len(ofType(r["content"], "tool_use")) == 0 {
				r["stopReason"] = "endTurn"
			}
		})},
	{Name: "asks-twice", Doc: "asks the model twice for each request", Kills: []string{"basic/one-model-call"},
		edit: func(w *Wire) Edit { return Edit{Model: w.asksTwice} }},
	{Name: "more-tokens", Doc: "raises maxTokens to a minimum of its own", Kills: []string{"basic/max-tokens"},
		Also: []string{"malformed/tolerated"}, edit: params(func(p map[string]any) { p["maxTokens"] = json.Number("4096") })},
	{Name: "id-as-number", Wire: true, Doc: "returns a string id as a number", Kills: []string{"basic/id-echoed"},
		Era: "legacy", edit: response(func(r map[string]any) {
			if r["id"] == "1" {
				r["id"] = json.Number("1")
			}
		})},
	{Name: "error-without-code", Wire: true, Doc: "sends errors with a message and no code",
		Kills: []string{"basic/error-shape"}, Era: "legacy",
		Also: append([]string{"malformed/error-code", "consent/declined-code"}, refusesAll...),
		edit: response(func(r map[string]any) {
			if r["error"] != nil {
				r["error"] = map[string]any{"message": "it failed"}
			}
		})},
	{Name: "error-code-as-text", Wire: true, Doc: "sends errors with a string as the code",
		Kills: []string{"basic/error-shape"}, Era: "legacy",
		Also: append([]string{"malformed/error-code", "consent/declined-code"}, refusesAll...),
		edit: response(func(r map[string]any) {
			if r["error"] != nil {
				r["error"] = map[string]any{"code": "INTERNAL", "message": "it failed"}
			}
		})},
	{Name: "array-before-its-time", Doc: "answers with an array where content is a single block",
		Kills: []string{"basic/no-array-before-a"}, Also: []string{"basic/valid-result", "basic/empty-answer"},
		In:   []server.Revision{server.V20250326, server.V20250618},
		edit: result(func(r map[string]any) { r["content"] = []any{r["content"]} })},
	{Name: "empty-as-null", Doc: "returns an empty answer of the model as null", Kills: []string{"basic/empty-answer"},
		edit: result(func(r map[string]any) {
			if said(r) == "" && len(ofType(r["content"], "tool_use")) == 0 {
				r["content"] = nil
			}
		})},
	{Name: "cuts-long-texts", Doc: "cuts the model's text at 64 KiB", Kills: []string{"basic/text-intact"},
		edit: result(eachText(cutText))},
	{Name: "cuts-long-prompts", Doc: "cuts the user's text at 64 KiB", Kills: []string{"basic/prompt-reaches-model"},
		edit: params(eachBlock("text", cutText))},
	{Name: "names-itself", Wire: true, Doc: "names itself as the model", Kills: []string{"basic/model-named"},
		edit: result(func(r map[string]any) { r["model"] = "my-client" })},
	{Name: "no-stop-reason", Wire: true, Doc: "does not return a stop reason", Kills: []string{"basic/stop-reason"},
		Also: []string{"tool-use/stop-reason-tooluse", "provider-errors/refusal-told"},
		edit: result(func(r map[string]any) { delete(r, "stopReason") })},
	{Name: "drops-system-prompt", Doc: "drops the system prompt", Kills: []string{"basic/system-prompt"},
		edit: params(func(p map[string]any) { delete(p, "systemPrompt") })},
	{Name: "echoes-system-prompt", Doc: "puts the system prompt before the model's text",
		Kills: []string{"basic/system-prompt-not-echoed"}, Also: []string{"basic/text-intact"},
		edit: answered(func(s *Sample) {
			eachText(func(b map[string]any) { b["text"] = text(s.Asked, "systemPrompt") + text(b, "text") })(s.Result)
		})},
	{Name: "drops-parameters", Doc: "drops temperature and stop sequences", Kills: []string{"basic/parameters"},
		Also: []string{"malformed/tolerated"},
		edit: params(func(p map[string]any) { delete(p, "temperature"); delete(p, "stopSequences") })},
	{Name: "refuses-parameters", Wire: true, Doc: "refuses a request with a temperature",
		Kills: []string{"basic/parameters-harmless"},
		edit:  refuses(func(s *Sample) bool { return s.Asked["temperature"] != nil })},
	{Name: "ignores-hints", Doc: "ignores model hints", Kills: []string{"basic/hints-respected"},
		edit: params(editHints(func([]any) []any { return nil }))},
	{Name: "last-hint-wins", Doc: "uses the last matching hint", Kills: []string{"basic/hints-in-order"},
		edit: params(editHints(func(hints []any) []any { slices.Reverse(hints); return hints }))},
	{Name: "whole-hints-only", Doc: "does not match parts of a model's name", Kills: []string{"basic/hint-substring"},
		Except: geminiOnly, edit: params(editHints(func(hints []any) []any {
			return slices.DeleteFunc(hints, func(item any) bool {
				hint, _ := item.(map[string]any)
				return len(text(hint, "name")) < 10
			})
		}))},
	{Name: "numbers-first", Doc: "prefers the priorities to the hints", Kills: []string{"basic/hints-over-numbers"},
		Dialects: []string{dialect.OpenAIChat, dialect.Anthropic}, edit: params(func(p map[string]any) {
			if preferences := member(p, "modelPreferences"); preferences["intelligencePriority"] != nil {
				delete(preferences, "hints")
			}
		})},
	{Name: "last-message-only", Doc: "passes only the last message of a history without tools to the model",
		Kills: []string{"basic/multi-turn"}, edit: params(func(p map[string]any) {
			if messages, ok := p["messages"].([]any); ok && p["tools"] == nil {
				p["messages"] = messages[len(messages)-1:]
			}
		})},
	{Name: "all-by-the-user", Doc: "passes every message to the model with the role user",
		Kills: []string{"basic/multi-turn"}, edit: params(func(p map[string]any) {
			if p["tools"] == nil {
				eachMessage(func(m map[string]any) { m["role"] = "user" })(p)
			}
		})},
	{Name: "refuses-arrays", Wire: true, Doc: "refuses content that is an array of one text",
		Kills: []string{"basic/single-and-array"}, edit: refuses(func(s *Sample) bool {
			found := false
			eachMessage(func(m map[string]any) { found = found || isArrayOfOne(m["content"]) })(s.Asked)
			return found
		})},
	{Name: "arrays-as-json", Doc: "passes an array of one text to the model as JSON", Kills: []string{"basic/same-effect"},
		edit: params(eachMessage(func(m map[string]any) {
			if isArrayOfOne(m["content"]) {
				m["content"] = textBlock(string(marshal(m["content"])))
			}
		}))},
	{Name: "first-block-only", Doc: "passes only the first block of a message to the model",
		Kills: []string{"basic/content-array"}, Also: []string{"basic/text-beside-media"},
		edit: params(func(p map[string]any) {
			eachMessage(func(m map[string]any) {
				if blocks, ok := m["content"].([]any); ok && p["tools"] == nil {
					m["content"] = blocks[:min(1, len(blocks))]
				}
			})(p)
		})},
	{Name: "placeholders", Doc: "replaces images and audio with placeholders", Kills: []string{"basic/media"},
		edit: params(eachMedium(func(b map[string]any) {
			b["text"], b["type"] = "["+text(b, "type")+"]", "text"
			delete(b, "data")
			delete(b, "mimeType")
		}))},
	{Name: "drops-text-beside-media", Doc: "drops the text of a message with an image or audio",
		Kills: []string{"basic/text-beside-media"}, edit: params(eachMessage(func(m map[string]any) {
			if len(ofType(m["content"], "image"))+len(ofType(m["content"], "audio")) > 0 {
				keep(m, "text", 0)
			}
		}))},
	{Name: "strict-params", Wire: true, Doc: "refuses unknown params", Kills: []string{"basic/unknown-extras"},
		edit: refuses(func(s *Sample) bool { return s.Asked["comExampleHint"] != nil })},
	{Name: "drops-block-meta", Doc: "drops the _meta of tool uses and results", Kills: []string{"basic/meta-preserved"},
		Dialects: nativeOnly, edit: params(func(p map[string]any) {
			for _, kind := range []string{"tool_use", "tool_result"} {
				eachBlock(kind, func(b map[string]any) { delete(b, "_meta") })(p)
			}
		})},
	{Name: "refuses-all-servers", Wire: true, Doc: "refuses the context of all servers",
		Kills: []string{"basic/include-context"},
		edit:  refuses(func(s *Sample) bool { return s.Asked["includeContext"] == "allServers" })},
	{Name: "remembers", Doc: "passes the text of one request to the model with the next one",
		Kills: []string{"basic/no-foreign-context", "loop/stateless"},
		Also:  []string{"basic/system-prompt", "loop/interleaved", "loop/concurrent"}, edit: remembers},
}

// remembers adds to the system prompt what was asked before.
func remembers(*Wire) Edit {
	var mu sync.Mutex
	before := ""
	return Edit{Params: func(p map[string]any) {
		mu.Lock()
		defer mu.Unlock()
		if before != "" {
			p["systemPrompt"] = text(p, "systemPrompt") + "\nBefore this, the user said: " + before
		}
		eachBlock("text", func(b map[string]any) { before = text(b, "text") })(p)
	}}
}

// asciiOnly replaces all other characters with question marks.
func asciiOnly(s string) string {
	return strings.Map(func(c rune) rune {
		if c > 0x7e {
			return '?'
		}
		return c
	}, s)
}

func cutText(b map[string]any) {
	if s := text(b, "text"); len(s) > manyBytes {
		b["text"] = strings.ToValidUTF8(s[:manyBytes], "")
	}
}

// eachMedium edits the images and audio of messages.
func eachMedium(f func(b map[string]any)) func(map[string]any) {
	return func(p map[string]any) {
		eachBlock("image", f)(p)
		eachBlock("audio", f)(p)
	}
}

// editHints edits the hints of the model preferences.
func editHints(f func([]any) []any) func(map[string]any) {
	return func(p map[string]any) {
		if hints, ok := member(p, "modelPreferences")["hints"].([]any); ok {
			member(p, "modelPreferences")["hints"] = f(hints)
		}
	}
}

// isArrayOfOne reports whether content is an array of one text.
func isArrayOfOne(content any) bool {
	blocks, ok := content.([]any)
	return ok && len(blocks) == 1 && len(ofType(content, "text")) == 1
}
