package badclients

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

// bodies are clients with wrong request bodies. Most of them send one such request once they are connected, and
// continue as usual.
var bodies = []Client{
	opens("huge-body", both, throws(func() io.Reader {
		return io.LimitReader(endless("x"), 1<<30)
	})),
	edits("huge-answer", both, func(*bad) mutants.Edit {
		return mutants.Edit{Result: func(result object) {
			result["content"] = object{"type": "text", "text": strings.Repeat("x", 72<<20)}
		}}
	}),
	opens("chunked-without-end", both, throws(func() io.Reader { return endless(" ") })),
	opens("gzip-bomb", both, func(b *bad) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = io.Copy(z, io.LimitReader(endless("x"), 64<<20)) // memory takes everything
		_ = z.Close()
		b.throw(&packed, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") })
	}),
	opens("garbage", both, throwsText("\x00\x01GET / HTTP/1.1\r\n{{{{")),
	opens("half-a-frame", both, throwsText(`{"jsonrpc":"2.0","id":99,"method":"tools/ca`)),
	opens("empty-body", both, throwsText("")),
	edits("byte-order-mark", both, requests(func(r *http.Request) {
		if r.Body != nil {
			r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader("\ufeff"), r.Body)), -1
		}
	})),
	opens("utf-16", both, throwsText("{\x00\"\x00j\x00s\x00o\x00n\x00}\x00")),
	opens("deep-nesting", both, throwsText(strings.Repeat("[", 100000))),
	opens("batch", both, throwsText(
		`[{"jsonrpc":"2.0","id":90,"method":"ping"},{"jsonrpc":"2.0","id":91,"method":"tools/list"}]`)),
	edits("wrong-content-type", both, requests(func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	})),
	edits("accepts-nothing", both, requests(func(r *http.Request) {
		r.Header.Set("Accept", "text/html")
	})),
	opens("floods-frames", both, func(b *bad) {
		for i := range 2000 {
			if b.wire.Send(b.wire.Context, object{"jsonrpc": "2.0", "method": "notifications/noise",
				"params": object{"n": i}}) != nil {
				return
			}
		}
	}),
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
