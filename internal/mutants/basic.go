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

var basicMutants = chapter("basic",
	m("never-answers", "never responds to a sampling request",
		"declare/over-declared | mrtr/retried mrtr/prompts-and-resources client/sampled client/ends-cleanly"+
			" declare/undeclared-sampling-refused declare/undeclared-tools-refused"+
			" declare/undeclared-toolchoice-refused declare/alive answered balance/alive consent/declined"+refusesAll,
		asked(func(s *Sample) {
			if s.Key == "" {
				s.Withhold()
			} else {
				s.Refuse(codeInternal, "never answers")
			}
		}), wire, hangs),
	m("refuses", "responds to every request with an error",
		"answered | mrtr/retried mrtr/prompts-and-resources client/sampled declare/over-declared consent/declined-code",
		refuses(func(*Sample) bool { return true }), wire),
	m("answers-twice", "sends each response twice",
		"answers-once loop/concurrent | cancel/cancel-not-answered cancel/race transport/duplicate-request"+
			" transport/answers-once", out(func(m *Message) {
			if m.AnswersSample() {
				m.After(copyOf(m.Body))
			}
		}), wire, legacy),
	m("id-as-string", "returns a number id as a string", "id-echoed",
		response(func(r object) { r["id"] = strings.Trim(Key(r["id"]), `"`) }), wire, legacy),
	m("answers-a-ghost", "sends beside each response another one, to a request that does not exist", "id-echoed",
		out(func(m *Message) {
			if m.AnswersSample() {
				ghost := copyOf(m.Body)
				ghost["id"] = "ghost of " + Key(m.Body["id"])
				m.After(ghost)
			}
		}), wire, legacy),
	m("json-rpc-1", "responds in JSON-RPC 1.0", "json-rpc", response(set("jsonrpc", "1.0")),
		wire, legacy),
	m("null-content", "answers with the content null", "has-content | mrtr/answers-valid valid-result empty-answer",
		result(set("content", nil))),
	m("no-model", "does not name the model", "has-model | mrtr/answers-valid valid-result",
		result(unset("model")), wire),
	m("role-user", "answers with the role user", "role-assistant",
		result(set("role", "user")), wire),
	m("untyped-block", "leaves the type out of text blocks",
		"valid-result | time/model-slow mrtr/answers-valid text-intact empty-answer tool-use/text-and-tool"+
			" tool-use/required-unmet loop/three-rounds loop/last-round-none loop/concurrent",
		result(eachText(unset("type")))),
	m("ascii-only", "replaces all characters except ASCII in the model's text", "text-intact",
		result(eachText(func(b object) {
			b["text"] = asciiOnly(text(b, "text"))
		}))),
	m("trims-prompt", "collapses white space in the user's text", "prompt-reaches-model",
		params(eachBlock("text", func(b object) {
			b["text"] = strings.Join(strings.Fields(text(b, "text")), " ")
		}))),
	m("always-end-turn", "reports every answer as finished, truncated ones too",
		"stop-reason-true | stop-reason provider-errors/refusal-told", result(func(r object) {
			if len(ofType(r["content"], "tool_use")) == 0 {
				r["stopReason"] = "endTurn"
			}
		})),
	m("asks-twice", "asks the model twice for each request", "one-model-call",
		just(Edit{Model: (*Wire).asksTwice})),
	m("more-tokens", "raises maxTokens to a minimum of its own", "max-tokens | malformed/tolerated",
		params(set("maxTokens", json.Number("4096")))),
	m("id-as-number", "returns a string id as a number", "id-echoed", response(func(r object) {
		if r["id"] == "1" {
			r["id"] = json.Number("1")
		}
	}), wire, legacy),
	m("error-without-code", "sends errors with a message and no code", alsoErrors,
		response(errorIs(object{"message": "it failed"})), wire, legacy),
	m("error-code-as-text", "sends errors with a string as the code", alsoErrors,
		response(errorIs(object{"code": "INTERNAL", "message": "it failed"})), wire, legacy),
	m("array-before-its-time", "answers with an array where content is a single block",
		"no-array-before-a | valid-result empty-answer",
		result(func(r object) { r["content"] = []any{r["content"]} }),
		during(server.V20250326, server.V20250618)),
	m("empty-as-null", "returns an empty answer of the model as null", "empty-answer", result(func(r object) {
		if said(r) == "" && len(ofType(r["content"], "tool_use")) == 0 {
			r["content"] = nil
		}
	})),
	m("cuts-long-texts", "cuts the model's text at 64 KiB", "text-intact", result(eachText(cutText))),
	m("cuts-long-prompts", "cuts the user's text at 64 KiB", "prompt-reaches-model",
		params(eachBlock("text", cutText))),
	m("names-itself", "names itself as the model", "model-named",
		result(set("model", "my-client")), wire),
	m("no-stop-reason", "does not return a stop reason",
		"stop-reason | tool-use/stop-reason-tooluse provider-errors/refusal-told",
		result(unset("stopReason")), wire),
	m("drops-system-prompt", "drops the system prompt", "system-prompt",
		params(unset("systemPrompt"))),
	m("echoes-system-prompt", "puts the system prompt before the model's text",
		"system-prompt-not-echoed | text-intact", answered(func(s *Sample) {
			eachText(func(b object) { b["text"] = text(s.Asked, "systemPrompt") + text(b, "text") })(s.Result)
		})),
	m("drops-parameters", "drops temperature and stop sequences", "parameters | malformed/tolerated",
		params(unset("temperature", "stopSequences"))),
	m("refuses-parameters", "refuses a request with a temperature", "parameters-harmless",
		refuses(func(s *Sample) bool { return s.Asked["temperature"] != nil }), wire),
	m("ignores-hints", "ignores model hints", "hints-respected", params(editHints(func([]any) []any { return nil }))),
	m("last-hint-wins", "uses the last matching hint", "hints-in-order",
		params(editHints(func(hints []any) []any { slices.Reverse(hints); return hints }))),
	m("whole-hints-only", "does not match parts of a model's name", "hint-substring",
		params(editHints(func(hints []any) []any {
			return slices.DeleteFunc(hints, func(item any) bool {
				hint, _ := item.(object)
				return len(text(hint, "name")) < 10
			})
		})), except(dialect.Gemini)),
	m("numbers-first", "prefers the priorities to the hints", "hints-over-numbers", params(func(p object) {
		if preferences := member(p, "modelPreferences"); preferences["intelligencePriority"] != nil {
			delete(preferences, "hints")
		}
	}), only(dialect.OpenAIChat, dialect.Anthropic)),
	m("last-message-only", "passes only the last message of a history without tools to the model", "multi-turn",
		params(func(p object) {
			if messages, ok := p["messages"].([]any); ok && p["tools"] == nil {
				p["messages"] = messages[len(messages)-1:]
			}
		})),
	m("all-by-the-user", "passes every message to the model with the role user", "multi-turn",
		params(func(p object) {
			if p["tools"] == nil {
				eachMessage(set("role", "user"))(p)
			}
		})),
	m("refuses-arrays", "refuses content that is an array of one text", "single-and-array",
		refuses(func(s *Sample) bool {
			found := false
			eachMessage(func(m object) { found = found || isArrayOfOne(m["content"]) })(s.Asked)
			return found
		}), wire),
	m("arrays-as-json", "passes an array of one text to the model as JSON", "same-effect",
		params(eachMessage(func(m object) {
			if isArrayOfOne(m["content"]) {
				m["content"] = textBlock(string(marshal(m["content"])))
			}
		}))),
	m("first-block-only", "passes only the first block of a message to the model", "content-array | text-beside-media",
		params(func(p object) {
			eachMessage(func(m object) {
				if blocks, ok := m["content"].([]any); ok && p["tools"] == nil {
					m["content"] = blocks[:min(1, len(blocks))]
				}
			})(p)
		})),
	m("placeholders", "replaces images and audio with placeholders", "media",
		params(eachMedium(func(b object) {
			b["text"], b["type"] = "["+text(b, "type")+"]", "text"
			delete(b, "data")
			delete(b, "mimeType")
		}))),
	m("drops-text-beside-media", "drops the text of a message with an image or audio", "text-beside-media",
		params(eachMessage(func(m object) {
			if len(ofType(m["content"], "image"))+len(ofType(m["content"], "audio")) > 0 {
				keep(m, "text", 0)
			}
		}))),
	m("strict-params", "refuses unknown params", "unknown-extras",
		refuses(func(s *Sample) bool { return s.Asked["comExampleHint"] != nil }), wire),
	m("drops-block-meta", "drops the _meta of tool uses and results", "meta-preserved",
		params(func(p object) {
			for _, kind := range []string{"tool_use", "tool_result"} {
				eachBlock(kind, unset("_meta"))(p)
			}
		}), only(dialect.Native)),
	m("refuses-all-servers", "refuses the context of all servers", "include-context",
		refuses(func(s *Sample) bool { return s.Asked["includeContext"] == "allServers" }), wire),
	m("remembers", "passes the text of one request to the model with the next one",
		"no-foreign-context loop/stateless | system-prompt loop/interleaved loop/concurrent", remembers),
)

const alsoErrors = "error-shape | malformed/error-code consent/declined-code" + refusesAll

// errorIs replaces the error of a response.
func errorIs(failed object) func(object) {
	return func(r object) {
		if r["error"] != nil {
			r["error"] = failed
		}
	}
}

// remembers adds to the system prompt what was asked before.
func remembers(*Wire) Edit {
	var mu sync.Mutex
	before := ""
	return Edit{Params: func(p object) {
		mu.Lock()
		defer mu.Unlock()
		if before != "" {
			p["systemPrompt"] = text(p, "systemPrompt") + "\nBefore this, the user said: " + before
		}
		eachBlock("text", func(b object) { before = text(b, "text") })(p)
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

func cutText(b object) {
	if s := text(b, "text"); len(s) > manyBytes {
		b["text"] = strings.ToValidUTF8(s[:manyBytes], "")
	}
}

// eachMedium edits the images and audio of messages.
func eachMedium(f func(b object)) func(object) {
	return func(p object) {
		eachBlock("image", f)(p)
		eachBlock("audio", f)(p)
	}
}

// editHints edits the hints of the model preferences.
func editHints(f func([]any) []any) func(object) {
	return func(p object) {
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
