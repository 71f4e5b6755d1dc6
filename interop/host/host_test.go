package host_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/host"
)

const (
	withTools    = `{"sampling":{"tools":{}}}`
	withoutTools = `{"sampling":{}}`
	asked        = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}},` +
		`{"type":"tool_use","id":"b","name":"t","input":{}}]}`
)

func TestStrictHostRefusesInvalidRequests(t *testing.T) {
	result := func(id string) string { return `{"type":"tool_result","toolUseId":"` + id + `","content":[]}` }
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	for name, c := range map[string]struct{ declared, messages, more, why string }{
		"question":       {withTools, `{"role":"user","content":{"type":"text","text":"?"}}`, ``, ""},
		"balanced":       {withTools, asked + "," + user(result("b")+","+result("a")), ``, ""},
		"declared tools": {withTools, user(`{"type":"text","text":"?"}`), `,"tools":[]`, ""},
		"undeclared tools": {withoutTools, user(`{"type":"text","text":"?"}`), `,"tools":[]`,
			"tools were not declared"},
		"undeclared tool choice": {withoutTools, user(`{"type":"text","text":"?"}`), `,"toolChoice":{}`,
			"tools were not declared"},
		"missing result": {withTools, asked + "," + user(result("a")), ``, "a tool_use has no tool_result"},
		"late result": {withTools, asked + "," + user(`{"type":"text","text":"?"}`), ``,
			"a tool_use has no tool_result"},
		"use at the end": {withTools, asked, ``, "a tool_use has no tool_result"},
		"mixed": {withTools, asked + "," +
			user(result("a")+","+result("b")+`,{"type":"text","text":"?"}`), ``,
			"a message contains a tool_result and other content"},
		"orphan": {withTools, user(result("a")), ``, "a tool_result has no tool_use"},
		"duplicate use": {withTools,
			`{"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"a"}]}`, ``, "duplicate id"},
		"duplicate result": {withTools, asked + "," + user(result("a")+","+result("a")), ``, "duplicate id"},
		"use of the user": {withTools, user(`{"type":"tool_use","id":"a"}`), ``,
			"a user message contains a tool_use"},
		"result of the assistant": {withTools, `{"role":"assistant","content":` + result("a") + `}`, ``,
			"an assistant message contains a tool_result"},
		"message without content":  {withTools, `{"role":"user"}`, ``, "a message has no content"},
		"message that is a number": {withTools, `3`, ``, "invalid request"},
	} {
		t.Run(name, func(t *testing.T) {
			params := `{"messages":[` + c.messages + `],"maxTokens":1` + c.more + `}`
			require.Equal(t, c.why, host.Forbidden(json.RawMessage(params), json.RawMessage(c.declared)))
		})
	}
}

func TestForbiddenToolUsesAreFound(t *testing.T) {
	const use = `{"content":[{"type":"text","text":"Yes."},{"type":"tool_use","id":"a","name":"t","input":{}}]}`
	const text = `{"content":{"type":"text","text":"No."}}`
	for name, c := range map[string]struct {
		params, result string
		want           bool
	}{
		"tools":                  {`{"tools":[{}]}`, use, false},
		"tools, choice auto":     {`{"tools":[{}],"toolChoice":{"mode":"auto"}}`, use, false},
		"tools, choice none":     {`{"tools":[{}],"toolChoice":{"mode":"none"}}`, use, true},
		"no tools":               {`{}`, use, true},
		"empty tools":            {`{"tools":[]}`, use, true},
		"single block":           {`{}`, `{"content":{"type":"tool_use","id":"a"}}`, true},
		"text":                   {`{}`, text, false},
		"answer without content": {`{}`, `{}`, false},
		"invalid answer":         {`{}`, `7`, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, host.UsesForbiddenTool(json.RawMessage(c.params), json.RawMessage(c.result)))
		})
	}
}

func TestSampleRefusesWithTheRightCode(t *testing.T) {
	params := json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"Hello?"}}],"maxTokens":10,` +
		`"tools":[]}`)
	for name, c := range map[string]struct {
		strict   bool
		declare  string
		decision string
		rules    []*llm.Rule
		code     int
		message  string
	}{
		"answer":   {false, withTools, harness.Approve, []*llm.Rule{llm.When().Reply(llm.Text("Hello."))}, 0, ""},
		"strict":   {true, withoutTools, harness.Approve, nil, -32602, "tools were not declared"},
		"declined": {false, withTools, harness.Decline, nil, -1, "the user declined the request"},
		"declined answer": {false, withTools, harness.DeclineAnswer, []*llm.Rule{llm.When().Reply(llm.Text("Hello."))}, -1,
			"the user declined the answer"},
		"forbidden tool use": {true, withTools, harness.Approve, []*llm.Rule{llm.When().Reply(llm.Call("t", "{}"))}, -32603,
			"the model used a forbidden tool"},
		"provider's error": {false, withTools, harness.Approve,
			[]*llm.Rule{llm.When().Fail(&llm.Error{Status: 401, Message: "bad key sk-1"})}, -32603, "the model did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			model := llm.New(t, c.rules...)
			h := host.Host{Strict: c.strict, Env: harness.Env{HTTP: http.DefaultClient, Model: model.BaseURLs(),
				Declare: json.RawMessage(c.declare), Decision: c.decision}}
			result, err := h.Sample(t.Context(), params)
			if c.message == "" {
				require.NoError(t, err)
				require.Contains(t, string(result), "Hello.")
				return
			}
			require.Equal(t, &host.Refusal{Code: c.code, Message: c.message}, err)
		})
	}
}
