package openai

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

func decode(t testing.TB, text string) *dialect.Request {
	t.Helper()
	req, err := Chat.Decode(&http.Request{Header: http.Header{"X": {"y"}}}, []byte(text))
	require.Nil(t, err)
	require.NotNil(t, req.Decoded)
	req.Decoded = nil // Check and Encode must work without it
	return req
}

func TestDecodeReadsEveryMember(t *testing.T) {
	text := body(`{"role":"system","content":"be brief"},{"role":"developer","content":[{"type":"text","text":"be `+
		`kind"}]},`+user,
		`,"max_tokens":1,"max_completion_tokens":7,"temperature":0.5,"stop":["a","b"],"stream":true,"tool_choice":"required",
		"tools":[`+add+`,{"type":"custom","custom":{"name":"sh","description":"runs"}}]`)
	maxTokens, temperature := int64(7), 0.5
	require.Equal(t, &dialect.Request{
		Dialect: "openai-chat", Model: "gpt-4o", System: "be brief\n\nbe kind",
		Messages: []dialect.Message{{
			Role: dialect.User, Path: "messages[2]",
			Content: []dialect.Block{{Type: dialect.Text, Text: "hi", Path: "messages[2].content"}},
		}},
		Tools: []dialect.Tool{
			{Name: "add", InputSchema: []byte(`{"type":"object","properties":{}}`), Path: "tools[0]"},
			{Name: "sh", Description: "runs", Path: "tools[1]"},
		},
		ToolChoice: "required", MaxTokens: &maxTokens, Temperature: &temperature, StopSequences: []string{"a", "b"},
		Stream: true,
		Body:   []byte(text), Header: http.Header{"X": {"y"}},
	}, decode(t, text))
}

func TestDecodeReadsMessages(t *testing.T) {
	codectest.Messages(t, Chat, "testdata/chat_messages.txtar", "")
}

func TestDecodeReadsToolChoices(t *testing.T) {
	for given, want := range map[string]string{
		`"auto"`: "auto", `"none"`: "none", `null`: "", `"any"`: "any", `7`: "7", `{"mode":"auto"}`: `{"mode":"auto"}`,
		`{"type":"function","function":{"name":"add"}}`:            "tool:add",
		`{"type":"custom","custom":{"name":"sh"}}`:                 "tool:sh",
		`{"type":"allowed_tools","allowed_tools":{"mode":"auto"}}`: "auto",
	} {
		require.Equal(t, want, decode(t, body(user, `,"tool_choice":`+given)).ToolChoice, given)
	}
}

func TestDecodeReadsOneStopSequence(t *testing.T) {
	require.Equal(t, []string{"END"}, decode(t, body(user, `,"stop":"END"`)).StopSequences)
}

// A decoded request can be checked and answered completely.
func FuzzDecode(f *testing.F) {
	codectest.Fuzz(f, Chat, nil, "openai-chat", []string{
		body(user+`,`+calls+`,`+reply1+`,`+reply2,
			`,"tools":[`+add+`],"tool_choice":"auto","stream":true,"stream_options":{"include_usage":true}`),
		body(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},{"type":`+
			`"input_audio","input_audio":{}}]}`, `,"stop":"x","n":1`),
		body(`null,[],{"role":1},{"tool_calls":[null]},{"content":[null]}`, `,"tools":[null],"tool_choice":{}`),
		`null`, `{}`, `[`, ``,
	}, 400)
}
