package tap

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// modelTransport sends requests to the model through next and records them with their responses.
type modelTransport struct {
	record func(trace.Event)
	next   http.RoundTripper
	count  atomic.Int64
}

func (t *modelTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set("Accept-Encoding", "identity")
	request := &trace.ModelRequest{Exchange: t.count.Add(1), Dialect: dialectOf(r.Method, r.URL), Method: r.Method,
		Path: r.URL.Path, Header: trace.SelectHeader(r.Header, nil)}
	request.SideRequest = request.Dialect == ""
	if r.Body != nil && r.Body != http.NoBody {
		raw, err := io.ReadAll(r.Body)
		if err = firstError(err, r.Body.Close()); err != nil {
			return nil, err
		}
		request.Body, out.Body = raw, io.NopCloser(bytes.NewReader(raw))
	}
	t.record(trace.Event{Request: request})
	end := &trace.ModelEnd{Exchange: request.Exchange}
	resp, err := t.next.RoundTrip(out)
	if err != nil {
		end.HungUp = r.Context().Err() != nil
		t.record(trace.Event{End: end})
		return nil, err
	}
	end.Status = resp.StatusCode
	end.Stream = sse.IsStream(resp.Header.Get("Content-Type"))
	resp.Body = &modelAnswer{body: resp.Body, record: t.record, end: end, left: resp.ContentLength}
	return resp, nil
}

// modelAnswer passes an answer on and records it piece by piece.
type modelAnswer struct {
	body   io.ReadCloser
	record func(trace.Event)
	end    *trace.ModelEnd // nil once it is recorded
	left   int64           // bytes to come; negative if unknown
}

func (a *modelAnswer) Read(b []byte) (int, error) {
	n, err := a.body.Read(b)
	if n > 0 && a.end != nil {
		a.record(trace.Event{Chunk: &trace.ModelChunk{Exchange: a.end.Exchange, Data: bytes.Clone(b[:n])}})
	}
	switch a.left -= int64(n); {
	case err != nil:
		a.ended(err)
	case a.left == 0:
		a.ended(io.EOF)
	}
	return n, err
}

// Close closes the answer. Before its end, the caller has hung up.
func (a *modelAnswer) Close() error {
	a.ended(io.ErrClosedPipe)
	return a.body.Close()
}

func (a *modelAnswer) ended(why error) {
	if a.end == nil {
		return
	}
	end := *a.end
	a.end = nil
	if !errors.Is(why, io.EOF) {
		end.HungUp = errors.Is(why, io.ErrClosedPipe)
		end.Closed = !end.HungUp
	}
	a.record(trace.Event{End: &end})
}

// dialectOf returns the dialect of requests to an address; "" for an address that asks no model.
func dialectOf(method string, u *url.URL) string {
	if method != http.MethodPost {
		return ""
	}
	facts := dialects.Facts()
	for _, name := range dialects.Names() {
		f := facts[name]
		if f.Compatible != "" {
			continue
		}
		if f.Detail != nil {
			if _, ok := f.Detail(u); ok {
				return name
			}
		} else if strings.HasSuffix(u.Path, f.Path) {
			return name
		}
	}
	return ""
}
