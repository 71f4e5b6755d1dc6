package badclients

import (
	"encoding/json"
	"maps"

	"github.com/mcp-conform/mcp-conform/internal/mutants"
)

// answers are clients whose answers to sampling requests are wrong.
var answers = []Client{
	{Name: "answers-twice", Doc: "sends each response twice", Legacy: true,
		edit: answering(func(_ *bad, m *mutants.Message) { m.After(maps.Clone(m.Body)) })},
	{Name: "answers-what-nobody-asked", Doc: "sends responses to requests that do not exist", Legacy: true,
		edit: answering(func(_ *bad, m *mutants.Message) {
			for _, id := range []string{`"never"`, `123456`, `null`, `[1]`, `{"a":1}`, `-1`, `1.5`} {
				other := maps.Clone(m.Body)
				other["id"] = json.RawMessage(id)
				m.Before(other)
			}
		})},
	{Name: "ids-of-another-type", Doc: "returns a number id as a string", Legacy: true,
		edit: answering(func(_ *bad, m *mutants.Message) { m.Body["id"] = mutants.Key(m.Body["id"]) })},
	{Name: "result-and-error", Doc: "responds with a result and an error in one message", Legacy: true,
		edit: answering(func(_ *bad, m *mutants.Message) { m.Body["error"] = object{"code": -1, "message": "no"} })},
	{Name: "neither-result-nor-error", Doc: "responds with an id alone", Legacy: true,
		edit: answering(func(_ *bad, m *mutants.Message) { delete(m.Body, "result") })},
	{Name: "wrong-jsonrpc", Doc: "responds in JSON-RPC 1.0", Legacy: true,
		edit: answering(func(_ *bad, m *mutants.Message) { m.Body["jsonrpc"] = "1.0" })},
	{Name: "answers-after-the-end", Doc: "responds to a sampling request after it has ended the session", Legacy: true,
		edit: answering(func(b *bad, _ *mutants.Message) { b.end() })},
	{Name: "a-string-for-a-result", Doc: "answers with a string", edit: always("Paris")},
	{Name: "null-for-a-result", Doc: "answers with null", edit: always(nil)},
	{Name: "the-provider's-body", Doc: "answers with the body that a provider sent", edit: always(json.RawMessage(
		`{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",` +
			`"content":"Paris"},"finish_reason":"stop"}]}`))},
	{Name: "input-nobody-asked-for", Doc: "answers with an unknown key", Modern: true,
		edit: retrying(func(params object) {
			responses := params["inputResponses"].(object)
			for key, answer := range maps.Clone(responses) {
				delete(responses, key)
				responses["no-such-key"] = answer
			}
		})},
	{Name: "forgets-the-state", Doc: "retries a call without its state", Modern: true,
		edit: retrying(func(params object) { delete(params, "requestState") })},
	{Name: "changes-the-state", Doc: "retries a call with another state", Modern: true,
		edit: retrying(func(params object) { params["requestState"] = "mine" })},
}

// answering edits the responses to sampling requests (legacy era).
func answering(f func(b *bad, m *mutants.Message)) func(*bad) mutants.Edit {
	return func(b *bad) mutants.Edit {
		return mutants.Edit{Out: func(m *mutants.Message) {
			if m.AnswersSample() {
				f(b, m)
			}
		}}
	}
}

// retrying edits the retries of calls (modern era), and exits if the server refuses one.
func retrying(f func(params object)) func(*bad) mutants.Edit {
	return func(b *bad) mutants.Edit {
		return mutants.Edit{
			Retry: func(_ *mutants.Call, params object) { f(params) },
			In: func(m *mutants.Message) {
				if m.Request != nil && m.Request.Call() != nil && m.Body["error"] != nil {
					b.wire.Die("the server refused a retry")
				}
			},
		}
	}
}

// always gives every sampling request the same answer, in either era.
func always(answer any) func(*bad) mutants.Edit {
	return func(*bad) mutants.Edit {
		return mutants.Edit{
			Response: func(response object) { response["result"] = answer },
			Retry: func(_ *mutants.Call, params object) {
				responses := params["inputResponses"].(object)
				for key := range responses {
					responses[key] = answer
				}
			},
		}
	}
}
