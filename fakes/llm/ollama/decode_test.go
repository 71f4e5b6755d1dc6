package ollama

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

const (
	user  = `{"role":"user","content":"hi"}`
	calls = `{"role":"assistant","content":"","tool_calls":[` + call1 + `,` + call2 + `]}`
	call1 = `{"id":"c1","function":{"index":0,"name":"add","arguments":{"a":1}}}`
	call2 = `{"id":"c2","function":{"index":1,"name":"sub","arguments":{}}}`
	add   = `{"type":"function","function":{"name":"add","description":"adds","parameters":{"type":"object",` +
		`"properties":{"a":{"type":"integer"}}}}}`
)

// body returns a request with the messages and more members.
func body(messages, more string) string {
	return `{"model":"llama3.2","messages":[` + messages + `]` + more + `}`
}

func decode(t testing.TB, text string) *dialect.Request {
	t.Helper()
	req, err := Chat.Decode(&http.Request{Header: http.Header{"X": {"y"}}}, []byte(text))
	require.Nil(t, err)
	require.NotNil(t, req.Decoded)
	req.Decoded = nil // Check and Encode must work without it
	return req
}

func TestDecodeReadsEveryMember(t *testing.T) {
	text := body(`{"role":"system","content":"be brief"},{"role":"SYSTEM","content":"be kind"},`+user,
		`,"options":{"num_predict":7,"temperature":0.5,"stop":["a","b"],"seed":1},"tools":[`+
			add+`],"think":"low","keep_alive":"5m","format":"json","unknown":{}`)
	maxTokens, temperature := int64(7), 0.5
	require.Equal(t, &dialect.Request{
		Dialect: "ollama", Model: "llama3.2", System: "be brief\n\nbe kind",
		Messages: []dialect.Message{{
			Role: dialect.User, Path: "messages[2]",
			Content: []dialect.Block{{Type: dialect.Text, Text: "hi", Path: "messages[2].content"}},
		}},
		Tools: []dialect.Tool{
			{Name: "add", Description: "adds", InputSchema: []byte(`{"type":"object","properties":{"a":{"type":"integer"}}}`),
				Path: "tools[0]"},
		},
		MaxTokens: &maxTokens, Temperature: &temperature, StopSequences: []string{"a", "b"}, Stream: true,
		Body: []byte(text), Header: http.Header{"X": {"y"}},
	}, decode(t, text))
}

func TestStreamingIsTheDefault(t *testing.T) {
	require.True(t, decode(t, body(user, "")).Stream)
	require.True(t, decode(t, body(user, `,"stream":null`)).Stream)
	require.True(t, decode(t, body(user, `,"stream":true`)).Stream)
	require.False(t, decode(t, body(user, `,"stream":false`)).Stream)
}

func TestZeroTokenLimitMeansNoLimit(t *testing.T) {
	for _, n := range []string{"0", "-1", "-2", "0.5", `"7"`, "null"} {
		require.Nil(t, decode(t, body(user, `,"options":{"num_predict":`+n+`}`)).MaxTokens, n)
	}
	require.Nil(t, decode(t, body(user, `,"options":null`)).MaxTokens)
	require.EqualValues(t, 1, *decode(t, body(user, `,"options":{"num_predict":1.9}`)).MaxTokens)
}

func TestDecodeReadsMessages(t *testing.T) {
	codectest.Messages(t, Chat, "testdata/messages.txtar", "")
}

func TestResultsMatchCallsByIDNameOrPosition(t *testing.T) {
	const (
		first, second = "messages[0].tool_calls[0]", "messages[0].tool_calls[1]"
		bare          = `{"role":"assistant","tool_calls":[{"function":{"name":"add","arguments":{}}},{"function":{"name":` +
			`"sub","arguments":{}}}]}`
		twice = `{"role":"assistant","tool_calls":[{"function":{"name":"add","arguments":{}}},{"function":{"name":` +
			`"add","arguments":{}}}]}`
	)
	result := func(more string) string { return `,{"role":"tool","content":"x"` + more + `}` }
	for _, c := range []struct {
		name, model, messages string
		want                  []string
	}{
		{"by id", "llama3.2", calls + result(`,"tool_call_id":"c2"`) + result(`,"tool_call_id":"c1"`), []string{"c2", "c1"}},
		{"by id before the name", "llama3.2", calls + result(`,"tool_call_id":"c2","tool_name":"add"`), []string{"c2"}},
		{"an id of no call", "llama3.2", calls + result(`,"tool_call_id":"c9"`), []string{"c9"}},
		{"by name", "llama3.2", calls + result(`,"tool_name":"sub"`) + result(`,"tool_name":"add"`), []string{"c2", "c1"}},
		{"by place", "llama3.2", calls + result("") + result(""), []string{"c1", "c2"}},
		{"by name without ids", "llama3.2", bare + result(`,"tool_name":"sub"`) + result(`,"tool_name":"add"`),
			[]string{second, first}},
		{"by place among those of a name", "llama3.2", twice + result(`,"tool_name":"add"`) + result(`,"tool_name":"add"`),
			[]string{first, second}},
		{"by place where no call has the name", "llama3.2", bare + result(`,"tool_name":"mul"`), []string{first}},
		{"more results than calls", "llama3.2", bare + result("") + result("") + result(""), []string{first, second, ""}},
		{"ids are not read where there are none", "llama3.2:no-ids",
			calls + result(`,"tool_call_id":"c2"`) + result(`,"tool_call_id":"c1"`), []string{first, second}},
		{"no calls", "llama3.2", user + result(`,"tool_name":"add"`), []string{""}},
		{"calls of the turn before", "llama3.2", calls + `,` + user + `,{"role":"assistant","content":"so"}` + result(""),
			[]string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, m := range decode(t, `{"model":"`+c.model+`","messages":[`+c.messages+`]}`).Messages {
				for _, b := range m.Content {
					if b.Type == dialect.ToolResult {
						got = append(got, b.ID)
					}
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

// A decoded request can be checked and answered completely.
func FuzzDecode(f *testing.F) {
	codectest.Fuzz(f, Chat, nil, "ollama", []string{
		body(user+`,`+calls+`,{"role":"tool","content":"1","tool_call_id":"c1"},{"role":"tool","tool_name":"add"}`,
			`,"tools":[`+add+`],"think":true,"options":{"stop":["x"],"num_predict":1e300}`),
		body(`{"role":"user","content":"x","images":["aGk="]}`, `,"stream":false,"keep_alive":0`),
		body(`null,{"tool_calls":[null]},{"role":"tool"}`, `,"tools":[null],"options":{}`),
		`null`, `{}`, `{"keep_alive":"0s"}`, `[`, ``,
	}, 400, 500)
}
