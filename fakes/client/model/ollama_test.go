package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

// Two tool uses, and their results in the other order.
const (
	usesOfTwo    = `{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"tool_use","id":"u1","name":"add","input":{"n":9007199254740993}},{"type":"tool_use","id":"u2","name":"sub","input":{}}]}`
	resultsOfTwo = `{"role":"user","content":[{"type":"tool_result","toolUseId":"u2","content":[{"type":"text","text":"two"}],"isError":true},` +
		`{"type":"tool_result","toolUseId":"u1","content":[{"type":"text","text":"one"},{"type":"image","data":"aGk=","mimeType":"image/png"}]}]}`
)

// sentToOllama returns a member of the body for a request's params, as JSON.
func sentToOllama(t *testing.T, member, params string) (string, error) {
	t.Helper()
	o, err := mcpjson.Object([]byte(`{"maxTokens":7,` + params + `}`))
	require.NoError(t, err)
	body, err := (&Model{}).ollamaBody(o)
	if err != nil {
		return "", err
	}
	return string(mcpjson.Marshal(body[member])), nil
}

func TestMessagesAreConvertedForOllama(t *testing.T) {
	for name, c := range map[string]struct{ messages, want string }{
		"a bare block": {`{"role":"user","content":{"type":"text","text":"hi","annotations":{}}}`, `[{"content":"hi","role":"user"}]`},
		"texts and an image": {`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"text","text":"b"}]}`,
			`[{"content":"a\nb","images":["aGk="],"role":"user"}]`},
		"uses, and results in the order of the uses": {usesOfTwo + `,` + resultsOfTwo,
			`[{"content":"so","role":"assistant","tool_calls":[{"function":{"arguments":{"n":9007199254740993},"index":0,"name":"add"},"id":"u1"},{"function":{"arguments":{},"index":1,"name":"sub"},"id":"u2"}]},` +
				`{"content":"one\n(image of the tool follows)","images":["aGk="],"role":"tool","tool_call_id":"u1","tool_name":"add"},` +
				`{"content":"Error:\ntwo","role":"tool","tool_call_id":"u2","tool_name":"sub"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sentToOllama(t, "messages", `"messages":[`+c.messages+`]`)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	for messages, want := range map[string]string{
		`{"role":"user","content":{"type":"audio","data":"","mimeType":"audio/wav"}}`:                                   "the model does not accept audio (code -32603)",
		usesOfTwo + `,{"role":"user","content":[{"type":"tool_result","toolUseId":"u1","content":[{"type":"audio"}]}]}`: "the model does not accept audio (code -32603)",
		`{"role":"user","content":"hi"}`: "content block 0 is not an object",
	} {
		_, err := sentToOllama(t, "messages", `"messages":[`+messages+`]`)
		require.EqualError(t, err, want)
	}
}

func TestParametersAreConvertedForOllama(t *testing.T) {
	const tool = `"tools":[{"name":"a","description":"d","title":"A","inputSchema":{"type":"object"}}]`
	const offered = `[{"function":{"description":"d","name":"a","parameters":{"type":"object"}},"type":"function"}]`
	for _, c := range []struct{ member, params, want string }{
		{"messages", `"systemPrompt":"s"`, `[{"content":"s","role":"system"}]`},
		{"options", `"temperature":0.5,"stopSequences":["x"]`, `{"num_predict":7,"stop":["x"],"temperature":0.5}`},
		{"options", `"metadata":{}`, `{"num_predict":7}`},
		{"tools", tool, offered},
		{"tools", tool + `,"toolChoice":{"mode":"required"}`, offered},
		{"tools", tool + `,"toolChoice":{"mode":"none"}`, `null`},
		{"tools", `"tools":[]`, `null`},
		{"tool_choice", tool + `,"toolChoice":{"mode":"auto"}`, `null`},
		{"model", `"messages":[]`, `"llama3.2"`},
		{"model", `"modelPreferences":{"hints":[{"name":"qwen3"},{"name":"llama3.3"}]}`, `"llama3.3"`},
		{"stream", `"messages":[]`, `true`},
	} {
		got, err := sentToOllama(t, c.member, c.params)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%s of %s", c.member, c.params)
	}
}

func TestAnswersOfOllamaAreRead(t *testing.T) {
	const done = `{"model":"m","message":{"content":""},"done":true,"done_reason":"stop"}`
	line := func(message string) string { return `{"model":"m","message":` + message + `,"done":false}` + "\n" }
	call := func(id, name string) string {
		return `{"id":"` + id + `","function":{"name":"` + name + `","arguments":{"n":9007199254740993}}}`
	}
	use := func(id, name string) string {
		return `{"id":"` + id + `","input":{"n":9007199254740993},"name":"` + name + `","type":"tool_use"}`
	}
	result := func(content, reason string) string {
		return `{"content":` + content + `,"model":"m","role":"assistant","stopReason":"` + reason + `"}`
	}
	const said = `{"text":"ab","type":"text"}`
	for name, c := range map[string]struct{ answer, want string }{
		"text":      {line(`{"content":"a"}`) + line(`{"content":"b","thinking":"hm"}`) + done, result(said, "endTurn")},
		"truncated": {line(`{"content":"ab"}`) + `{"model":"m","message":{},"done":true,"done_reason":"length"}`, result(said, "maxTokens")},
		"nothing":   {done, result(`{"text":"","type":"text"}`, "endTurn")},
		"calls": {line(`{"content":"ab"}`) + line(`{"tool_calls":[`+call("x", "add")+`]}`) + line(`{"tool_calls":[`+call("y", "sub")+`]}`) + done,
			result(`[`+said+`,`+use("x", "add")+`,`+use("y", "sub")+`]`, "toolUse")},
		"a call on the last line": {`{"model":"m","message":{"tool_calls":[` + call("x", "add") + `]},"done":true,"done_reason":"stop"}`, result(`[`+use("x", "add")+`]`, "toolUse")},
		"calls without ids": {line(`{"tool_calls":[`+call("", "add")+`,`+call("", "add")+`]}`) + done,
			result(`[`+use("call_2_1", "add")+`,`+use("call_2_2", "add")+`]`, "toolUse")},
	} {
		t.Run(name, func(t *testing.T) {
			params, err := mcpjson.Object([]byte(`{"messages":[` + usesOfTwo + `]}`))
			require.NoError(t, err)
			turn, err := readOllama(strings.NewReader(c.answer), params)
			require.NoError(t, err)
			result := turn.result()
			require.NoError(t, settled(result))
			require.Equal(t, c.want, string(mcpjson.Marshal(result)))
		})
	}
	for answer, want := range map[string]string{
		line(`{"content":"a"}`): "the answer ended before it was complete",
		"":                      "the answer ended before it was complete",
		line(`{"content":"a"}`) + `{"error":"out of memory"}`: "the provider reported an error in its answer",
		line(`{"content":"a"}`) + `{"mod`:                     "unexpected EOF",
	} {
		_, err := readOllama(strings.NewReader(answer), nil)
		require.EqualError(t, err, want)
	}
}
