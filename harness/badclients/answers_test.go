package badclients

import (
	"encoding/json"
	"maps"

	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

// answers are clients whose answers to sampling requests are wrong.
var answers = []Client{
	edits("answers-twice", legacy, answering(func(_ *bad, m *mutants.Message) { m.After(maps.Clone(m.Body)) })),
	edits("answers-what-nobody-asked", legacy, answering(func(_ *bad, m *mutants.Message) {
		for _, id := range []string{`"never"`, `123456`, `null`, `[1]`, `{"a":1}`, `-1`, `1.5`} {
			other := maps.Clone(m.Body)
			other["id"] = json.RawMessage(id)
			m.Before(other)
		}
	})),
	edits("ids-of-another-type", legacy, answering(func(_ *bad, m *mutants.Message) {
		m.Body["id"] = mutants.Key(m.Body["id"])
	})),
	edits("result-and-error", legacy, answering(func(_ *bad, m *mutants.Message) {
		m.Body["error"] = object{"code": -1, "message": "no"}
	})),
	edits("neither-result-nor-error", legacy, answering(func(_ *bad, m *mutants.Message) { delete(m.Body, "result") })),
	edits("wrong-jsonrpc", legacy, answering(func(_ *bad, m *mutants.Message) { m.Body["jsonrpc"] = "1.0" })),
	edits("answers-after-the-end", legacy, answering(func(b *bad, _ *mutants.Message) { b.end() })),
	edits("a-string-for-a-result", both, always("Paris")),
	edits("null-for-a-result", both, always(nil)),
	edits("the-provider's-body", both, always(json.RawMessage(
		`{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",`+
			`"content":"Paris"},"finish_reason":"stop"}]}`))),
	edits("input-nobody-asked-for", modern, retrying(func(params object) {
		responses := params["inputResponses"].(object)
		for key, answer := range maps.Clone(responses) {
			delete(responses, key)
			responses["no-such-key"] = answer
		}
	})),
	edits("forgets-the-state", modern, retrying(func(params object) { delete(params, "requestState") })),
	edits("changes-the-state", modern, retrying(func(params object) { params["requestState"] = "mine" })),
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

// retrying edits the retries of calls (modern era).
func retrying(f func(params object)) func(*bad) mutants.Edit {
	return func(*bad) mutants.Edit {
		return mutants.Edit{Retry: func(_ *mutants.Call, params object) { f(params) }}
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
