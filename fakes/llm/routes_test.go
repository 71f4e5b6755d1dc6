package llm

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"POST /native", []string{"/native"}, []string{"/", "/native/", "/native/x", "//native", "native", "/nativ", ""}},
		{"GET /{$}", []string{"/"}, []string{"", "//", "/x", "/v1/models"}},
		{"GET /v1/models/{id}", []string{"/v1/models/x"}, []string{"/v1/models", "/v1/models/", "/v1/models/x/y",
			"/v1//models/x"}},
		{"GET /v1/models/{id...}", []string{"/v1/models/x", "/v1/models/x/y", "/v1/models/"},
			[]string{"/v1/models", "/v1/model/x"}},
	} {
		r := newRoute(c.pattern, target{})
		for _, path := range c.yes {
			require.True(t, r.matches(path), "%s %s", c.pattern, path)
		}
		for _, path := range c.no {
			require.False(t, r.matches(path), "%s %s", c.pattern, path)
		}
	}
}

// Side requests get the provider's shape, are in journal and trace, and reach no rule.
// A host that finds Ollama behind the base URL of another provider sends what only Ollama takes.
func TestOnlyTheBaseURLOfOllamaIsOneOfOllama(t *testing.T) {
	s := start(t, Options{}, When().Reply(Text("hi")))
	for _, asked := range []string{"GET /", "GET /api/tags", "GET /api/ps", "GET /api/version", "POST /api/show",
		"GET /ollamas/api/tags"} {
		method, path, _ := strings.Cut(asked, " ")
		w := serve(s, httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(`{"model":"llama3.2"}`)))
		require.Equal(t, 404, w.Code, asked)
	}
	for _, base := range []string{"", "/ollama"} {
		w := serve(s, httptest.NewRequest("POST", "http://127.0.0.1"+base+"/api/chat",
			strings.NewReader(`{"model":"llama3.2","stream":false,"messages":[{"role":"user","content":"hello"}]}`)))
		require.Equal(t, 200, w.Code, base)
	}
	for _, x := range s.Journal()[len(s.Journal())-2:] {
		require.Equal(t, "/api/chat", x.Path)
	}
}

func TestSideRequestsAreAnsweredAndRecorded(t *testing.T) {
	var seen seen
	s := start(t, Options{Record: seen.record}, When().Reply(Text("hi")).Times(1))
	require.NoError(t, s.Script("aaaaaa"))
	plural := `{"model":"claude","messages":[{"role":"user","content":"aaaaaa"}]}`
	for i, c := range []struct {
		method, path, header, body string
		dialect, want              string
	}{
		{"GET", "/v1/models", "", "", dialect.OpenAIChat, `"object": "list"`},
		{"GET", "/v1/models/gpt-4o", "", "", dialect.OpenAIChat, `"id": "gpt-4o"`},
		{"GET", "/v1/models/ft:gpt-4o/x", "", "", dialect.OpenAIChat, `"id": "ft:gpt-4o/x"`},
		{"GET", "/v1/models", "Anthropic-Version", "", dialect.Anthropic, `"has_more":`},
		{"GET", "/v1/models/claude-", "Anthropic-Version", "", dialect.Anthropic, `"id":"claude-"`},
		{"POST", "/v1/messages/count_tokens", "Anthropic-Version", plural, dialect.Anthropic, `"input_tokens":`},
		{"GET", "/ollama/api/tags", "", "", dialect.Ollama, `"models":`},
		{"GET", "/ollama", "", "", dialect.Ollama, "Ollama is running"},
		{"GET", "/v1beta/models?key=k", "", "", dialect.Gemini, `"models":`},
		{"POST", "/v1beta/models/gemini-2.5-flash:countTokens?key=k", "",
			`{"contents":[{"role":"user","parts":[{"text":"aaaaaa"}]}]}`, dialect.Gemini, `"totalTokens":`},
		{"GET", "/mistral/v1/models", "", "", "mistral", `"object": "list"`},
	} {
		r := httptest.NewRequest(c.method, "http://127.0.0.1"+c.path, strings.NewReader(c.body))
		if c.header != "" {
			r.Header.Set(c.header, "2023-06-01")
			r.Header.Set("X-Api-Key", "sk")
		}
		w := serve(s, r)
		require.Equal(t, 200, w.Code, c.path)
		require.Contains(t, w.Body.String(), c.want)
		x := s.Journal()[i]
		require.Equal(t, []any{true, c.dialect, 200, "", ""}, []any{x.SideRequest, x.Dialect, x.Status, x.Rule, x.Miss})
		require.Nil(t, x.Request)
		require.Equal(t, c.body, string(x.Body))
		request := seen.all[len(seen.all)-3].Request
		require.True(t, request.SideRequest)
		require.Equal(t, c.dialect, request.Dialect)
		require.Equal(t, c.body != "", x.Owner == "aaaaaa", "a mark in it tells whose it is")
		require.Equal(t, x.Owner, seen.all[len(seen.all)-3].Case)
	}
	require.Empty(t, s.Requests())
	require.Equal(t, 200, post(s, chatPath, hello).Code, "the rule has its one answer still")
	require.False(t, seen.all[len(seen.all)-3].Request.SideRequest)
	require.Len(t, s.Requests(), 1)

	w := serve(s, httptest.NewRequest("POST", "http://127.0.0.1/v1/models", nil))
	require.Equal(t, 405, w.Code)
	require.Equal(t, "GET", w.Header().Get("Allow"))
	r := httptest.NewRequest("POST", "http://127.0.0.1/v1/messages/count_tokens", strings.NewReader(plural))
	r.Header.Set("Content-Encoding", "gzip")
	w = serve(s, r)
	require.Equal(t, 415, w.Code)
	require.Contains(t, w.Body.String(), `"type":"error"`, "in the provider's shape")
}

// Gemini's conversations and side requests share a pattern; the path also selects the stream.
func TestConversationsMaySharePatternsWithSideRequests(t *testing.T) {
	s := start(t, Options{}, When(LastUser("hello")).Reply(Text("hi")))
	w := post(s, "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse&key=k",
		`{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`)
	require.Equal(t, 200, w.Code)
	require.Contains(t, w.Body.String(), `"text": "hi"`)
	x := s.Journal()[0]
	require.False(t, x.SideRequest)
	require.True(t, x.Request.Stream)
	require.Equal(t, "alt=sse&key=k", x.Request.URL.RawQuery, "the journal reads it as the server has read it")
}
