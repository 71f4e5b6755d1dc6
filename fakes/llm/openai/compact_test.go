package openai

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

func side(path, body string) dialect.Answer {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	return Responses.(dialect.SideRequests).AnswerSideRequest(r, []byte(body))
}

func TestInputTokensAndCompaction(t *testing.T) {
	patterns := strings.Join(Responses.(dialect.SideRequests).SideRequestPatterns(), ",")
	require.Contains(t, patterns, "POST /v1/responses/input_tokens,")
	require.Contains(t, patterns, "POST /v1/responses/compact,")

	counted := side("/v1/responses/input_tokens", `{"model":"gpt-5","input":"hello"}`)
	require.Equal(t, http.StatusOK, counted.Status)
	require.JSONEq(t, `{"object":"response.input_tokens","input_tokens":9}`, string(counted.Chunks[0]))

	compacted := side("/v1/responses/compact", `{"model":"gpt-5","input":[{"role":"user","content":"hello"},
		{"role":"assistant","content":"hi"},{"role":"user","content":"bye"}]}`)
	text := string(compacted.Chunks[0])
	require.Equal(t, http.StatusOK, compacted.Status)
	require.Contains(t, text, `"object": "response.compaction"`)
	require.Contains(t, text, `"type": "compaction"`)
	require.NotContains(t, text, `"hi"`)
	require.Contains(t, text, `"bye"`)
	require.Contains(
		t,
		string(side("/v1/responses/compact", `{"model":"gpt-5","input":"hello"}`).Chunks[0]),
		`"input_text"`,
	)

	for _, path := range []string{"/v1/responses/compact", "/v1/responses/input_tokens"} {
		refused := side(path, `{"input":"hello"}`)
		require.Equal(t, http.StatusBadRequest, refused.Status)
		require.Contains(t, string(refused.Chunks[0]), "Missing required parameter: 'model'.")
	}
	require.Contains(t, string(side("/v1/models", "").Chunks[0]), "gpt-4o")
}
