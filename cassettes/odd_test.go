package cassettes

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// odd are requests and answers that models do not use, but HTTP allows.
var odd = map[string]struct {
	method, path, replayed string // replayed is the path when replaying; "": the same
	serve                  http.HandlerFunc
}{
	"no content": {"POST", "/a", "",
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }},
	"not modified": {"GET", "/a", "",
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }},
	"empty answer": {"POST", "/a", "", func(http.ResponseWriter, *http.Request) {}},
	"HEAD": {"HEAD", "/a", "",
		func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "100") }},
	"chunked text": {"POST", "/a", "", writes("text/plain", "one ", "two")},
	"CRLF stream": {"POST", "/a", "",
		writes("text/event-stream; charset=utf-8", "event: a\r\nda", "ta: 1\r\n\r", "\ndata: 2\r\n\r\n")},
	"empty stream": {"POST", "/a", "", writes("text/event-stream")},
	"image":        {"GET", "/a", "", writes("image/png", "\x89PNG\r\n\x1a\n\x00\xff\n\n x")},
	"not UTF-8":    {"GET", "/a", "", writes("text/plain; charset=iso-8859-1", "\xe9t\xe9")},
	"long line":    {"GET", "/a", "", writes("text/plain", strings.Repeat("long ", 1<<18))},
	"header twice": {"GET", "/a", "",
		func(w http.ResponseWriter, _ *http.Request) { w.Header()["Anthropic-Beta"] = []string{"a", "b"} }},
	"other query order": {"GET", "/a?b=1&c=2&b=3", "/a?c=2&b=1&b=3", writes("text/plain", "a")},
	"custom method":     {"PROPFIND", "/a", "", writes("text/plain", "a")},
	"odd header": {"GET", "/a", "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Odd", "ä\t")
		w.Header().Set("Retry-After", "ä")
	}},
	"trailers": {"GET", "/a", "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		pieces(w, "text/plain", "a")
		w.Header().Set("X-Sum", "1")
	}},
	"escaped path": {"GET", "/a%2Fb/%C3%A9", "",
		func(w http.ResponseWriter, r *http.Request) { pieces(w, "text/plain", r.URL.EscapedPath()) }},
	"unnamed status": {"GET", "/a", "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(599) }},
}

func writes(mediaType string, all ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { pieces(w, mediaType, all...) }
}

// pieces writes an answer and flushes each piece.
func pieces(w http.ResponseWriter, mediaType string, pieces ...string) {
	w.Header().Set("Content-Type", mediaType)
	w.(http.Flusher).Flush()
	for _, piece := range pieces {
		_, _ = io.WriteString(w, piece)
		w.(http.Flusher).Flush()
	}
}

// Passthrough, recording and replay give the caller the same answer.
func TestUnusualHTTPIsReplayed(t *testing.T) {
	for name, c := range odd {
		t.Run(name, func(t *testing.T) {
			provider := httptest.NewServer(c.serve)
			defer provider.Close()
			path := talkFile(t)
			heard := map[Mode]string{}
			for _, mode := range []Mode{Passthrough, RecordAnew, ReplayOnly} {
				p := proxied(t, path, WithMode(mode), WithUpstream("openai", provider.URL))
				at := c.path
				if mode == ReplayOnly && c.replayed != "" {
					at = c.replayed
				}
				req, err := http.NewRequest(c.method, p.URL+"/openai"+at, nil)
				require.NoError(t, err)
				resp, body := exchanged(t, http.DefaultTransport, req)
				heard[mode] = fmt.Sprintf("%d %q %q %q", resp.StatusCode, resp.Header["Content-Type"],
					resp.Header["Anthropic-Beta"], body)
				require.NoError(t, p.Close(), mode)
			}
			require.Equal(t, heard[Passthrough], heard[RecordAnew])
			require.Equal(t, heard[Passthrough], heard[ReplayOnly])
		})
	}
}

func TestAnswerThatTheCallerClosesAtItsEndIsComplete(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/json":
			pieces(w, "application/json; charset=utf-8", `{"a":`, `1}`)
			<-r.Context().Done() // the connection stays open
		case "/half":
			pieces(w, "application/json", `{"a":1},`)
			<-r.Context().Done()
		case "/nothing":
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	defer provider.Close()
	path := talkFile(t)
	rec := recordAnew(t, path, nil)
	for _, at := range []string{"/json", "/half", "/nothing", "/head"} {
		method := "GET"
		if at == "/head" {
			method = "HEAD"
		}
		req, err := http.NewRequest(method, provider.URL+at, nil)
		require.NoError(t, err)
		resp, err := rec.RoundTrip(req)
		require.NoError(t, err)
		if method == "GET" && at != "/nothing" {
			require.NoError(t, json.NewDecoder(resp.Body).Decode(&struct{}{}))
		}
		require.NoError(t, resp.Body.Close())
	}
	require.NoError(t, rec.Close())
	r := loaded(t, path)
	var cuts []string
	for i := range r.timings {
		cuts = append(cuts, r.timings[i].Cut)
	}
	require.Equal(t, []string{wholeAnswer, cutByCaller, wholeAnswer, wholeAnswer}, cuts)
}

