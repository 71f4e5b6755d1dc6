package llm

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/traffic"
)

// vendors maps the hosts of recordings to the paths under which the fake imitates them.
var vendors = map[string]string{
	"api.openai.com": "", "api.anthropic.com": "", "generativelanguage.googleapis.com": "",
	"aiplatform.googleapis.com": "",
	"api.mistral.ai":            "/mistral", "openrouter.ai": "/openrouter", "api.x.ai": "/xai",
	"ai-gateway.vercel.sh": "/compatible", "api.together.xyz": "/compatible", "api.deepseek.com": "/compatible",
	"gpustack.test": "/compatible",
}

// The provider answered each of these requests, and an earlier version of the fake refused it.
func TestRequestsThatAProviderAcceptsAreNotRefused(t *testing.T) {
	s := start(t, Options{}, When().Reply(Text("ok")))
	for _, x := range traffic.Needed(t, "refused-by-us") {
		if strings.Contains(x.URL, "oauth2.googleapis.com") {
			continue // a request for a token
		}
		t.Run(x.Name, func(t *testing.T) {
			address := strings.NewReplacer("<GPUSTACK_API_BASE>", "https://gpustack.test", "<", "", ">", "").Replace(x.URL)
			u, err := url.Parse(address)
			require.NoError(t, err)
			base, known := vendors[u.Host]
			require.True(t, known, u.Host)
			path := u.Path
			if base != "" {
				_, method, _ := strings.Cut(u.Path[1:], "v1/")
				path = base + "/v1/" + strings.TrimPrefix(method, "/")
				if method == "" {
					path = base + "/v1" + u.Path
				}
			}
			r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+path, strings.NewReader(x.Request))
			for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key", "Authorization"} { // recorders remove them
				r.Header.Set(name, "Bearer k")
			}
			r.Header.Set("Anthropic-Version", "2023-06-01")
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		})
	}
}
