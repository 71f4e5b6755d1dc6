package trace

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// planted reports whether a text holds the planted key of these tests, or the planted list of numbers.
func planted(text string) bool {
	return strings.Contains(text, "sk-planted") || strings.Contains(text, "115,107")
}

func TestSelectHeader(t *testing.T) {
	for _, test := range []struct {
		name   string
		header http.Header
		want   map[string]string
	}{
		{"nil", nil, map[string]string{}},
		{"protocol headers are kept", http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json", "text/event-stream"},
			"Mcp-Session-Id": {"abc"}, "Mcp-Protocol-Version": {"2025-11-25"}, "Last-Event-Id": {"7"},
			"Anthropic-Version": {"2023-06-01"}, "Retry-After": {"2"},
		}, map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Session-Id": "abc", "Mcp-Protocol-Version": "2025-11-25", "Last-Event-Id": "7",
			"Anthropic-Version": "2023-06-01", "Retry-After": "2",
		}},
		{"other headers are dropped", http.Header{"X-Forwarded-For": {"10.0.0.1"}, "Traceparent": {"00"}},
			map[string]string{}},
		{"credentials become tokens", http.Header{"Authorization": {"Bearer real"}, "X-Api-Key": {"real"},
			"Cookie": {"a=1; b=2"}, "Openai-Organization": {"org-1"}},
			map[string]string{"Authorization": Token("Bearer real"), "X-Api-Key": Token("real"),
				"Cookie": Token("a=1; b=2"), "Openai-Organization": Token("org-1")}},
		{"the planted key is kept",
			http.Header{"Authorization": {"Bearer sk-planted"}, "Mcp-Session-Id": {"sk-planted"}},
			map[string]string{"Authorization": "Bearer sk-planted", "Mcp-Session-Id": "sk-planted"}},
		{"the planted key in an unknown header",
			http.Header{"X-Debug": {"auth=sk-planted; user=real"}, "X-Other": {"real"}},
			map[string]string{"X-Debug": "auth=sk-planted; " + Token("user=real")}},
		{"a planted list", http.Header{"X-Debug": {"115,107"}}, map[string]string{"X-Debug": "115,107"}},
		{"an empty credential", http.Header{"Authorization": {""}}, map[string]string{"Authorization": Token("")}},
		{"the planted key beside a real one",
			http.Header{"X-Api-Key": {"sk-planted", "real"}, "Cookie": {"k=sk-planted; session=real"}},
			map[string]string{"X-Api-Key": "sk-planted; " + Token("real"),
				"Cookie": "k=sk-planted; " + Token("session=real")}},
	} {
		require.Equal(t, test.want, SelectHeader(test.header, planted), test.name)
	}
	require.Equal(t, map[string]string{"X-Api-Key": Token("sk-planted")},
		SelectHeader(http.Header{"X-Api-Key": {"sk-planted"}}, nil))
}

func TestSelectAddress(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:1/mcp":                              "",
		"http://127.0.0.1:1/mcp?token=real":                   "",
		"http://127.0.0.1:1/mcp?token=real&key=sk-planted&x=": "?key=sk-planted",
		"http://127.0.0.1:1/mcp/sk-planted?x":                 "/mcp/sk-planted?x",
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, want, SelectAddress(u, planted), address)
		require.Empty(t, SelectAddress(u, nil))
	}
}

func TestToken(t *testing.T) {
	require.Regexp(t, `^secret:[0-9a-f]{12}$`, Token("sk-real"))
	require.Equal(t, Token("sk-real"), Token("sk-real"))
	require.NotEqual(t, Token("sk-real"), Token("sk-other"))
}
