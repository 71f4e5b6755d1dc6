package llm

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// asked is a request with two tool uses and their results.
const asked = `{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Weather?"},
	{"role":"assistant","content":"Let me see.","tool_calls":[
		{"id":"a","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}},
		{"id":"b","type":"function","function":{"name":"get_time","arguments":"{}"}}]},
	{"role":"tool","tool_call_id":"b","content":"noon"},{"role":"tool","tool_call_id":"a","content":"18°C"}]}`

func TestRequestsSayWhatWasAsked(t *testing.T) {
	req, err := dialects.Decode("openai-chat", chatPath, []byte(asked))
	require.NoError(t, err)
	var names, results []string
	for _, use := range req.ToolUses() {
		names = append(names, use.Name+string(use.Input))
	}
	for _, result := range req.ToolResults() {
		require.Equal(t, TypeToolResult, result.Type)
		results = append(results, result.ID+" "+result.PlainText())
	}
	require.Equal(t, []string{`get_weather{"city":"Paris"}`, "get_time{}"}, names)
	require.Equal(t, []string{"b noon", "a 18°C"}, results)
	require.Equal(t, "noon\n18°C", req.LastText())

	req, err = dialects.Decode("openai-chat", chatPath, []byte(hello))
	require.NoError(t, err)
	require.Equal(t, "hello", req.LastText())
	require.Empty(t, req.ToolUses())
	require.Empty(t, req.ToolResults())
}

func TestAssertConversationShowsTheDifference(t *testing.T) {
	req, err := dialects.Decode("openai-chat", chatPath, []byte(asked))
	require.NoError(t, err)
	var tb fakeTB
	AssertConversation(&tb, req, "system: Be brief.", "user: Weather?", "assistant: Let me see.",
		`assistant uses get_weather {"city":"Paris"}`, "assistant uses get_time {}", "result of get_time: noon",
		"result of get_weather: 18°C")
	require.Empty(t, tb.said)
	AssertConversation(&tb, req, "system: Be brief.", "user: Weather in Paris?", "assistant: Let me see.",
		`assistant uses get_weather {"city":"Paris"}`, "assistant uses get_time {}", "result of get_time: noon",
		"result of get_weather: 18°C", "user: Thanks.")
	require.Equal(t, []string{"error: the conversation differs (- expected, + found):\n" + `  system: Be brief.
- user: Weather in Paris?
+ user: Weather?
  assistant: Let me see.
  assistant uses get_weather {"city":"Paris"}
  assistant uses get_time {}
  result of get_time: noon
  result of get_weather: 18°C
- user: Thanks.
`}, tb.said)
}

func TestAReplyReportsItsUsage(t *testing.T) {
	s := New(t, When().Reply(Text("hi")).Usage(Usage{Input: 120, Output: 7, Cached: 100}))
	for _, c := range []struct{ url, body, want string }{
		{"/v1/chat/completions", hello, `"prompt_tokens": 120,\s+"completion_tokens": 7,\s+"total_tokens": 127,` +
			`\s+"prompt_tokens_details": \{\s+"cached_tokens": 100`},
		{"/v1/responses", `{"model":"gpt-4o","input":"hello"}`,
			`"input_tokens": 120,\s+"input_tokens_details": \{\s+"cache_write_tokens": 0,\s+"cached_tokens": 100` +
				`[\s}]+,\s+"output_tokens": 7`},
		{"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`,
			`"usage":\{"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":100,.*"output_tokens":7`},
		{"/v1/messages", `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hello"}]}`,
			`"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":100,"output_tokens":7`},
		{"/v1beta/models/gemini-2.5-flash:generateContent", `{"contents":[{"parts":[{"text":"hello"}]}]}`,
			`"promptTokenCount": 120,\s+"candidatesTokenCount": 7,\s+"totalTokenCount": 127,(.|\s)+` +
				`"cachedContentTokenCount": 100`},
		{"/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"hello"}]}]}`,
			`"promptTokenCount": 120,"candidatesTokenCount": 7,"totalTokenCount": 127`},
		{"/api/chat", `{"model":"llama3.2","messages":[{"role":"user","content":"hello"}]}`,
			`"prompt_eval_count":120,"prompt_eval_duration":\d+,"eval_count":7`},
	} {
		r := httptest.NewRequest("POST", "http://127.0.0.1"+c.url, strings.NewReader(c.body))
		r.Header = http.Header{"X-Api-Key": {"k"}, "X-Goog-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}}
		require.Regexp(t, c.want, serve(s, r).Body.String(), c.url)
	}
}
