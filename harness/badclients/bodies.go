package badclients

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/mutants"
)

// bodies are clients with wrong request bodies. Most of them send one such request once they are connected, and
// continue as usual.
var bodies = []Client{
	{Name: "huge-body", Doc: "posts a body of 1 GB", opened: throws(func() io.Reader {
		return io.LimitReader(endless("x"), 1<<30)
	})},
	{Name: "huge-answer", Doc: "answers a sampling request with 200 MB of text", edit: func(*bad) mutants.Edit {
		return mutants.Edit{Result: func(result object) {
			result["content"] = object{"type": "text", "text": strings.Repeat("x", 200<<20)}
		}}
	}},
	{Name: "chunked-without-end", Doc: "posts chunks without end",
		opened: throws(func() io.Reader { return endless(" ") })},
	{Name: "gzip-bomb", Doc: "posts a small body that unpacks to a large one", opened: func(b *bad) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = io.Copy(z, io.LimitReader(endless("x"), 64<<20)) // memory takes everything
		_ = z.Close()
		b.throw(&packed, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") })
	}},
	{Name: "garbage", Doc: "posts a body that is not JSON", opened: throwsText("\x00\x01GET / HTTP/1.1\r\n{{{{")},
	{Name: "half-a-frame", Doc: "posts the first half of a message",
		opened: throwsText(`{"jsonrpc":"2.0","id":99,"method":"tools/ca`)},
	{Name: "empty-body", Doc: "posts an empty body", opened: throwsText("")},
	{Name: "byte-order-mark", Doc: "begins each body with a byte order mark", edit: requests(func(r *http.Request) {
		if r.Body != nil {
			r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader("\ufeff"), r.Body)), -1
		}
	})},
	{Name: "utf-16", Doc: "posts a message in UTF-16", opened: throwsText("{\x00\"\x00j\x00s\x00o\x00n\x00}\x00")},
	{Name: "deep-nesting", Doc: "posts a hundred thousand brackets", opened: throwsText(strings.Repeat("[", 100000))},
	{Name: "batch", Doc: "posts two messages as an array", opened: throwsText(
		`[{"jsonrpc":"2.0","id":90,"method":"ping"},{"jsonrpc":"2.0","id":91,"method":"tools/list"}]`)},
	{Name: "wrong-content-type", Doc: "posts its messages as a form", edit: requests(func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	})},
	{Name: "accepts-nothing", Doc: "accepts only HTML", edit: requests(func(r *http.Request) {
		r.Header.Set("Accept", "text/html")
	})},
	{Name: "floods-frames", Doc: "sends two thousand unknown notifications", opened: func(b *bad) {
		for i := range 2000 {
			if b.wire.Send(b.wire.Context, object{"jsonrpc": "2.0", "method": "notifications/noise",
				"params": object{"n": i}}) != nil {
				return
			}
		}
	}},
}

// requests edits each HTTP request to the server.
func requests(f func(r *http.Request)) func(*bad) mutants.Edit {
	return func(*bad) mutants.Edit {
		return mutants.Edit{Server: func(_ *mutants.Wire, next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				r = r.Clone(r.Context())
				f(r)
				return next.RoundTrip(r)
			})
		}}
	}
}

// roundTrip is an [http.RoundTripper] that is a function.
type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func throws(body func() io.Reader) func(*bad) { return func(b *bad) { b.throw(body(), nil) } }

func throwsText(body string) func(*bad) {
	return throws(func() io.Reader { return strings.NewReader(body) })
}

// build makes an HTTP request with the headers of the client's latest message.
func (b *bad) build(method, rpcMethod, name string, body io.Reader) *http.Request {
	r, err := http.NewRequest(method, b.env.URL, body)
	if err != nil {
		panic(err) // the URL was read before
	}
	if h := b.wire.Header(); h != nil {
		r.Header = h
	}
	if r.Header.Del("Mcp-Name"); b.env.Revision.Modern() {
		r.Header.Set("Mcp-Method", rpcMethod)
		r.Header.Set("Mcp-Name", name)
	}
	return r
}

// throw posts a body and reads the response, whatever it is.
func (b *bad) throw(body io.Reader, change func(*http.Request)) {
	r := b.build(http.MethodPost, "tools/call", "thrown", body)
	if change != nil {
		change(r)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println("thrown:", err)
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
}

// endless is a text without end.
type endless string

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e[0]
	}
	return len(p), nil
}
