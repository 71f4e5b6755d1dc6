package trace

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSelectHeader(t *testing.T) {
	token := Token
	for _, test := range []struct {
		name    string
		header  http.Header
		planted string
		want    map[string]string
	}{
		{"nothing", nil, "", map[string]string{}},
		{"what bears on the protocols", http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json", "text/event-stream"}, "Mcp-Session-Id": {"abc"},
			"Mcp-Protocol-Version": {"2025-11-25"}, "Last-Event-Id": {"7"}, "Anthropic-Version": {"2023-06-01"}, "Retry-After": {"2"},
		}, "", map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": "abc",
			"Mcp-Protocol-Version": "2025-11-25", "Last-Event-Id": "7", "Anthropic-Version": "2023-06-01", "Retry-After": "2",
		}},
		{"nothing else", http.Header{"X-Forwarded-For": {"10.0.0.1"}, "X-Secret": {"s"}, "Traceparent": {"00"}}, "", map[string]string{}},
		{"credentials", http.Header{
			"Authorization": {"Bearer real"}, "X-Api-Key": {"real"}, "Cookie": {"a=1; b=2"}, "Openai-Organization": {"org-1"},
		}, "sk-planted", map[string]string{
			"Authorization": token("Bearer real"), "X-Api-Key": token("real"), "Cookie": token("a=1; b=2"), "Openai-Organization": token("org-1"),
		}},
		{"the planted key", http.Header{"Authorization": {"Bearer sk-planted"}, "X-Goog-Api-Key": {"sk-planted"}}, "sk-planted",
			map[string]string{"Authorization": "Bearer sk-planted", "X-Goog-Api-Key": "sk-planted"}},
		{"the planted key where it should not be", http.Header{"Mcp-Session-Id": {"sk-planted"}}, "sk-planted",
			map[string]string{"Mcp-Session-Id": "sk-planted"}},
		{"the planted key in a header that is not kept", http.Header{"X-Debug": {"auth=sk-planted; user=real"}, "X-Other": {"real"}}, "sk-planted",
			map[string]string{"X-Debug": "auth=sk-planted; " + token("user=real")}},
		{"a planted list", http.Header{"X-Debug": {"115,107"}}, "115,107", map[string]string{"X-Debug": "115,107"}},
		{"no planted key", http.Header{"Authorization": {""}}, "", map[string]string{"Authorization": token("")}},
		{"the planted key beside a real one", http.Header{"X-Api-Key": {"sk-planted", "real"}, "Cookie": {"k=sk-planted; session=real"}}, "sk-planted",
			map[string]string{"X-Api-Key": "sk-planted; " + token("real"), "Cookie": "k=sk-planted; " + token("session=real")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var planted func(string) bool
			if test.planted != "" {
				planted = func(text string) bool { return strings.Contains(text, test.planted) }
			}
			require.Equal(t, test.want, SelectHeader(test.header, planted))
		})
	}
}

func TestSelectAddress(t *testing.T) {
	planted := func(text string) bool { return strings.Contains(text, "sk-planted") }
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
	require.Regexp(t, regexp.MustCompile(`^secret:[0-9a-f]{12}$`), Token("sk-real"))
	require.Equal(t, Token("sk-real"), Token("sk-real"))
	require.NotEqual(t, Token("sk-real"), Token("sk-other"))
	require.NotContains(t, Token("sk-real"), "real")
}
