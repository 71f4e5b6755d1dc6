package cassettes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeTB is a TB that keeps its output.
type fakeTB struct {
	said     []string
	cleanups []func()
}

func (f *fakeTB) Helper()                   {}
func (f *fakeTB) Cleanup(c func())          { f.cleanups = append(f.cleanups, c) }
func (f *fakeTB) say(s string)              { f.said = append(f.said, s) }
func (f *fakeTB) Logf(s string, a ...any)   { f.say("log: " + fmt.Sprintf(s, a...)) }
func (f *fakeTB) Errorf(s string, a ...any) { f.say("error: " + fmt.Sprintf(s, a...)) }
func (f *fakeTB) Fatalf(s string, a ...any) { f.say("fatal: " + fmt.Sprintf(s, a...)) }

func (f *fakeTB) end() {
	for _, c := range slices.Backward(f.cleanups) {
		c()
	}
}

// changeBeside changes to a folder that contains a cassette.
func changeBeside(t *testing.T, name, file string) {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(filepath.Join("testdata", "cassettes"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join("testdata", "cassettes", name+extension), []byte(file), 0o600))
}

func post(t *testing.T, rt http.RoundTripper, url, body string) *http.Response {
	t.Helper()
	resp, err := (&http.Client{Transport: rt}).Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	return resp
}

func TestOpenAnswersFromTheFile(t *testing.T) {
	changeBeside(t, "stream", strings.NewReplacer("headers: {}",
		"headers: {content-type: [text/event-stream], x-request-id: [r]}", "'{}'", `"data: 1\n\ndata: 2\n\n"`).Replace(small))
	var tb fakeTB
	resp := post(t, Open(&tb, "stream"), "http://h/v1/chat/completions", `{ "messages" : [] }`)
	defer resp.Body.Close()
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, "r", resp.Header.Get("X-Request-Id"))
	require.EqualValues(t, -1, resp.ContentLength)
	buffer := make([]byte, 100)
	n, err := resp.Body.Read(buffer)
	require.NoError(t, err)
	require.Equal(t, "data: 1\n\n", string(buffer[:n]), "one event per Read")
	rest, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, "data: 2\n\n", string(rest))
	tb.end()
	require.Empty(t, tb.said)
}

func TestOpenFailsTheTestForUnknownAndUnusedRequests(t *testing.T) {
	changeBeside(t, "weather", small)
	const miss = `this openai-chat request is not recorded; the nearest is interaction 0 of ` +
		`testdata/cassettes/weather.yaml: ` +
		`at messages[0] expected nothing, found 1 (differences: 1); if the request is correct, record the conversation again`
	var tb fakeTB
	resp := post(t, Open(&tb, "weather"), "http://h/v1/chat/completions", `{"messages":[1]}`)
	defer resp.Body.Close()
	require.Equal(t, 404, resp.StatusCode)
	require.Equal(t, "false", resp.Header.Get("X-Should-Retry"))
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.JSONEq(t,
		`{"type":"error","error":{"type":"not_found_error","code":"not_recorded","param":null,"message":"`+miss+`"}}`,
		string(body))
	require.Empty(t, tb.said)
	tb.end()
	require.Equal(t, []string{
		"error: POST /v1/chat/completions: " + miss,
		"error: interaction 0 of testdata/cassettes/weather.yaml was not used: no such request was made",
	}, tb.said)

	var lax fakeTB
	Open(&lax, "weather", AllowUnused())
	lax.end()
	require.Empty(t, lax.said)
}

func TestOpenNamesTheFilesBesideAMissingOne(t *testing.T) {
	var tb fakeTB
	changeBeside(t, "weather", small)
	require.Nil(t, Open(&tb, "wether"))
	require.Len(t, tb.said, 1)
	require.Contains(t, tb.said[0], "fatal: opening the cassette: cassette testdata/cassettes/wether.yaml not found: "+
		"its folder contains weather.yaml: ")
	require.Contains(t, tb.said[0], "; set MCP_CONFORM_CASSETTES=record-missing to record")
}

func TestCancelledRequestIsNotAnswered(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://h/", nil)
	require.NoError(t, err)
	changeBeside(t, "weather", small)
	resp, err := Open(t, "weather", AllowUnused()).RoundTrip(r)
	if err == nil {
		resp.Body.Close()
	}
	require.ErrorIs(t, err, context.Canceled)
}
