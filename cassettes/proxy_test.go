package cassettes

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// proxied starts a proxy and closes it at the end of the test.
func proxied(t *testing.T, path string, options ...Option) *Proxy {
	t.Helper()
	p, err := StartProxy(path, options...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// before lets the proxy call a scripted model in place of every provider.
func before(model *llm.Server) []Option {
	options := []Option{WithOrigin(Scripted)}
	for _, u := range upstreams {
		options = append(options, WithUpstream(u.name, strings.TrimSuffix(model.BaseURLs()[u.dialects[0]], u.base)))
	}
	return options
}

func TestProxyRecordsAndReplaysEveryProvider(t *testing.T) {
	model := llm.New(t, llm.When().Reply(llm.Text("Hello 🗼"), llm.Call("f", `{"a":1}`)).Times(10))
	path := talkFile(t)
	const tool = `{"name":"f","description":"d","parameters":{"type":"object","properties":{}}}`
	const body = `"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":`
	requests := []struct{ dialect, path, body string }{
		{dialect.OpenAIChat, "/chat/completions", `{` + body + `[{"type":"function","function":` + tool + `}]}`},
		{dialect.OpenAIChat, "/chat/completions",
			`{"stream":true,` + body + `[{"type":"function","function":` + tool + `}]}`},
		{
			dialect.OpenAIResponses,
			"/responses",
			`{"model":"m","stream":true,"input":"Hi","tools":[{"type":"function","name":"f","parameters":{"type":"object",` +
				`"properties":{}}}]}`,
		},
		{dialect.Anthropic, "/v1/messages",
			`{"max_tokens":99,"stream":true,` + body + `[{"name":"f","input_schema":{"type":"object"}}]}`},
		{dialect.Anthropic, "/v1/messages", `{"max_tokens":99,` + body + `[{"name":"f","input_schema":{"type":"object"}}]}`},
		{dialect.Gemini, "/v1beta/models/gemini-2.5-flash:generateContent",
			`{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"tools":[{"functionDeclarations":[{"name":"f",` +
				`"description":"d"}]}]}`},
		{dialect.Gemini, "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
			`{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"tools":[{"functionDeclarations":[{"name":"f",` +
				`"description":"d"}]}]}`},
		{dialect.CohereChat, "/v2/chat", `{"stream":true,` + body + `[{"type":"function","function":` + tool + `}]}`},
		{dialect.Ollama, "/api/chat", `{` + body + `[{"type":"function","function":` + tool + `}]}`},
		{dialect.Native, "",
			`{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"tools":[{"name":"f",` +
				`"inputSchema":{"type":"object"}}]}`},
	}
	said := func(p *Proxy) []string {
		var all []string
		for _, r := range requests {
			status, answer := send(t, http.DefaultTransport, p.Bases()[r.dialect]+r.path, r.body, http.Header{
				"Content-Type": {"application/json"}, "Authorization": {"Bearer " + secret}, "X-Api-Key": {secret},
				"X-Goog-Api-Key": {secret}, "Anthropic-Version": {"2023-06-01"}})
			require.Equal(t, 200, status, "%s: %s", r.dialect, answer)
			all = append(all, answer)
		}
		return all
	}
	recording := proxied(t, path, append(before(model), WithMode(RecordAnew))...)
	live := said(recording)
	require.NoError(t, recording.Close())
	for i, text := range live {
		require.Contains(t, text, `"f"`, "%s", requests[i].dialect)
	}
	model.Close()
	replaying := proxied(t, path)
	require.Equal(t, live, said(replaying))
	require.NoError(t, replaying.Close())
}

func TestProxyStreamsAndKnowsWhoCutAnAnswerShort(t *testing.T) {
	more := make(chan struct{})
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range story[:2] {
			_, _ = io.WriteString(w, piece)
			w.(http.Flusher).Flush()
			select {
			case <-more:
			case <-r.Context().Done(): // the proxy passes on that the caller hung up
				return
			}
		}
		panic(http.ErrAbortHandler)
	}))
	defer provider.Close()
	talk := func(p *Proxy, body string) (*http.Response, *bufio.Reader, context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Bases()[dialect.OpenAIChat]+"/chat/completions",
			strings.NewReader(body))
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		return resp, bufio.NewReader(resp.Body), cancel
	}
	path := talkFile(t)
	p := proxied(t, path, WithMode(RecordAnew), WithUpstream("openai", provider.URL))

	resp, lines, cancel := talk(p, `{"n":1}`)
	line, err := lines.ReadString('\n')
	require.NoError(t, err, "before the rest has arrived")
	require.Equal(t, "data: one\n", line)
	more <- struct{}{}
	more <- struct{}{}
	_, err = io.ReadAll(lines)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the provider's reset reaches the caller")
	require.NoError(t, resp.Body.Close())
	cancel()

	resp, lines, cancel = talk(p, `{"n":2}`)
	_, err = lines.ReadString('\n')
	require.NoError(t, err)
	cancel()
	require.NoError(t, resp.Body.Close())
	require.NoError(t, p.Close())

	r := loaded(t, path)
	require.Equal(t, "provider", r.timings[0].Cut)
	require.Equal(t, strings.Join(story[:2], ""), r.interactions[0].Response.Body)
	require.Equal(t, "caller", r.timings[1].Cut)
	require.Equal(t, story[0], r.interactions[1].Response.Body)

	p = proxied(t, path)
	_, lines, cancel = talk(p, `{"n":1}`)
	defer cancel()
	all, err := io.ReadAll(lines)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, strings.Join(story[:2], ""), string(all))
}

