package mutants

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// manyBytes is where long texts are cut.
const manyBytes = 1 << 16

var basicEdits = edits{
	"never-answers": asked(func(s *Sample) {
		if s.Key == "" {
			s.Withhold()
		} else {
			s.Refuse(codeInternal, "never answers")
		}
	}),
	"refuses": refuses(func(*Sample) bool { return true }),
	"answers-twice": out(func(m *Message) {
		if m.AnswersSample() {
			m.After(copyOf(m.Body))
		}
	}),
	"id-as-string": response(func(r object) { r["id"] = strings.Trim(Key(r["id"]), `"`) }),
	"answers-a-ghost": out(func(m *Message) {
		if m.AnswersSample() {
			ghost := copyOf(m.Body)
			ghost["id"] = "ghost of " + Key(m.Body["id"])
			m.After(ghost)
		}
	}),
	"json-rpc-1":    response(set("jsonrpc", "1.0")),
	"null-content":  result(set("content", nil)),
	"no-model":      result(unset("model")),
	"role-user":     result(set("role", "user")),
	"untyped-block": result(eachText(unset("type"))),
	"ascii-only": result(eachText(func(b object) {
		b["text"] = asciiOnly(text(b, "text"))
	})),
	"trims-answers":        result(eachText(func(b object) { b["text"] = strings.TrimSpace(text(b, "text")) })),
	"drops-text-at-finish": reply(withoutAtFinish("content")),
	"answers-first-text":   result(func(r object) { keep(r, "text", 1) }),
	"drops-equal-texts": result(func(r object) {
		if blocks, ok := r["content"].([]any); ok {
			r["content"] = slices.CompactFunc(blocks, reflect.DeepEqual)
		}
	}),
	"drops-blank-pieces": reply(keepPieces(func(_, piece string) bool { return strings.TrimSpace(piece) != "" })),
	"drops-equal-pieces": reply(keepPieces(func(before, piece string) bool { return piece != before })),
	"needs-a-first-choice": reply(func(chunks []object) []object {
		if len(chunks) > 0 {
			if choices, ok := chunks[0]["choices"].([]any); ok && len(choices) == 0 {
				return []object{{"error": object{"message": "index out of range"}}}
			}
		}
		return chunks
	}),
	"comment-is-an-error": replyLines((*Wire).commentIsAnError),
	"first-page-only": in(func(m *Message) {
		if result, ok := m.Body["result"].(object); ok {
			delete(result, "nextCursor")
		}
	}),
	"trims-cursors": out(func(m *Message) {
		if params, ok := m.Body["params"].(object); ok && params["cursor"] != nil {
			params["cursor"] = strings.TrimSpace(text(params, "cursor"))
		}
	}),
	"ignores-falsy-ids": asked(func(s *Sample) {
		if s.ID == json.Number("0") || s.ID == "" {
			s.Withhold()
		}
	}),
	"trims-prompt": params(eachBlock("text", func(b object) {
		b["text"] = strings.Join(strings.Fields(text(b, "text")), " ")
	})),
	"always-end-turn": result(func(r object) {
		if len(ofType(r["content"], "tool_use")) == 0 {
			r["stopReason"] = "endTurn"
		}
	}),
	"asks-twice":  just(Edit{Model: (*Wire).asksTwice}),
	"more-tokens": params(set("maxTokens", json.Number("4096"))),
	"id-as-number": response(func(r object) {
		if r["id"] == "1" {
			r["id"] = json.Number("1")
		}
	}),
	"error-without-code":    response(errorIs(object{"message": "it failed"})),
	"error-code-as-text":    response(errorIs(object{"code": "INTERNAL", "message": "it failed"})),
	"array-before-its-time": result(func(r object) { r["content"] = []any{r["content"]} }),
	"empty-as-null": result(func(r object) {
		if said(r) == "" && len(ofType(r["content"], "tool_use")) == 0 {
			r["content"] = nil
		}
	}),
	"cuts-long-texts":   result(eachText(cutText)),
	"cuts-long-prompts": params(eachBlock("text", cutText)),
	"names-itself":      result(set("model", "my-client")),
	"cuts-model-name": result(func(r object) {
		name := text(r, "model")
		r["model"] = name[:len(name)/2]
	}),
	"no-stop-reason":      result(unset("stopReason")),
	"drops-system-prompt": params(unset("systemPrompt")),
	"echoes-system-prompt": answered(func(s *Sample) {
		eachText(func(b object) { b["text"] = text(s.Asked, "systemPrompt") + text(b, "text") })(s.Result)
	}),
	"system-prompt-for-one-message": params(func(p object) {
		if messages, _ := p["messages"].([]any); len(messages) > 1 {
			delete(p, "systemPrompt")
		}
	}),
	"falsy-temperature": params(func(p object) {
		if p["temperature"] == json.Number("0") {
			delete(p, "temperature")
		}
	}),
	"no-stops-with-tools": params(func(p object) {
		if p["tools"] != nil {
			delete(p, "stopSequences")
		}
	}),
	"drops-parameters":   params(unset("temperature", "stopSequences")),
	"refuses-parameters": refuses(func(s *Sample) bool { return s.Asked["temperature"] != nil }),
	"ignores-hints":      params(editHints(func([]any) []any { return nil })),
	"last-hint-wins":     params(editHints(func(hints []any) []any { slices.Reverse(hints); return hints })),
	"whole-hints-only": params(editHints(func(hints []any) []any {
		return slices.DeleteFunc(hints, func(item any) bool {
			hint, _ := item.(object)
			return len(text(hint, "name")) < 10
		})
	})),
	"numbers-first": params(func(p object) {
		if preferences := member(p, "modelPreferences"); preferences["intelligencePriority"] != nil {
			delete(preferences, "hints")
		}
	}),
	"last-message-only": params(func(p object) {
		if messages, ok := p["messages"].([]any); ok && p["tools"] == nil {
			p["messages"] = messages[len(messages)-1:]
		}
	}),
	"all-by-the-user": params(func(p object) {
		if p["tools"] == nil {
			eachMessage(set("role", "user"))(p)
		}
	}),
	"refuses-arrays": refuses(func(s *Sample) bool {
		found := false
		eachMessage(func(m object) { found = found || isArrayOfOne(m["content"]) })(s.Asked)
		return found
	}),
	"arrays-as-json": params(eachMessage(func(m object) {
		if isArrayOfOne(m["content"]) {
			m["content"] = textBlock(string(marshal(m["content"])))
		}
	})),
	"first-block-only": params(func(p object) {
		eachMessage(func(m object) {
			if blocks, ok := m["content"].([]any); ok && p["tools"] == nil {
				m["content"] = blocks[:min(1, len(blocks))]
			}
		})(p)
	}),
	"placeholders": params(eachMedium(func(b object) {
		b["text"], b["type"] = "["+text(b, "type")+"]", "text"
		delete(b, "data")
		delete(b, "mimeType")
	})),
	"refuses-media-without-reason": asked(func(s *Sample) {
		hasMedia := false
		eachMedium(func(object) { hasMedia = true })(s.Asked)
		if hasMedia && s.Wire.Serves(s.Asked) {
			s.Refuse(codeInvalidParams, "")
		}
	}),
	"drops-text-beside-media": params(eachMessage(func(m object) {
		if len(ofType(m["content"], "image"))+len(ofType(m["content"], "audio")) > 0 {
			keep(m, "text", 0)
		}
	})),
	"strict-params": refuses(func(s *Sample) bool { return s.Asked["comExampleHint"] != nil }),
	"drops-block-meta": params(func(p object) {
		for _, kind := range []string{"tool_use", "tool_result"} {
			eachBlock(kind, unset("_meta"))(p)
		}
	}),
	"refuses-all-servers": just(Edit{
		Declared: func(c object) {
			if sampling := member(c, "sampling"); sampling != nil {
				sampling["context"] = object{}
			}
		},
		Asked: func(s *Sample) {
			if s.Asked["includeContext"] == "allServers" {
				s.Refuse(codeInvalidParams, "not this one")
			}
		},
	}),
	"remembers":           remembers,
	"first-system-prompt": firstSystemPrompt,
	"decodes-model-apart": just(Edit{Model: decodedApart}),
}

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

