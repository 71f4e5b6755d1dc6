package cassettes

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// proxied starts a proxy that is closed at the end of the test, if it was not before.
func proxied(t *testing.T, path string, options ...Option) *Proxy {
	t.Helper()
	p, err := StartProxy(path, options...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// before has every provider of the proxy at the scripted model.
func before(model *llm.Server) []Option {
	options := []Option{WithOrigin(Scripted)}
	for _, u := range upstreams {
		options = append(options, WithUpstream(u.name, strings.TrimSuffix(model.Bases()[u.dialects[0]], u.base)))
	}
	return options
}

func TestEveryProviderIsRecordedAndReplayedThroughTheProxy(t *testing.T) {
	model := llm.New(t, llm.When().Reply(llm.Text("Hello 🗼"), llm.Call("f", `{"a":1}`)).Times(9))
	path := filepath.Join(t.TempDir(), "talk.yaml")
	const tool = `{"name":"f","description":"d","parameters":{"type":"object","properties":{}}}`
	requests := []struct{ dialect, path, body string }{
		{dialect.OpenAIChat, "/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":` + tool + `}]}`},
		{dialect.OpenAIChat, "/chat/completions", `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":` + tool + `}]}`},
		{dialect.OpenAIResponses, "/responses", `{"model":"gpt-4o","stream":true,"input":"Hi","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}}}]}`},
		{dialect.Anthropic, "/v1/messages", `{"model":"claude","max_tokens":99,"stream":true,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`},
		{dialect.Anthropic, "/v1/messages", `{"model":"claude","max_tokens":99,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`},
		{dialect.Gemini, "/v1beta/models/gemini-2.5-flash:generateContent", `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"tools":[{"functionDeclarations":[{"name":"f","description":"d"}]}]}`},
		{dialect.Gemini, "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"tools":[{"functionDeclarations":[{"name":"f","description":"d"}]}]}`},
		{dialect.Ollama, "/api/chat", `{"model":"llama3.2","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":` + tool + `}]}`},
		{dialect.Native, "", `{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"tools":[{"name":"f","inputSchema":{"type":"object"}}]}`},
	}
	said := func(p *Proxy) []string {
		var all []string
		for _, r := range requests {
			req, err := http.NewRequest(http.MethodPost, p.Bases()[r.dialect]+r.path, strings.NewReader(r.body))
			require.NoError(t, err)
			req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + secret}, "X-Api-Key": {secret}, "X-Goog-Api-Key": {secret},
				"Anthropic-Version": {"2023-06-01"}, "Accept-Encoding": {"gzip"}}
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, 200, resp.StatusCode, "%s: %s", r.dialect, body)
			all = append(all, resp.Header.Get("Content-Type")+"\n"+string(body))
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

func TestAProxyPassesAStreamOnAsItComesAndKnowsWhoCutItShort(t *testing.T) {
	more := make(chan struct{})
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range story[:2] {
			_, _ = io.WriteString(w, piece)
			w.(http.Flusher).Flush()
			select {
			case <-more:
			case <-r.Context().Done(): // the caller hung up, which the proxy passes on
				return
			}
		}
		panic(http.ErrAbortHandler)
	}))
	defer provider.Close()
	talk := func(p *Proxy, body string) (*http.Response, *bufio.Reader, context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Bases()[dialect.OpenAIChat]+"/chat/completions", strings.NewReader(body))
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		return resp, bufio.NewReader(resp.Body), cancel
	}
	path := filepath.Join(t.TempDir(), "talk.yaml")
	p := proxied(t, path, WithMode(RecordAnew), WithUpstream("openai", provider.URL))

	resp, lines, cancel := talk(p, `{"n":1}`)
	line, err := lines.ReadString('\n')
	require.NoError(t, err, "before the provider has said the rest")
	require.Equal(t, "data: one\n", line)
	more <- struct{}{}
	more <- struct{}{}
	_, err = io.ReadAll(lines)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the provider's break is the caller's, too")
	require.NoError(t, resp.Body.Close())
	cancel()

	resp, lines, cancel = talk(p, `{"n":2}`)
	_, err = lines.ReadString('\n')
	require.NoError(t, err)
	cancel()
	require.NoError(t, resp.Body.Close())
	require.NoError(t, p.Close())

	r, err := load(path)
	require.NoError(t, err)
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

