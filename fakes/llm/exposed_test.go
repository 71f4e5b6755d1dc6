package llm

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnExposedServerWantsItsKeyFromEverybody(t *testing.T) {
	s := start(t, Options{Exposed: true, Key: "secret"}, When().Reply(Text("hi")))
	ask := func(path, host, header, value string) int {
		r := httptest.NewRequest("POST", "http://"+host+path, strings.NewReader(hello))
		if path == JournalPath {
			r.Method = "GET"
		}
		if header != "" {
			r.Header.Set(header, value)
		}
		return serve(s, r).Code
	}
	for _, host := range []string{"model:8080", "127.0.0.1"} {
		for header, value := range map[string]string{"Authorization": "Bearer secret", "X-Api-Key": "secret",
			"Api-Key": "secret", "X-Goog-Api-Key": "secret"} {
			require.Equal(t, 200, ask(chatPath, host, header, value), header)
		}
		require.Equal(t, 200, ask(chatPath+"?key=secret", host, "", ""))
		require.Equal(t, 200, ask(JournalPath, host, "X-Api-Key", "secret"))
		for _, path := range []string{chatPath, JournalPath, "/v1/models"} {
			require.Equal(t, 401, ask(path, host, "", ""), path)
			require.Equal(t, 401, ask(path, host, "X-Api-Key", "secre"), path)
		}
	}
	require.Equal(t, 401, ask("/v1/nothing", "model", "", ""))
	require.Equal(t, 404, ask("/v1/nothing", "model", "X-Api-Key", "secret"))
	_, err := Start(Options{Exposed: true})
	require.ErrorContains(t, err, "exposed to other machines without a Key: expected one")
}

func TestAWrongKeyGetsTheProvidersError(t *testing.T) {
	s := start(t, Options{Exposed: true, Key: "secret"}, When().Reply(Text("hi")))
	for path, want := range map[string]string{
		chatPath:                       `"code": "invalid_api_key"`,
		"/v1/models":                   `"code": "invalid_api_key"`,
		"/v1/messages":                 `"type":"authentication_error"`,
		"/mistral/v1/chat/completions": `"detail":`,
		"/api/chat":                    `"error":"the key is missing or wrong`,
	} {
		r := httptest.NewRequest("POST", "http://model"+path, strings.NewReader(hello))
		if path == "/v1/models" {
			r.Method = "GET"
		}
		require.Contains(t, strings.ReplaceAll(serve(s, r).Body.String(), `"detail": `, `"detail":`), want, path)
	}
	require.Contains(t, s.Journal()[0].Refused, "wants the key it was started with")
}

func TestTheURLOfAListenerOnAllAddressesIsOfThisMachine(t *testing.T) {
	for listener, want := range map[string]string{"0.0.0.0:80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80",
		"127.0.0.1:80": "127.0.0.1:80", "[::1]:80": "[::1]:80", "10.0.0.7:80": "10.0.0.7:80", "pipe": "pipe"} {
		require.Equal(t, want, reachable(listener))
	}
}

func TestAForeignOriginIsRefused(t *testing.T) {
	s := start(t, Options{}, When().Reply(Text("hi")))
	for origin, status := range map[string]int{"https://evil.example": 403, "null": 403, "http://localhost:5173": 200} {
		for method, path := range map[string]string{"POST": chatPath, "GET": JournalPath} {
			r := httptest.NewRequest(method, s.URL+path, strings.NewReader(hello))
			r.Header.Set("Origin", origin)
			if path == JournalPath && status == 403 {
				require.NotContains(t, serve(s, r).Body.String(), "exchanges", origin)
			} else {
				require.Equal(t, status, serve(s, r).Code, "%s %s", origin, path)
			}
		}
	}
}

func TestARequestWithoutThePrefixIsCountedAndNotRecorded(t *testing.T) {
	s := start(t, Options{Prefix: "/1234"}, When().Reply(Text("hi")))
	require.True(t, strings.HasSuffix(s.OpenAI(), "/1234/v1"))
	for path, status := range map[string]int{chatPath: 404, "/12345" + chatPath: 404, JournalPath: 404,
		"/1234" + chatPath: 200} {
		method := "POST"
		if path == JournalPath {
			method = "GET"
		}
		r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(hello))
		require.Equal(t, status, serve(s, r).Code, path)
	}
	require.EqualValues(t, 3, s.Strangers())
	require.Len(t, s.Journal(), 1)
	require.Equal(t, chatPath, s.Journal()[0].Path)
}