// firstSystemPrompt gives the model the system prompt of the first request with every later one.
func firstSystemPrompt(*Wire) Edit {
	var mu sync.Mutex
	first := ""
	return Edit{Params: func(p object) {
		mu.Lock()
		defer mu.Unlock()
		if first == "" {
			first = text(p, "systemPrompt")
		} else {
			p["systemPrompt"] = first
		}
	}}
}

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

func eachMedium(f func(b object)) func(object) {
	return func(p object) {
		eachBlock("image", f)(p)
		eachBlock("audio", f)(p)
	}
}

func editHints(f func([]any) []any) func(object) {
	return func(p object) {
		if hints, ok := member(p, "modelPreferences")["hints"].([]any); ok {
			member(p, "modelPreferences")["hints"] = f(hints)
		}
	}
}

func isArrayOfOne(content any) bool {
	blocks, ok := content.([]any)
	return ok && len(blocks) == 1 && len(ofType(content, "text")) == 1
}

// decodedApart decodes the bytes of each short read as UTF-8, without those before and after them.
func decodedApart(w *Wire, next http.RoundTripper) http.RoundTripper {
	return replies(next, func(body io.ReadCloser) io.ReadCloser { return &apart{ReadCloser: body, fire: w.Fire} })
}

type apart struct {
	io.ReadCloser
	fire  func()
	ready []byte
}

func (a *apart) Read(b []byte) (int, error) {
	for len(a.ready) == 0 {
		n, err := a.ReadCloser.Read(b[:min(len(b), 7)])
		if n == 0 && err != nil {
			return 0, err
		}
		if a.ready = bytes.ToValidUTF8(b[:n], []byte("\uFFFD")); len(a.ready) != n {
			a.fire()
		}
	}
	n := copy(b, a.ready)
	a.ready = a.ready[n:]
	return n, nil
}

// withoutAtFinish drops a member of the delta beside the finish reason.
func withoutAtFinish(member string) func([]object) []object {
	return func(chunks []object) []object {
		for _, c := range chunks {
			eachItem(c["choices"], func(choice object) {
				if delta, ok := choice["delta"].(object); ok && choice["finish_reason"] != nil {
					delete(delta, member)
				}
			})
		}
		return chunks
	}
}

// commentIsAnError makes an error of a comment in an event stream.
func (w *Wire) commentIsAnError(line []byte) []byte {
	if bytes.HasPrefix(line, []byte(":")) {
		w.Fire()
		return []byte(`data: {"error":{"message":"not JSON"}}`)
	}
	return line
}

// keepPieces keeps the pieces of a streamed text for which keep returns true. before is the piece before.
func keepPieces(keep func(before, piece string) bool) func([]object) []object {
	return func(chunks []object) []object {
		before := ""
		eachDelta(chunks, func(d object) {
			piece := text(d, "content")
			if piece != "" && !keep(before, piece) {
				delete(d, "content")
			}
			before = piece
		})
		return chunks
	}
}
