package badclients

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// answers are clients whose answers to a sample are not what they should be.
var answers = []Client{
	{Name: "answers-twice", Doc: "posts each response two times", Legacy: true, asked: func(w *wire, s *sample) {
		answer := w.ask(s)
		w.give(s, answer)
		w.give(s, answer)
	}},
	{Name: "answers-what-nobody-asked", Doc: "posts responses with ids that were never sent", Legacy: true, asked: func(w *wire, s *sample) {
		answer := w.ask(s)
		for _, id := range []string{`"never"`, `123456`, `null`, `[1]`, `{"a":1}`, `-1`, `1.5`} {
			w.give(&sample{id: json.RawMessage(id)}, answer)
		}
		w.give(s, answer)
	}},
	{Name: "ids-of-another-type", Doc: "gives a number id back as a string", Legacy: true, asked: func(w *wire, s *sample) {
		w.give(&sample{id: dialect.Marshal(string(s.id))}, w.ask(s))
	}},
	{Name: "result-and-error", Doc: "answers with a result and an error in one message", Legacy: true, asked: func(w *wire, s *sample) {
		_ = w.notify(object{"jsonrpc": "2.0", "id": s.id, "result": w.ask(s), "error": object{"code": -1, "message": "no"}})
	}},
	{Name: "neither-result-nor-error", Doc: "answers with an id and nothing else", Legacy: true, asked: func(w *wire, s *sample) {
		_ = w.notify(object{"jsonrpc": "2.0", "id": s.id})
	}},
	{Name: "wrong-jsonrpc", Doc: "answers in JSON-RPC 1.0", Legacy: true, asked: func(w *wire, s *sample) {
		_ = w.notify(object{"jsonrpc": "1.0", "id": s.id, "result": w.ask(s)})
	}},
	{Name: "answers-after-the-end", Doc: "answers a sample after it has ended the session", Legacy: true, asked: func(w *wire, s *sample) {
		answer := w.ask(s)
		session := w.session
		_ = w.close()
		w.session = session
		w.give(s, answer)
	}},
	{Name: "a-string-for-a-result", Doc: "answers with a string", asked: func(w *wire, s *sample) { w.give(s, json.RawMessage(`"Paris"`)) }},
	{Name: "null-for-a-result", Doc: "answers with null", asked: func(w *wire, s *sample) { w.give(s, json.RawMessage(`null`)) }},
	{Name: "the-provider's-body", Doc: "answers with what a provider sent, as it came", asked: func(w *wire, s *sample) {
		w.give(s, json.RawMessage(`{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Paris"},"finish_reason":"stop"}]}`))
	}},
	{Name: "input-nobody-asked-for", Doc: "answers under a key that nobody asked for", Modern: true, asked: func(w *wire, s *sample) {
		w.give(&sample{retry: s.retry, key: "no-such-key"}, w.ask(s))
	}},
	{Name: "forgets-the-state", Doc: "calls again without the state that it was given", Modern: true, asked: func(w *wire, s *sample) {
		w.give(s, w.ask(s))
		delete(s.retry, "requestState")
	}},
	{Name: "changes-the-state", Doc: "calls again with a state of its own", Modern: true, asked: func(w *wire, s *sample) {
		w.give(s, w.ask(s))
		s.retry["requestState"] = "mine"
	}},
}
