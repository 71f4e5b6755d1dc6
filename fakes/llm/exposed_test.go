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
	_, err := Start(Options{Exposed: true})
	require.ErrorContains(t, err, "exposed to other machines without a Key: want one")
}
