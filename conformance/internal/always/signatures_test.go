package always_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestThoughtSignaturesReachTheModelAgain(t *testing.T) {
	const history = `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"stop","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"a","content":[{"type":"text","text":"ok"}]}]}`
	params := func(history string) string {
		return `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"One?"}}` + history +
			`],"tools":[{"name":"stop","inputSchema":{"type":"object"}}]}`
	}
	const gone = `,"gone":true`
	const signed = `,"thoughtSignature":"c2VhbA=="`
	const elsewhere = `},{"functionCall":{"args":{"at":1},"id":"b","name":"stop"}` + signed
	// turns is a loop of two rounds, in which the model signs its call as given, and gets the call with what is given.
	turns := func(says, history, gets string) steps {
		return func(s *session) {
			ok := trace.ModelEnd{Status: 200}
			s.Asks(json.RawMessage(params(""))).Prompt(correctBody(t, gemini, params("")), ok)
			s.Says(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"stop","args":{}}` + says + `}]}}]}`)
			s.Answers(tracetest.Wanting([3]string{"a", "stop", `{}`}))
			body := correctBody(t, gemini, params(history))
			if history != "" {
				const call = `{"functionCall":{"args":{},"id":"a","name":"stop"}`
				require.Contains(t, body, call)
				if body = strings.Replace(body, call, call+gets, 1); gets == gone {
					body = strings.Replace(body, call+gone+"}", `{"text":"I stop."}`, 1)
				}
			}
			s.Asks(json.RawMessage(params(history))).Prompt(body, ok).Answers(answer)
		}
	}
	tests := []tracetest.Test{
		passes("the same", turns(signed, history, signed)),
		fails("lost", turns(signed, history, ""), "stop with its signature, found it without"),
		fails("at another call", turns(signed, history, elsewhere), "found another call with it"),
		fails("changed", turns(signed, history, `,"thoughtSignature":"c2VhbB=="`), "found it without"),
		warns("a placeholder", turns(signed, history, `,"thoughtSignature":"skip_thought_signature_validator"`),
			"found a placeholder"),
		warns("a placeholder as bytes, of Google's SDK",
			turns(signed, history, `,"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="`),
			"found a placeholder"),
		fails("the call is gone", turns(signed, history, gone), "found no such call"),
		inapplicable("none given", turns("", history, "")),
		inapplicable("the call is not in the next request", turns(signed, "", "")),
	}
	for i := range tests {
		tests[i].Dialects, tests[i].In = []string{gemini}, []server.Revision{server.V20251125}
	}
	judges(t, "thought-signature", "basic/question", tests...)
}
