package client

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

func validated(t *testing.T, params string) error {
	t.Helper()
	o, err := mcpjson.Object([]byte(params))
	require.NoError(t, err)
	return Validate(o)
}

func TestToolUsesAndResultsMustBalance(t *testing.T) {
	const (
		question = `{"role":"user","content":{"type":"text","text":"Weather?"}},`
		useA     = `{"type":"tool_use","id":"a","name":"w","input":{}}`
		useB     = `{"type":"tool_use","id":"b","name":"w","input":{}}`
		uses     = question + `{"role":"assistant","content":[` + useA + `,` + useB + `]}`
		resultA  = `{"type":"tool_result","toolUseId":"a","content":[]}`
		resultB  = `{"type":"tool_result","toolUseId":"b","content":[]}`
		text     = `{"type":"text","text":"and?"}`
	)
	user := func(blocks string) string { return `,{"role":"user","content":[` + blocks + `]}` }
	assistant := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	for name, c := range map[string]struct {
		messages string
		message  int
		rule     string // "" if the history is valid
	}{
		"a question":             {question + assistant(text), 0, ""},
		"balanced":               {uses + user(resultB+","+resultA), 0, ""},
		"balanced and continued": {uses + user(resultA+","+resultB) + "," + assistant(text), 0, ""},
		"a missing result":       {uses + user(resultA), 2, "missing-result"},
		"no result":              {uses + user(text), 2, "no-result"},
		"a use at the end":       {uses, 1, "trailing-use"},
		"mixed content":          {uses + user(resultA+","+resultB+","+text), 2, "mixed-content"},
		"an orphan result":       {question[:len(question)-1] + user(resultA), 1, "orphan-result"},
		"a duplicate result":     {uses + user(resultA+","+resultA), 2, "duplicate-result"},
		"a duplicate use":        {question + assistant(useA+","+useA), 1, "duplicate-use-id"},
		"a use of the user":      {question[:len(question)-1] + user(useA), 1, "use-in-user"},
		"a late result":          {uses + user(text) + user(resultA+","+resultB), 2, "no-result"},
		"the assistant's result": {uses + "," + assistant(resultA), 2, "result-in-assistant"},
	} {
		t.Run(name, func(t *testing.T) {
			err := validated(t, `{"maxTokens":1,"messages":[`+c.messages+`]}`)
			if c.rule == "" {
				require.NoError(t, err)
				return
			}
			var invalid *InvalidError
			require.True(t, errors.As(err, &invalid), "%v", err)
			require.Equal(t, c.rule, invalid.Rule)
			require.Equal(t, c.message, invalid.Message)
		})
	}
}

func TestMalformedRequestsAreInvalid(t *testing.T) {
	message := func(m string) string { return `{"maxTokens":1,"messages":[` + m + `]}` }
	block := func(b string) string { return message(`{"role":"user","content":` + b + `}`) }
	tool := func(schema string) string {
		return `{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":""}}],"tools":[{"name":"a",` +
			`"inputSchema":` + schema + `}]}`
	}
	for params, want := range map[string]string{
		`{"messages":[]}`:                         "maxTokens is missing or not a number",
		`{"maxTokens":"1","messages":[]}`:         "maxTokens is missing or not a number",
		`{"maxTokens":0.5,"messages":[]}`:         "maxTokens is 0.5: expected a whole number above 0",
		`{"maxTokens":1}`:                         "messages is missing or empty",
		`{"maxTokens":1,"messages":[]}`:           "messages is missing or empty",
		message(`null`):                           "messages[0]: not an object",
		message(`{"role":"system","content":[]}`): "messages[0]: role system is neither user nor assistant",

		block(`"hello"`):                               "messages[0]: content block 0 is not an object",
		block(`{"type":"video"}`):                      "messages[0]: content block 0: unknown type video",
		block(`{"type":"text"}`):                       "messages[0]: content block 0: text is missing or not a string",
		block(`[{"type":"image","mimeType":"a/b"}]`):   "messages[0]: content block 0: data is missing or not a string",
		block(`[{"type":"tool_use","id":"a"}]`):        "messages[0]: content block 0: input is not an object",
		block(`{"type":"tool_result","toolUseId":""}`): "messages[0]: content block 0: content is not an array",
		tool(`null`):              "tools[0]: inputSchema is not the schema of an object",
		tool(`{"type":"string"}`): "tools[0]: inputSchema is not the schema of an object",
		tool(`{"type":"object","properties":{"n":{"type":"int"}}}`):             "tools[0].inputSchema: n: unknown type int",
		tool(`{"type":"object","properties":{"n":{"type":["string","null"]}}}`): "",
		block(`{"type":"text","text":""}`):                                      "",
		`{"maxTokens":1,"toolChoice":{"mode":"any"},` + block(`{"type":"text",` +
			`"text":""}`)[15:]: "toolChoice has no known mode",
	} {
		if err := validated(t, params); want == "" {
			require.NoError(t, err, params)
		} else {
			require.EqualError(t, err, want, params)
		}
	}
	require.ErrorContains(t, validated(t, block(`{"type":"audio","data":"~","mimeType":"a/b"}`)), "data is not base64")
}

func TestHeaderValuesAreEncodedWhereNeeded(t *testing.T) {
	for value, want := range map[string]string{
		"plain-1": "plain-1", "": "", " x": "=?base64?IHg=?=", "é": "=?base64?w6k=?=",
		"=?base64?eA==?=": "=?base64?PT9iYXNlNjQ/ZUE9PT89?=",
	} {
		require.Equal(t, want, headerValue(value))
	}
}
