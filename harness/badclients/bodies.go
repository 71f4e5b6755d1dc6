package badclients

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// bodies are clients whose request bodies are not what they should be. Each sends one such request once it is connected, and then goes
// on as if nothing had happened, or as its body lets it.
var bodies = []Client{
	{Name: "huge-body", Doc: "posts a body of 1 GB", opened: func(w *wire) { w.throw(io.LimitReader(endless("x"), 1<<30), nil) }},
	{Name: "huge-answer", Doc: "answers a sample with a text of 200 MB", asked: func(w *wire, s *sample) {
		w.give(s, dialect.Marshal(object{"role": "assistant", "model": "m", "content": object{"type": "text", "text": strings.Repeat("x", 200<<20)}}))
	}},
	{Name: "chunked-without-end", Doc: "posts chunks for ever", opened: func(w *wire) { w.throw(endless(" "), nil) }},
	{Name: "gzip-bomb", Doc: "posts a small body that unpacks to a large one", opened: func(w *wire) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = io.Copy(z, io.LimitReader(endless("x"), 64<<20)) // memory takes everything
		_ = z.Close()
		w.throw(&packed, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") })
	}},
	{Name: "garbage", Doc: "posts what is no JSON", opened: func(w *wire) { w.throw(strings.NewReader("\x00\x01GET / HTTP/1.1\r\n{{{{"), nil) }},
	{Name: "half-a-frame", Doc: "posts the first half of a message", opened: func(w *wire) {
		w.throw(strings.NewReader(`{"jsonrpc":"2.0","id":99,"method":"tools/ca`), nil)
	}},
	{Name: "empty-body", Doc: "posts nothing", opened: func(w *wire) { w.throw(strings.NewReader(""), nil) }},
	{Name: "byte-order-mark", Doc: "begins each body with a byte order mark", wire: func(w *wire) {
		w.change = func(r *http.Request) {
			if r.Body != nil {
				r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader("\ufeff"), r.Body)), -1
			}
		}
	}},
	{Name: "utf-16", Doc: "posts a message in UTF-16", opened: func(w *wire) {
		w.throw(strings.NewReader("{\x00\"\x00j\x00s\x00o\x00n\x00}\x00"), nil)
	}},
	{Name: "deep-nesting", Doc: "posts a hundred thousand brackets", opened: func(w *wire) { w.throw(strings.NewReader(strings.Repeat("[", 100000)), nil) }},
	{Name: "batch", Doc: "posts two messages in an array", opened: func(w *wire) {
		w.throw(strings.NewReader(`[{"jsonrpc":"2.0","id":90,"method":"ping"},{"jsonrpc":"2.0","id":91,"method":"tools/list"}]`), nil)
	}},
	{Name: "wrong-content-type", Doc: "posts its messages as a form", wire: func(w *wire) {
		w.change = func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }
	}},
	{Name: "accepts-nothing", Doc: "accepts only HTML", wire: func(w *wire) { w.change = func(r *http.Request) { r.Header.Set("Accept", "text/html") } }},
	{Name: "floods-frames", Doc: "posts two thousand notifications that nobody knows", opened: func(w *wire) {
		for i := range 2000 {
			if w.notify(object{"jsonrpc": "2.0", "method": "notifications/noise", "params": object{"n": i}}) != nil {
				return
			}
		}
	}},
}

// throw posts a body and reads what comes of it.
func (w *wire) throw(body io.Reader, change func(*http.Request)) {
	r := w.build(http.MethodPost, "tools/call", "thrown", body)
	if change != nil {
		change(r)
	}
	resp, err := w.http.Do(r)
	if err != nil {
		fmt.Println("thrown:", err)
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // whatever it is
}

// endless is a text without an end.
type endless string

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e[0]
	}
	return len(p), nil
}