func TestProxyRecordsUncompressedAnswers(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "gzip", r.Header.Get("Accept-Encoding"), "the transport's own")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, zip(`{"said":"zipped"}`))
	}))
	defer provider.Close()
	path := talkFile(t)
	p := proxied(t, path, WithMode(RecordAnew), WithUpstream("anthropic", provider.URL))
	_, said := send(t, http.DefaultTransport, p.Bases()[dialect.Anthropic]+"/v1/messages", `{}`,
		http.Header{"Accept-Encoding": {"br, zstd"}})
	require.Equal(t, `{"said":"zipped"}`, said)
	require.NoError(t, p.Close())
	r := loaded(t, path)
	require.Equal(t, `{"said":"zipped"}`, r.interactions[0].Response.Body)
}

func TestProxyRewritesRedirectsWithinTheProvider(t *testing.T) {
	var provider *httptest.Server
	provider = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			http.Redirect(w, r, provider.URL+"/v2/models?page=1", http.StatusTemporaryRedirect)
		case "/v1/away":
			http.Redirect(w, r, "https://elsewhere.example/", http.StatusTemporaryRedirect)
		default:
			fmt.Fprintf(w, "%s?%s", r.URL.Path, r.URL.RawQuery)
		}
	}))
	defer provider.Close()
	path := talkFile(t)
	p := proxied(t, path, WithMode(RecordAnew), WithUpstream("openai", provider.URL))
	get := func(p *Proxy, path string) string {
		resp, err := (&http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if !strings.HasPrefix(r.URL.String(), p.URL) {
				return http.ErrUseLastResponse
			}
			return nil
		}}).Get(p.Bases()[dialect.OpenAIChat] + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.Header.Get("Location") + string(bytes.TrimSpace(body))
	}
	require.Equal(t, "/v2/models?page=1", get(p, "/models"))
	require.Contains(t, get(p, "/away"), "https://elsewhere.example/", "another host")
	require.NoError(t, p.Close())
	for _, options := range [][]Option{{WithUpstream("openai", provider.URL)}, nil} { // at any provider address
		p = proxied(t, path, options...)
		require.Equal(t, "/v2/models?page=1", get(p, "/models"))
		require.Contains(t, get(p, "/away"), "https://elsewhere.example/")
		require.NoError(t, p.Close())
	}
}

func TestProxyRejectsUnknownRequests(t *testing.T) {
	path := talkFile(t)
	gone := httptest.NewServer(nil)
	gone.Close()
	p := proxied(t, path, WithMode(Passthrough), WithUpstream("openai", gone.URL))
	for _, c := range []struct{ host, path, want string }{
		{"", "/v1/models", "no provider at /v1/models: expected a path that begins with /native/, /openai/, /anthropic/, " +
			"/gemini/, /ollama/, /cohere/"},
		{"", "/native/native", "the address of native is not set"},
		{"evil.example", "/openai/v1/models", `unknown host \"evil.example\"`},
		{"", "/openai/v1/models", "cannot reach the provider: dial tcp " + strings.TrimPrefix(gone.URL, "http://")},
	} {
		req, err := http.NewRequest(http.MethodGet, p.URL+c.path, nil)
		require.NoError(t, err)
		req.Host = c.host
		resp, body := exchanged(t, http.DefaultTransport, req)
		require.Contains(t, body, `"message":"`+c.want)
		require.Equal(t, "false", resp.Header.Get("X-Should-Retry"))
	}
	require.NoError(t, p.Close())

	for want, option := range map[string]Option{
		`the upstream of openai is "api.openai.com"`:                 WithUpstream("openai", "api.openai.com"),
		`unknown provider "mistral": expected one of native, openai`: WithUpstream("mistral", "https://api.mistral.ai"),
		`the mode is "x"`: WithMode("x"),
	} {
		_, err := StartProxy(path, option)
		require.ErrorContains(t, err, want)
	}
	_, err := StartProxy("talk", WithMode(RecordAnew))
	require.ErrorContains(t, err, `cassette "talk": use the path of a file`)
	_, err = StartProxy(path)
	require.ErrorContains(t, err, path+" not found")
}

func TestProxyFailsItsTest(t *testing.T) {
	changeBeside(t, "weather", small)
	var tb fakeTB
	p := NewProxy(&tb, "weather")
	resp := post(t, http.DefaultTransport, p.Bases()[dialect.OpenAIChat]+"/chat/completions", `{"not":"there"}`)
	require.Equal(t, 404, resp.StatusCode)
	require.NoError(t, resp.Body.Close())
	tb.end()
	require.Len(t, tb.said, 2)
	require.Contains(t, tb.said[0], "error: POST /v1/chat/completions: this openai-chat request is not recorded")
	require.Contains(t, tb.said[1], "error: interaction 0 of testdata/cassettes/weather.yaml was not used")

	tb = fakeTB{}
	require.Nil(t, NewProxy(&tb, "wether"))
	require.Contains(t, tb.said[0], "fatal: opening the cassette: cassette testdata/cassettes/wether.yaml not found")
}
