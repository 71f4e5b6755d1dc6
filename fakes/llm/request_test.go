package llm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecodeReadsRecordedRequests(t *testing.T) {
	for dialect, body := range map[string]string{
		"openai-chat":      hello,
		"openai-responses": `{"model":"gpt-4o","input":"hello"}`,
		"anthropic":        hello,
		"cohere-chat":      hello,
		"ollama":           `{"model":"llama3.2","messages":[{"role":"user","content":"hello"}]}`,
		"native":           `{"messages":[{"role":"user","content":{"type":"text","text":"hello"}}]}`,
	} {
		req, err := Decode(dialect, "/", []byte(body))
		require.NoError(t, err)
		require.Equal(t, dialect, req.Dialect)
		require.NoError(t, LastUser("hello").Match(req))
	}
	req, err := Decode("gemini", "/v1beta/models/gemini-2.5-flash:streamGenerateContent",
		[]byte(`{"contents":[{"parts":[{"text":"hello"}]}]}`))
	require.NoError(t, err)
	require.NoError(t, LastUser("hello").Match(req))
	require.Equal(t, "gemini-2.5-flash", req.Model, "which only the path says")
	require.True(t, req.Stream)
	line := []byte(hello)
	req, err = Decode("openai-chat", chatPath, line)
	require.NoError(t, err)
	clear(line) // the caller reuses the memory
	require.NoError(t, LastUser("hello").Match(req))
	_, err = Decode("openai-chat", chatPath, []byte(`{`))
	require.ErrorContains(t, err, "We could not parse the JSON body")
	_, err = Decode("gopher", "/", nil)
	require.ErrorContains(t, err, `dialect "gopher" is unknown: expected one of native, openai-chat, `)
}

func TestCheckAddsTheHeadersThatTheProviderRequires(t *testing.T) {
	question := `{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"hi"}]`
	require.NoError(t, Check("anthropic", "/v1/messages", []byte(question+`}`)))
	require.ErrorContains(t, Check("anthropic", "/v1/messages", []byte(question+`,"top_p":2}`)), "top_p")
}
