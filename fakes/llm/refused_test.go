package llm

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// vendors maps the hosts of recordings to the paths under which the fake imitates them.
var vendors = map[string]string{
	"api.openai.com": "", "api.anthropic.com": "", "generativelanguage.googleapis.com": "",
	"aiplatform.googleapis.com": "", "localhost:11434": "", "127.0.0.1:11434": "", "ollama.com": "/compatible",
	"api.mistral.ai": "/mistral", "openrouter.ai": "/openrouter", "api.x.ai": "/xai", "api.groq.com": "/groq",
	"ai-gateway.vercel.sh": "/compatible", "api.together.xyz": "/compatible", "api.deepseek.com": "/compatible",
	"gpustack.test": "/compatible",
}

// notPlayed are words of the recorded refusals, all of which depend on the account, on the models of the provider, or
// on a prompt that the recording has removed.
var notPlayed = []string{"invalid x-api-key", "API key not valid", "Incorrect API key", `"Unauthorized"`,
	"model_not_found", "current quota", "prompt is too long", "prompt too long", "context_length_exceeded"}

func TestRequestsThatAProviderAcceptsAreNotRefused(t *testing.T) {
	s := start(t, Options{}, When().Reply(Text("ok")))
	accepted := 0
	for _, provider := range []string{"anthropic", "gemini", "ollama", "ollama-openai", "openai-chat", "openai-compat",
		"openai-responses", "refused-by-us"} {
		for _, x := range sharedtest.Needed(t, provider) {
			if x.URL == "" || strings.Contains(x.URL, "oauth2.googleapis.com") {
				continue // only an answer, or a request for a token
			}
			t.Run(x.Name, func(t *testing.T) {
				if x.Status >= 400 {
					require.True(t, containsAny(x.Answer, notPlayed), "a refusal by form, whose words the fake needs: %s", x.Answer)
					return
				}
				w := serve(s, recordedRequest(t, &x))
				require.Equal(t, http.StatusOK, w.Code, w.Body.String())
				accepted++
			})
		}
	}
	require.GreaterOrEqual(t, accepted, 50)
}

// recordedRequest returns the request for the path of the fake, with the credentials that recorders remove.
func recordedRequest(t *testing.T, x *sharedtest.Exchange) *http.Request {
	address := strings.NewReplacer("<GPUSTACK_API_BASE>", "https://gpustack.test", "<", "", ">", "").Replace(x.URL)
	u, err := url.Parse(address)
	require.NoError(t, err)
	base, known := vendors[u.Host]
	require.True(t, known, u.Host)
	path := u.Path
	if base != "" {
		_, method, versioned := strings.Cut(u.Path[1:], "v1/")
		if !versioned {
			method = u.Path[1:]
		}
		path = base + "/v1/" + method
	}
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+path, strings.NewReader(x.Request))
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key", "Authorization"} {
		r.Header.Set(name, "Bearer k")
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	return r
}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
