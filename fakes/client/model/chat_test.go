package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

func TestRequestsAreConvertedForChatCompletions(t *testing.T) {
	const image = `{"image_url":{"url":"data:image/png;base64,aGk="},"type":"image_url"}`
	for _, c := range []struct{ member, params, want string }{
		{"messages", `"systemPrompt":"s"`, `[{"content":"s","role":"system"}]`},
		{"messages", `"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]`, `[{"content":"hi","role":"user"}]`},
		{"messages", `"messages":[` + usesOfTwo + `,` + resultsOfTwo + `]`,
			`[{"content":"so","role":"assistant","tool_calls":[` +
				`{"function":{"arguments":"{\"n\":9007199254740993}","name":"add"},"id":"u1","type":"function"},` +
				`{"function":{"arguments":"{}","name":"sub"},"id":"u2","type":"function"}]},` +
				`{"content":"Error:\ntwo","role":"tool","tool_call_id":"u2"},` +
				`{"content":"one\n(image of the tool follows)","role":"tool","tool_call_id":"u1"},` +
				`{"content":[` + image + `],"role":"user"}]`},
		{"max_tokens", `"messages":[]`, `7`},
		{"stop", `"stopSequences":["x"]`, `["x"]`},
		{"stream_options", `"messages":[]`, `{"include_usage":true}`},
		{"tool_choice", `"tools":[{"name":"a"}],"toolChoice":{}`, `"auto"`},
		{"tool_choice", `"toolChoice":{"mode":"required"}`, `null`},
		{"model", `"modelPreferences":{"intelligencePriority":1}`, `"gpt-4.1"`},
		{"model", `"modelPreferences":{"costPriority":0.9,"intelligencePriority":0.1}`, `"gpt-4o-mini"`},
		{"model", `"modelPreferences":{"hints":[{"name":"claude"},{"name":"mini"}],"intelligencePriority":1}`, `"gpt-4o-mini"`},
	} {
		params, err := mcpjson.Object([]byte(`{"maxTokens":7,` + c.params + `}`))
		require.NoError(t, err)
		body, err := chatBody(params, true)
		require.NoError(t, err)
		require.Equal(t, c.want, string(mcpjson.Marshal(body[c.member])), "%s of %s", c.member, c.params)
	}
}

func TestStreamsOfChatCompletionsAreRead(t *testing.T) {
	chunk := func(delta, finish string) string {
		return event(`{"model":"m","choices":[{"delta":{` + delta + `},"finish_reason":"` + finish + `"}]}`)
	}
	call := func(index, members string) string { return `"tool_calls":[{"index":` + index + `,` + members + `}]` }
	const done = "data: [DONE]\n\n"
	const use = `{"id":"x","input":{"n":9007199254740993},"name":"add","type":"tool_use"}`
	for name, c := range map[string]struct{ stream, content, reason string }{
		"text":      {chunk(`"content":"a"`, "") + chunk(`"content":"b"`, "stop") + done, `{"text":"ab","type":"text"}`, "endTurn"},
		"truncated": {chunk(`"content":"ab"`, "length") + done, `{"text":"ab","type":"text"}`, "maxTokens"},
		"a refusal": {chunk(`"refusal":"no"`, "stop") + done, `{"text":"no","type":"text"}`, "refusal"},
		"calls in pieces, out of order": {chunk(call("1", `"id":"y","function":{"name":"sub"}`), "") +
			chunk(call("0", `"id":"x","function":{"name":"add","arguments":"{\"n\":90"}`), "") +
			chunk(call("0", `"function":{"arguments":"07199254740993}"}`), "tool_calls") + done,
			`[` + use + `,{"id":"y","input":{},"name":"sub","type":"tool_use"}]`, "toolUse"},
		"text after the finish reason": {chunk(``, "stop") + chunk(`"content":"a"`, "") + done, `{"text":"a","type":"text"}`, "endTurn"},
	} {
		t.Run(name, func(t *testing.T) {
			turn, err := readChatStream(strings.NewReader(c.stream))
			require.NoError(t, err)
			result := turn.result()
			require.NoError(t, settled(result))
			require.Equal(t, c.content, string(mcpjson.Marshal(result["content"])))
			require.Equal(t, c.reason, result["stopReason"])
		})
	}
	for stream, want := range map[string]error{chunk(`"content":"a"`, "stop"): errCutShort, event(`{"error":{}}`) + done: errInStream} {
		_, err := readChatStream(strings.NewReader(stream))
		require.ErrorIs(t, err, want)
	}
	_, err := readChat(strings.NewReader(`{"choices":[]}`))
	require.EqualError(t, err, "the completion has no choices")
}
