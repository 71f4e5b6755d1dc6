package cohere

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

const (
	user    = `{"role":"user","content":"hi"}`
	calls   = `{"role":"assistant","tool_plan":"I add.","tool_calls":[` + call1 + `,` + call2 + `]}`
	call1   = `{"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\":1}"}}`
	call2   = `{"id":"c2","type":"function","function":{"name":"sub","arguments":"{}"}}`
	result1 = `{"role":"tool","tool_call_id":"c1","content":"1"}`
	result2 = `{"role":"tool","tool_call_id":"c2","content":[{"type":"document","document":{"data":{"output":"60"}}}]}`
	add     = `{"type":"function","function":{"name":"add","description":"adds","parameters":{"type":"object"}}}`
)

// body returns a request with the messages and more members.
func body(messages, more string) string {
	return `{"model":"command-a-03-2025","messages":[` + messages + `]` + more + `}`
}

func decode(t testing.TB, text string) *dialect.Request {
	t.Helper()
	req, err := Chat.Decode(&http.Request{Header: keyed()}, []byte(text))
	require.Nil(t, err)
	require.NotNil(t, req.Decoded)
	req.Decoded = nil // Check and Encode must work without it
	return req
}

func TestDecodeReadsEveryMember(t *testing.T) {
	text := body(`{"role":"system","content":"be brief"},{"role":"system","content":[{"type":"text","text":"be kind"}]},`+
		user, `,"max_tokens":7,"temperature":0.5,"stop_sequences":["a","b"],"stream":true,"tool_choice":"REQUIRED",`+
		`"tools":[`+add+`],"k":1,"safety_mode":"OFF"`)
	maxTokens, temperature := int64(7), 0.5
	require.Equal(t, &dialect.Request{
		Dialect: "cohere-chat", Model: "command-a-03-2025", System: "be brief\n\nbe kind",
		Messages: []dialect.Message{{
			Role: dialect.User, Path: "messages[2]",
			Content: []dialect.Block{{Type: dialect.Text, Text: "hi", Path: "messages[2].content"}},
		}},
		Tools: []dialect.Tool{{Name: "add", Description: "adds", InputSchema: []byte(`{"type":"object"}`),
			Path: "tools[0]"}},
		ToolChoice: "required", MaxTokens: &maxTokens, Temperature: &temperature, StopSequences: []string{"a", "b"},
		Stream: true, Body: []byte(text), Header: keyed(),
	}, decode(t, text))
	require.Equal(t, "none", decode(t, body(user, `,"tool_choice":"NONE"`)).ToolChoice)
	require.Empty(t, decode(t, body(user, "")).ToolChoice)
}

func TestDecodeReadsMessages(t *testing.T) {
	codectest.Messages(t, Chat, "testdata/messages.txtar", "")
}

// A decoded request can be checked and answered completely.
func FuzzDecode(f *testing.F) {
	codectest.Fuzz(f, Chat, keyed(), "", []string{
		body(user+`,`+calls+`,`+result1+`,`+result2, `,"tools":[`+add+`],"tool_choice":"NONE","stream":true`),
		body(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]},`+
			`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"so"}]}`,
			`,"stop_sequences":["x"],"thinking":{"type":"disabled"}`),
		body(`null,[],{"role":1},{"content":[null]},{"role":"tool","content":[{"type":"document"}]}`,
			`,"tools":[null],"tool_choice":{}`),
		`null`, `{}`, `[`, ``,
	}, 400, 422)
}
