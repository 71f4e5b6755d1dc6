package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// mixer is a gateway between HTTP and HTTP that may mix up its clients.
type mixer struct {
	mu   sync.Mutex
	kept map[string][]byte
}

// first returns the first value that was kept under a name.
func (m *mixer) first(name string, value []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept[name] == nil && value != nil {
		m.kept[name] = bytes.Clone(value)
	}
	return m.kept[name]
}

var (
	capabilities = regexp.MustCompile(
		`"(?:capabilities|io.modelcontextprotocol/clientCapabilities)":(\{\}|\{"\w+":\{\}(?:,"\w+":\{\})?\})`,
	)
	saidName = regexp.MustCompile(`"text":"(one|two)"`)
)

// handler passes requests on to a server. Request and response change what they are given, and may refuse a request.
func (m *mixer) handler(to *url.URL, request func([]byte) []byte, refuse func(body []byte) bool) http.Handler {
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		body, _ := io.ReadAll(r.In.Body)
		body = request(body)
		r.Out.URL, r.Out.Host = to, to.Host
		r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if refuse(body) {
			http.Error(w, "one client at a time", http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

func TestSeveralClientsAtOnce(t *testing.T) {
	same := func(b []byte) []byte { return b }
	never := func([]byte) bool { return false }
	for _, c := range []struct {
		name    string
		request func(m *mixer) func([]byte) []byte
		refuse  func(m *mixer) func([]byte) bool
		verdict report.Verdict
		message string
	}{
		{"passes everything on", nil, nil, report.Pass, "three and ten clients at once"},
		{"the first client's capabilities for all", func(m *mixer) func([]byte) []byte {
			return func(b []byte) []byte {
				found := capabilities.FindSubmatchIndex(b)
				if found == nil {
					return b
				}
				return bytes.Join([][]byte{b[:found[2]], m.first("capabilities", b[found[2]:found[3]]), b[found[3]:]}, nil)
			}
		}, nil, report.Fail, "in the capabilities of"},
		{"the first answer for all", func(m *mixer) func([]byte) []byte {
			return func(b []byte) []byte {
				found := saidName.FindSubmatchIndex(b)
				if found == nil {
					return b
				}
				return bytes.Join([][]byte{b[:found[2]], m.first("answer", b[found[2]:found[3]]), b[found[3]:]}, nil)
			}
		}, nil, report.Fail, "expected the answer of the client"},
		{"no capabilities at all", func(*mixer) func([]byte) []byte {
			return func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`"sampling":{}`), []byte(`"roots":{}`)) }
		}, nil, report.NotApplicable, "see gateway/capabilities"},
		{"one client at a time", nil, func(m *mixer) func([]byte) bool {
			return func(b []byte) bool {
				return bytes.Contains(b, []byte(`"tools/call"`)) && !bytes.Contains(b, m.first("call", b))
			}
		}, report.Warn, "expected the calls of 3 clients at the server, found none of"},
		{"eight calls", nil, func(*mixer) func([]byte) bool {
			var calls atomic.Int32
			return func(b []byte) bool {
				return bytes.Contains(b, []byte(`"tools/call"`)) && !bytes.Contains(b, []byte("inputResponses")) && calls.Add(1) > 8
			}
		}, report.Warn, "expected the calls of 10 clients at the server, found none of"},
	} {
		for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
			t.Run(c.name+"/"+string(revision), func(t *testing.T) {
				var sessions []*atOnce
				samples := 0
				for _, order := range orders {
					o := newAtOnce(order, 50*time.Millisecond)
					var tools []server.Tool
					for _, name := range order {
						tools = append(tools, server.Tool{Name: "gateway-" + name, Handler: o.handler(name)})
					}
					srv, err := server.Start(server.Options{}, tools...)
					require.NoError(t, err)
					to, err := url.Parse(srv.URL)
					require.NoError(t, err)
					m, request, refuse := &mixer{kept: map[string][]byte{}}, same, never
					if c.request != nil {
						request = c.request(m)
					}
					if c.refuse != nil {
						refuse = c.refuse(m)
					}
					front := httptest.NewServer(m.handler(to, request, refuse))
					require.NoError(t, o.run(t.Context(), harness.Env{URL: front.URL, HTTP: front.Client(), Revision: revision}))
					front.Close()
					require.NoError(t, srv.Close())
					sessions = append(sessions, o)
					samples += o.samples()
				}
				got := judgeTogether(revision, sessions, samples)
				require.Equal(t, c.verdict, got.Verdict, got.Message)
				require.Contains(t, got.Message, c.message)
			})
		}
	}
}