func TestAProxyRecordsWhatACassetteCanBeReadIn(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "gzip", r.Header.Get("Accept-Encoding"), "which is the transport's own, whatever the caller asks for")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, `{"said":"zipped"}`)
		_ = z.Close()
	}))
	defer provider.Close()
	path := filepath.Join(t.TempDir(), "talk.yaml")
	p := proxied(t, path, WithMode(RecordAnew), WithUpstream("anthropic", provider.URL))
	req, err := http.NewRequest(http.MethodPost, p.Bases()[dialect.Anthropic]+"/v1/messages", strings.NewReader(`{}`))
	require.NoError(t, err)
	req.Header.Set("Accept-Encoding", "br, zstd")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	said, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, `{"said":"zipped"}`, string(said))
	require.NoError(t, p.Close())
	r, err := load(path)
	require.NoError(t, err)
	require.Equal(t, `{"said":"zipped"}`, r.interactions[0].Response.Body)
}

func TestARedirectLeadsToTheProxyAgain(t *testing.T) {
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
	path := filepath.Join(t.TempDir(), "talk.yaml")
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
	require.Contains(t, get(p, "/away"), "https://elsewhere.example/", "where the proxy has no business")
	require.NoError(t, p.Close())
	for _, options := range [][]Option{{WithUpstream("openai", provider.URL)}, nil} { // wherever the provider is then
		p = proxied(t, path, options...)
		require.Equal(t, "/v2/models?page=1", get(p, "/models"))
		require.Contains(t, get(p, "/away"), "https://elsewhere.example/")
		require.NoError(t, p.Close())
	}
}

func TestWhatAProxyDoesNotServe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.yaml")
	gone := httptest.NewServer(nil)
	gone.Close()
	p := proxied(t, path, WithMode(Passthrough), WithUpstream("openai", gone.URL))
	for _, c := range []struct{ host, path, want string }{
		{"", "/v1/models", `there is no provider at /v1/models: want a path that begins with /openai/, /anthropic/, /gemini/, /ollama/, /native/`},
		{"", "/native/native", "the proxy was not told where native is"},
		{"evil.example", "/openai/v1/models", `the host \"evil.example\" is not this proxy's`},
		{"", "/openai/v1/models", "the provider was not reached: dial tcp " + strings.TrimPrefix(gone.URL, "http://") + ": connect: connection refused"},
	} {
		req, err := http.NewRequest(http.MethodGet, p.URL+c.path, nil)
		require.NoError(t, err)
		req.Host = c.host
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Contains(t, string(body), `"message":"`+c.want+`"`)
		require.Equal(t, "false", resp.Header.Get("X-Should-Retry"))
	}
	require.NoError(t, p.Close())

	for want, option := range map[string]Option{
		`the upstream of openai is "api.openai.com": want an address such as https://api.example.com`: WithUpstream("openai", "api.openai.com"),
		`there is no provider "mistral": want one of openai, anthropic, gemini, ollama, native`:       WithUpstream("mistral", "https://api.mistral.ai"),
		`the mode is "x": want one of [replay record-missing record passthrough]`:                     WithMode("x"),
	} {
		_, err := StartProxy(path, option)
		require.EqualError(t, err, want)
	}
	_, err := StartProxy("talk", WithMode(RecordAnew))
	require.EqualError(t, err, `cassette "talk": want the path of a file that ends in .yaml`)
	_, err = StartProxy(path)
	require.ErrorContains(t, err, "there is no cassette "+path)
}

func TestAProxyOfATest(t *testing.T) {
	beside(t, "weather", small)
	var tb fakeTB
	p := NewProxy(&tb, "weather")
	resp := post(t, http.DefaultTransport, p.Bases()[dialect.OpenAIChat]+"/chat/completions", `{"not":"there"}`)
	require.Equal(t, 404, resp.StatusCode)
	require.NoError(t, resp.Body.Close())
	tb.end()
	require.Len(t, tb.said, 2)
	require.Contains(t, tb.said[0], "error: POST /v1/chat/completions: this openai-chat request was not recorded")
	require.Contains(t, tb.said[1], "error: interaction 0 of testdata/cassettes/weather.yaml was not played")

	tb = fakeTB{}
	require.Nil(t, NewProxy(&tb, "wether"))
	require.Contains(t, tb.said[0], `fatal: opening the cassette: there is no recording "wether"`)
}
