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
	asked        = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}},{"type":"tool_use","id":"b","name":"t","input":{}}]}`
)

func TestAStrictHostRefusesWhatTheSpecificationForbids(t *testing.T) {
	result := func(id string) string { return `{"type":"tool_result","toolUseId":"` + id + `","content":[]}` }
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	for name, c := range map[string]struct{ declared, messages, more, why string }{
		"a question":                  {withTools, `{"role":"user","content":{"type":"text","text":"?"}}`, ``, ""},
		"balanced":                    {withTools, asked + "," + user(result("b")+","+result("a")), ``, ""},
		"tools that were declared":    {withTools, user(`{"type":"text","text":"?"}`), `,"tools":[]`, ""},
		"tools that were not":         {withoutTools, user(`{"type":"text","text":"?"}`), `,"tools":[]`, "tools were not declared"},
		"a tool choice that was not":  {withoutTools, user(`{"type":"text","text":"?"}`), `,"toolChoice":{}`, "tools were not declared"},
		"a result is missing":         {withTools, asked + "," + user(result("a")), ``, "a tool_use has no tool_result"},
		"a result comes late":         {withTools, asked + "," + user(`{"type":"text","text":"?"}`), ``, "a tool_use has no tool_result"},
		"a use at the end":            {withTools, asked, ``, "a tool_use has no tool_result"},
		"mixed":                       {withTools, asked + "," + user(result("a")+","+result("b")+`,{"type":"text","text":"?"}`), ``, "a tool_result stands beside other content"},
		"an orphan":                   {withTools, user(result("a")), ``, "a tool_result has no tool_use"},
		"a use twice":                 {withTools, `{"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"a"}]}`, ``, "an id comes twice"},
		"a result twice":              {withTools, asked + "," + user(result("a")+","+result("a")), ``, "an id comes twice"},
		"a use of the user's":         {withTools, user(`{"type":"tool_use","id":"a"}`), ``, "a tool_use stands under the role user"},
		"a result of the assistant's": {withTools, `{"role":"assistant","content":` + result("a") + `}`, ``, "a tool_result stands under the role assistant"},
		"a message without content":   {withTools, `{"role":"user"}`, ``, "a message has no content"},
		"what is no list of messages": {withTools, `3`, ``, "the request is not well-formed"},
	} {
		t.Run(name, func(t *testing.T) {
			params := `{"messages":[` + c.messages + `],"maxTokens":1` + c.more + `}`
			require.Equal(t, c.why, host.Forbidden(json.RawMessage(params), json.RawMessage(c.declared)))
		})
	}
}

func TestAModelDefiesARequestThatAllowsNoToolUse(t *testing.T) {
	const use, text = `{"content":[{"type":"text","text":"Yes."},{"type":"tool_use","id":"a","name":"t","input":{}}]}`, `{"content":{"type":"text","text":"No."}}`
	for name, c := range map[string]struct {
		params, result string
		want           bool
	}{
		"with tools":                       {`{"tools":[{}]}`, use, false},
		"with tools, of which it may use":  {`{"tools":[{}],"toolChoice":{"mode":"auto"}}`, use, false},
		"with tools that it must not use":  {`{"tools":[{}],"toolChoice":{"mode":"none"}}`, use, true},
		"without tools":                    {`{}`, use, true},
		"with no tools in a list":          {`{"tools":[]}`, use, true},
		"by one block":                     {`{}`, `{"content":{"type":"tool_use","id":"a"}}`, true},
		"not by a text":                    {`{}`, text, false},
		"not by an answer without content": {`{}`, `{}`, false},
		"not by what cannot be read":       {`{}`, `7`, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, host.Defies(json.RawMessage(c.params), json.RawMessage(c.result)))
		})
	}
}

func TestWhatTheServerIsTold(t *testing.T) {
	params := json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"Hello?"}}],"maxTokens":10,"tools":[]}`)
	for name, c := range map[string]struct {
		strict   bool
		declare  string
		decision string
		rules    []*llm.Rule
		code     int
		message  string
	}{
		"the answer":                         {false, withTools, harness.Approve, llm.Script(llm.When().Reply(llm.Text("Hello."))), 0, ""},
		"a refusal of a strict one":          {true, withoutTools, harness.Approve, nil, -32602, "tools were not declared"},
		"what a person declined":             {false, withTools, harness.Decline, nil, -1, "the person declined the request"},
		"an answer that a person declined":   {false, withTools, harness.DeclineAnswer, llm.Script(llm.When().Reply(llm.Text("Hello."))), -1, "the person declined the answer"},
		"that the model defies a strict one": {true, withTools, harness.Approve, llm.Script(llm.When().Reply(llm.Call("t", "{}"))), -32603, "the model used a tool that it was not to use"},
		"nothing of what a provider said":    {false, withTools, harness.Approve, llm.Script(llm.When().Fail(&llm.Error{Status: 401, Message: "bad key sk-1"})), -32603, "the model could not be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			model := llm.New(t, c.rules...)
			h := host.Host{Strict: c.strict, Env: harness.Env{HTTP: http.DefaultClient, Model: model.Bases(), Declare: json.RawMessage(c.declare), Decision: c.decision}}
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