// A client generates the boundary of an upload for each request.
func TestUploadIsReplayed(t *testing.T) {
	path := talkFile(t)
	for _, c := range []struct {
		mode   Mode
		file   string
		status int
	}{{RecordAnew, "\x00\xff\r\n--x", 200}, {ReplayOnly, "\x00\xff\r\n--x", 200}, {ReplayOnly, "\x00\xfe\r\n--x", 404}} {
		tr := opened(t, path, WithMode(c.mode), WithTransport(&counting{}), AllowUnused())
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("file", "a.wav")
		require.NoError(t, err)
		_, _ = io.WriteString(part, c.file)
		require.NoError(t, form.Close())
		status, _ := send(t, tr, "https://api.openai.com/v1/audio/transcriptions", body.String(),
			http.Header{"Content-Type": {form.FormDataContentType()}})
		require.Equal(t, c.status, status)
		require.Equal(t, c.status != 200, tr.Close() != nil)
	}
}

func TestEqualConcurrentRequestsThroughTheProxy(t *testing.T) {
	const n = 50
	var asked atomic.Int64
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		pieces(w, "application/json", fmt.Sprintf(`{"n":%d}`, asked.Add(1)))
	}))
	defer provider.Close()
	path := talkFile(t)
	talk := func(options ...Option) []string {
		p := proxied(t, path, append(options, WithUpstream("openai", provider.URL))...)
		var mu sync.Mutex
		var said []string
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				resp, err := http.Post(p.Bases()[dialect.OpenAIChat]+"/chat/completions", "application/json",
					strings.NewReader(`{"model":"m"}`))
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				mu.Lock()
				defer mu.Unlock()
				said = append(said, fmt.Sprint(string(body), err))
			})
		}
		all.Wait()
		require.NoError(t, p.Close())
		slices.Sort(said)
		return said
	}
	live := talk(WithMode(RecordAnew))
	require.Len(t, slices.Compact(slices.Clone(live)), n)
	require.Equal(t, live, talk(), "each answer once")
	require.EqualValues(t, n, asked.Load())
}

// An upgraded connection works through the proxy and is reported as not recorded.
func TestProxyPassesAnUpgradedConnectionOn(t *testing.T) {
	hungUp := make(chan struct{})
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		for {
			line, err := rw.ReadString('\n')
			if err != nil {
				close(hungUp)
				return
			}
			_, _ = io.WriteString(conn, "echo "+line)
		}
	}))
	defer provider.Close()
	path := talkFile(t)
	p := proxied(t, path, WithMode(RecordAnew), WithUpstream("openai", provider.URL))
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", strings.TrimPrefix(p.URL, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(
		conn,
		"GET /openai/v1/realtime HTTP/1.1\r\nHost: "+strings.TrimPrefix(p.URL,
			"http://")+"\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n",
	)
	require.NoError(t, err)
	lines := bufio.NewReader(conn)
	resp, err := http.ReadResponse(lines, nil)
	require.NoError(t, err)
	require.Equal(t, 101, resp.StatusCode)
	_, err = io.WriteString(conn, "hello\n")
	require.NoError(t, err)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "echo hello\n", line)
	require.ErrorContains(t, p.Close(),
		"GET "+provider.URL+"/v1/realtime, was not recorded: the connection switched to another protocol")
	_, err = lines.ReadString('\n')
	require.Error(t, err, "the proxy is closed")
	<-hungUp
}

// endless is a body of zeros that needs no memory.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(e.left, len(p))
	clear(p[:n])
	e.left -= n
	return n, nil
}

// A body that is too large to be recorded passes both ways without more memory.
func TestTwoHundredMegabytesPassThrough(t *testing.T) {
	defer func(most int64) { maxBody = most }(maxBody)
	maxBody = 1 << 20
	const size = 200 << 20
	path := talkFile(t)
	through := transportFunc(func(r *http.Request) (*http.Response, error) {
		n, err := io.Copy(io.Discard, r.Body)
		require.NoError(t, err)
		resp := answer("application/octet-stream", "")
		resp.ContentLength, resp.Body = n, io.NopCloser(&endless{int(n)})
		return resp, nil
	})
	for _, mode := range []Mode{RecordAnew, RecordMissing, ReplayOnly} {
		tr := opened(t, path, WithMode(mode), WithTransport(through), AllowUnused())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if mode == RecordAnew {
			asks(t, tr, `{"small":1}`)
		}
		req, err := http.NewRequest(http.MethodPost, chat, &endless{size})
		require.NoError(t, err)
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		n, err := io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		err = tr.Close()
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), mode)
		if mode == ReplayOnly {
			require.Equal(t, 404, resp.StatusCode)
			require.ErrorContains(t, err, "the request body is larger than 1 MiB")
			continue
		}
		require.EqualValues(t, size, n)
		require.ErrorContains(t, err, "POST "+chat+", was not recorded: the request body is larger than 1 MiB")
	}
	r := loaded(t, path)
	require.Len(t, r.interactions, 1)
}
