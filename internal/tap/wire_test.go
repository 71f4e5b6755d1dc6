package tap_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/tap"
)

// frames collects frames.
type frames struct {
	mu     sync.Mutex
	all    []trace.Frame
	closed chan trace.Frame // gets the end of a stream; nil for nobody
}

func (f *frames) record(one trace.Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, one)
	if one.Closed && f.closed != nil {
		f.closed <- one
	}
}

func TestLinesPassByteForByte(t *testing.T) {
	var seen frames
	var out bytes.Buffer
	text := "{\"a\":1}\r\n\n  {\"b\":\"ä\xff\"}\n" + strings.Repeat("x", 200_000) + "\ncut"
	require.NoError(t, tap.NewFrames(seen.record).Copy(&out, strings.NewReader(text), trace.FromClient, "stdio 1"))
	require.Equal(t, text, out.String())
	var lines []string
	for _, f := range seen.all {
		lines = append(lines, string(f.Raw))
	}
	require.Equal(t, []string{`{"a":1}`, "  {\"b\":\"ä\xff\"}", strings.Repeat("x", 200_000), "cut", ""}, lines)
	require.True(t, seen.all[3].Partial)
	require.True(t, seen.all[4].Closed)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }
func (broken) Read([]byte) (int, error)  { return 0, errors.New("broken") }

func TestABrokenSideEndsTheCopy(t *testing.T) {
	var seen frames
	f := tap.NewFrames(seen.record)
	require.EqualError(t, f.Copy(broken{}, strings.NewReader("{}\n"), trace.ToClient, "s"), "gone")
	require.EqualError(t, f.Copy(io.Discard, broken{}, trace.ToClient, "s"), "broken")
	require.Len(t, seen.all, 1)
}

// behind serves a handler behind a tap.
func behind(t *testing.T, handler http.HandlerFunc) (string, *frames) {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	seen := new(frames)
	at, err := url.Parse(srv.URL + "/mcp")
	require.NoError(t, err)
	plain := &http.Transport{DisableCompression: true}
	t.Cleanup(plain.CloseIdleConnections)
	front := httptest.NewServer(tap.Proxy(at, false, tap.NewFrames(seen.record).RoundTripper(plain), plain))
	t.Cleanup(front.Close)
	return front.URL, seen
}

func TestAStreamPassesByteForByte(t *testing.T) {
	const stream = "\ufeff: hello\r\n\r\nid: 1\ndata: {\"id\":7,\ndata: \"result\":{}}\n\n" +
		"retry: 5\nid: 2\ndata:\n\ndata: cut"
	base, seen := behind(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Mcp-Session-Id", "s1")
		_, _ = io.WriteString(w, stream)
	})
	resp, err := http.Post(base+"/mcp", "application/json", strings.NewReader(`{"id":7}`))
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, stream, string(body))
	require.Len(t, seen.all, 3)
	require.Equal(t, "POST", seen.all[0].HTTP.Method)
	response := seen.all[1]
	require.Equal(t, "{\"id\":7,\n\"result\":{}}", string(response.Raw))
	require.Equal(t, "1", response.Event)
	require.Equal(t, "post 1", response.Stream)
	require.Equal(t, "s1", response.Session)
	require.Equal(t, 200, response.HTTP.Status)
	require.Equal(t, "2", seen.all[2].Event)
	require.NotZero(t, seen.all[2].Retry)
}

func TestAClientThatLeavesIsSeen(t *testing.T) {
	base, seen := behind(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	seen.closed = make(chan trace.Frame, 1)
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/mcp", strings.NewReader(`{"id":7}`))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	leave()
	require.Equal(t, trace.FromClient, (<-seen.closed).Dir)
	require.NoError(t, resp.Body.Close())
}

func TestOtherPathsPassUnrecorded(t *testing.T) {
	base, seen := behind(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) })
	resp, err := http.Get(base + "/.well-known/oauth-authorization-server")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusTeapot, resp.StatusCode)
	require.Empty(t, seen.all)
	resp, err = http.Get(base + "/mcp")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Len(t, seen.all, 2)
	require.Equal(t, http.StatusTeapot, seen.all[1].HTTP.Status)
}

func TestForeignHostsAreRefused(t *testing.T) {
	base, seen := behind(t, func(http.ResponseWriter, *http.Request) {})
	request, err := http.NewRequest(http.MethodGet, base+"/mcp", nil)
	require.NoError(t, err)
	request.Host = "evil.example"
	resp, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
	require.Empty(t, seen.all)
}

// What a tap adds to a call with a sample in it: compare direct with tapped.
func BenchmarkTap(b *testing.B) {
	for _, tapped := range []bool{false, true} {
		b.Run(map[bool]string{false: "direct", true: "tapped"}[tapped], func(b *testing.B) {
			srv, err := server.Start(
				server.Options{},
				server.Tool{Name: "quiz", Handler: func(s *server.Session) (any, error) {
					return server.As[server.Answer](s.Sample(s.Ask("?")))
				}},
			)
			require.NoError(b, err)
			defer srv.Close()
			at := srv.URL
			if tapped {
				to, err := url.Parse(at)
				require.NoError(b, err)
				plain := &http.Transport{DisableCompression: true}
				defer plain.CloseIdleConnections()
				front := httptest.NewServer(tap.Proxy(to, false, tap.New(trace.Header{}).RoundTripper(plain), plain))
				defer front.Close()
				at = front.URL + to.Path
			}
			c, err := client.Connect(b.Context(), client.Options{URL: at, HTTP: &http.Client{},
				Sampling: func(context.Context, map[string]any) (map[string]any, error) { return client.Text("!"), nil }})
			require.NoError(b, err)
			defer c.Close()
			for b.Loop() {
				_, err := c.CallTool(b.Context(), "quiz", nil)
				require.NoError(b, err)
			}
		})
	}
}

// Many servers redirect /mcp to /mcp/, with an absolute address.
func TestARedirectWithinTheServerStaysInTheTap(t *testing.T) {
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, srv.URL+"/mcp/", http.StatusTemporaryRedirect)
		}
	}))
	defer srv.Close()
	at, err := url.Parse(srv.URL + "/mcp")
	require.NoError(t, err)
	r := tap.New(trace.Header{Tapped: true})
	front := httptest.NewServer(tap.Proxy(at, false, r.RoundTripper(http.DefaultTransport), http.DefaultTransport))
	defer front.Close()
	resp, err := http.Post(front.URL+"/mcp", "application/json",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one"}}`))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, front.URL+"/mcp/", resp.Request.URL.String())
	require.Len(t, messages(r.Traces()[0].Events, trace.FromClient), 1)
}
