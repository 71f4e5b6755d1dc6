package ollama

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// aside sends a side request.
func aside(t *testing.T, method, path, body string) (int, map[string]any) {
	t.Helper()
	asides := Chat.(dialect.SideRequests)
	require.Contains(t, asides.SideRequestPatterns(), method+" "+path)
	r := dialect.BelowApart(httptest.NewRequest(method, path, strings.NewReader(body)))
	require.True(t, asides.Claims(r))
	a := asides.AnswerSideRequest(r, []byte(body))
	require.Equal(t, contentJSON, a.Header.Get("Content-Type"))
	var got map[string]any
	require.NoError(t, json.Unmarshal(join(a), &got))
	return a.Status, got
}

func TestModelsAreListedAndDescribed(t *testing.T) {
	status, list := aside(t, "GET", "/api/tags", "")
	require.Equal(t, 200, status)
	var names []any
	for _, item := range list["models"].([]any) {
		m := item.(map[string]any)
		require.Equal(t, m["name"], m["model"])
		require.Regexp(t, "^[0-9a-f]{64}$", m["digest"])
		require.Equal(t, "2026-01-02T03:04:05Z", m["modified_at"])
		require.Equal(t, "gguf", m["details"].(map[string]any)["format"])
		names = append(names, m["name"])
	}
	require.Contains(t, names, "llama3.2:latest")
	require.Contains(t, names, "llama3.2:no-ids")

	_, loaded := aside(t, "GET", "/api/ps", "")
	require.Equal(t, map[string]any{"models": []any{}}, loaded)
	_, v := aside(t, "GET", "/api/version", "")
	require.Equal(t, map[string]any{"version": "0.17.4"}, v)

	for _, body := range []string{`{"model":"anything"}`, `{"name":"anything","verbose":true}`} {
		status, shown := aside(t, "POST", "/api/show", body)
		require.Equal(t, 200, status)
		require.Equal(t, []any{"completion", "tools", "vision", "thinking"}, shown["capabilities"])
		require.EqualValues(t, 131072, shown["model_info"].(map[string]any)["llama.context_length"])
	}
}

// Clients probe the server before they chat.
func TestGreeting(t *testing.T) {
	asides := Chat.(dialect.SideRequests)
	for _, method := range []string{"GET", "HEAD"} {
		require.Contains(t, asides.SideRequestPatterns(), method+" /{$}")
		a := asides.AnswerSideRequest(httptest.NewRequest(method, "/", nil), nil)
		require.Equal(t, 200, a.Status)
		require.Equal(t, "Ollama is running", string(join(a)))
	}
}

func TestUnknownModelsAreRefused(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                   `model is required`,
		`{"model":"my model"}`: `model is required`,
		`[`:                    `unexpected end of JSON input`,
	} {
		status, got := aside(t, "POST", "/api/show", body)
		require.Equal(t, 400, status)
		require.Equal(t, map[string]any{"error": want}, got)
	}
}

func TestEmbeddingsAreEqualForEqualTexts(t *testing.T) {
	status, one := aside(t, "POST", "/api/embeddings", `{"model":"nomic-embed-text","prompt":"a cat"}`)
	require.Equal(t, 200, status)
	require.Len(t, one["embedding"], 768)
	_, several := aside(t, "POST", "/api/embed", `{"model":"nomic-embed-text","input":["a cat","stocks"]}`)
	embeddings := several["embeddings"].([]any)
	require.Equal(t, one["embedding"], embeddings[0])
	require.NotEqual(t, embeddings[0], embeddings[1])
	_, small := aside(t, "POST", "/api/embed", `{"model":"nomic-embed-text","input":"a cat","dimensions":8}`)
	require.Len(t, small["embeddings"].([]any)[0], 8)
	for body, want := range map[string]string{
		`[`:                         "unexpected end of JSON input",
		`{"input":"a"}`:             `model is required`,
		`{"model":"m"}`:             "invalid input type",
		`{"model":"m","input":[1]}`: "invalid input type",
		`{"model":"m","input":"a","dimensions":-1}`: "dimensions is -1: set one from 1 to 16384 (the fake's own words)",
	} {
		status, got := aside(t, "POST", "/api/embed", body)
		require.Equal(t, 400, status)
		require.Equal(t, map[string]any{"error": want}, got)
	}
}
