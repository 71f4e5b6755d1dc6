package dialects_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

const chat = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`

func TestDecodeReadsRecordedRequests(t *testing.T) {
	for name, body := range map[string]string{
		"openai-chat":      chat,
		"openai-responses": `{"model":"gpt-4o","input":"hello"}`,
		"anthropic":        chat,
		"cohere-chat":      chat,
		"ollama":           `{"model":"llama3.2","messages":[{"role":"user","content":"hello"}]}`,
		"native":           `{"messages":[{"role":"user","content":{"type":"text","text":"hello"}}]}`,
	} {
		req, err := dialects.Decode(name, "/", []byte(body))
		require.NoError(t, err)
		require.Equal(t, name, req.Dialect)
		require.NoError(t, llm.LastUser("hello").Match(req))
	}
	req, err := dialects.Decode("gemini", "/v1beta/models/gemini-2.5-flash:streamGenerateContent",
		[]byte(`{"contents":[{"parts":[{"text":"hello"}]}]}`))
	require.NoError(t, err)
	require.NoError(t, llm.LastUser("hello").Match(req))
	require.Equal(t, "gemini-2.5-flash", req.Model, "which only the path says")
	require.True(t, req.Stream)
	_, err = dialects.Decode("openai-chat", "/v1/chat/completions", []byte(`{`))
	require.ErrorContains(t, err, "We could not parse the JSON body")
	_, err = dialects.Decode("gopher", "/", nil)
	require.ErrorContains(t, err, `dialect "gopher" is unknown: expected one of native, openai-chat, `)
}

func TestCheckAddsTheHeadersThatTheProviderRequires(t *testing.T) {
	question := `{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"hi"}]`
	require.NoError(t, dialects.Check("anthropic", "/v1/messages", []byte(question+`}`)))
	require.ErrorContains(t, dialects.Check("anthropic", "/v1/messages", []byte(question+`,"top_p":2}`)), "top_p")
}

func TestAnAnswerThatIsNoReplyIsAnError(t *testing.T) {
	for _, name := range dialects.Names() {
		for _, answer := range []string{"", "<html>", "{", `{"choices":7,"candidates":7,"message":7,"output":7}`,
			`{"type":"error","error":{"message":"m"}}`, "data: {\n\n", "7"} {
			_, err := dialects.DecodeReply(name, []byte(answer))
			require.Error(t, err, "%s: %s", name, answer)
		}
	}
	_, err := dialects.DecodeReply("no-such-dialect", nil)
	require.ErrorContains(t, err, "openai-chat")
}

// Every decoder returns a reply or an error for any bytes.
func FuzzDecodeReply(f *testing.F) {
	for _, text := range []string{"[{}", "data: {}\n\n",
		`{"message":{"content":"a","tool_calls":[{"function":{"name":"t"}}]},"done":true}`,
		`{"choices":[{"delta":{"content":"a","tool_calls":[{"index":0,"function":{"name":"t","arguments":"{}"}}]}}]}`,
		`{"type":"message","content":[{"type":"text","text":"a"}]}`, `{"object":"response","output":[{"type":"message"}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"a"},{"functionCall":{"name":"t"}}]}}]}`, `{"content":[{}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, d := range dialects.Codecs {
			got, err := d.DecodeReply(answer)
			require.NotEqual(t, got == nil, err == nil)
		}
	})
}