func TestAMessageOfFiveMegabytes(t *testing.T) {
	sharedtest.NeedsWhole(t)
	cut := func(text string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(text), nil, 1) }
	}
	never, long := func([]byte) bool { return false }, func(b []byte) bool { return len(b) > 1<<20 }
	result := regexp.MustCompile(`"result":\{.*\}$`)
	for _, c := range []struct {
		name    string
		request func([]byte) []byte
		refuse  func([]byte) bool
		limit   time.Duration
		verdict report.Verdict
		message string
	}{
		{"passes", cut("nothing"), never, time.Minute, report.Pass, "of 5 MB pass"},
		{"cut", cut("a longer answer "), never, time.Minute, report.Fail, "on the way up"},
		{"refused", func(b []byte) []byte {
			if long(b) {
				return result.ReplaceAll(b, []byte(`"error":{"code":-32603,"message":"too large"}}`))
			}
			return b
		}, never, time.Minute, report.Pass, "refused with an error for the server: "},
		{"no sampling", cut(`"sampling":{}`), never, time.Minute, report.NotApplicable, "no client's sampling"},
		{"no call arrives", cut("nothing"), func([]byte) bool { return true }, time.Minute, report.Warn, "found none"},
		{"hangs", cut("nothing"), long, 200 * time.Millisecond, report.Fail, "found neither within"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := playSingle(t, ofFiveMegabytes(c.limit), c.request, c.refuse)
			require.Equal(t, c.verdict, got.Verdict, got.Message)
			require.Contains(t, got.Message, c.message)
		})
	}
}

// playSingle plays the sample through a gateway, which changes requests or refuses some.
func playSingle(t *testing.T, l *single, request func([]byte) []byte, refuse func([]byte) bool) *report.Result {
	t.Helper()
	srv, err := server.Start(server.Options{}, server.Tool{Name: "gateway-" + l.name, Handler: l.handle})
	require.NoError(t, err)
	to, err := url.Parse(srv.URL)
	require.NoError(t, err)
	front := httptest.NewServer((&mixer{}).handler(to, request, refuse))
	require.NoError(t, l.run(t.Context(), harness.Env{URL: front.URL, HTTP: front.Client(), Revision: server.V20251125,
		Declare: json.RawMessage(`{"sampling":{}}`)}))
	front.Close()
	require.NoError(t, srv.Close())
	return l.judge(server.V20251125)
}

// judgeEnded judges a call that reached the server and ended with an error for the client.
func judgeEnded(err error) *report.Result {
	l := thatTakes(time.Millisecond, time.Minute)
	l.called, l.failed = true, err
	return l.judge(server.V20251125)
}

func TestAServerThatDies(t *testing.T) {
	for _, c := range []struct {
		name    string
		end     func(*dying)
		verdict report.Verdict
		message string
	}{
		{"no call", func(d *dying) { d.called = false }, report.Warn, "found none"},
		{"nothing", func(d *dying) { d.late, d.failed = true, context.DeadlineExceeded }, report.Fail,
			"found nothing within 1m0s"},
		{"an error", func(d *dying) { d.failed = client.ErrNoResponse }, report.Pass, "gets an error: the stream ended"},
		{"a result", func(*dying) {}, report.Pass, "gets a result"},
	} {
		d := thatDies(time.Minute)
		d.called = true
		c.end(d)
		got := d.judge(server.V20251125)
		require.Equal(t, c.verdict, got.Verdict, c.name)
		require.Contains(t, got.Message, c.message)
	}
}

// hanging is a response body that blocks when its connection breaks.
type hanging struct {
	io.ReadCloser
	until <-chan struct{}
}

func (h hanging) Read(b []byte) (int, error) {
	n, err := h.ReadCloser.Read(b)
	if err != nil && err != io.EOF {
		<-h.until
	}
	return n, err
}

func TestAGatewayWhoseServerDies(t *testing.T) {
	for hangs, want := range map[bool]report.Verdict{false: report.Pass, true: report.Fail} {
		for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
			d := thatDies(time.Minute)
			if hangs {
				d = thatDies(200 * time.Millisecond)
			}
			srv, err := server.Start(server.Options{}, server.Tool{Name: "gateway-" + d.name, Handler: d.handle})
			require.NoError(t, err)
			to, err := url.Parse(srv.URL)
			require.NoError(t, err)
			proxy := &httputil.ReverseProxy{FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
				Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL, r.Out.Host = to, to.Host },
				ModifyResponse: func(r *http.Response) error {
					if hangs {
						r.Body = hanging{r.Body, r.Request.Context().Done()}
					}
					return nil
				}}
			front := httptest.NewServer(proxy)
			require.NoError(t, d.run(t.Context(), harness.Env{URL: front.URL, HTTP: front.Client(), Revision: revision}))
			front.Close()
			require.NoError(t, srv.Close())
			got := d.judge(revision)
			require.Equal(t, want, got.Verdict, got.Message)
		}
	}
}

func TestASlowAnswer(t *testing.T) {
	same := func(b []byte) []byte { return b }
	got := playSingle(t, thatTakes(time.Millisecond, time.Minute), same, func([]byte) bool { return false })
	require.Equal(t, report.Pass, got.Verdict, got.Message)
	require.Contains(t, got.Message, "that takes 1ms pass")
	got = judgeEnded(client.ErrNoResponse)
	require.Equal(t, report.Fail, got.Verdict, got.Message)
	require.Contains(t, got.Message, "or an error in its place: the stream ended without a response")
	got = judgeEnded(&client.Error{Code: -32001, Message: "too late"})
	require.Equal(t, report.Pass, got.Verdict, got.Message)
	got = playSingle(t, thatTakes(time.Millisecond, 200*time.Millisecond), same,
		func(b []byte) bool { return bytes.Contains(b, []byte("It can wait.")) })
	require.Equal(t, report.Fail, got.Verdict, got.Message)
	require.Contains(t, got.Message, "found neither within 201ms")
}
