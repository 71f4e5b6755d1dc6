package mutants

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
)

var timeEdits = edits{
	"waits-for-ever":    just(Edit{Options: unlimited}),
	"limits-the-header": just(Edit{Options: unlimited, Model: partly(false)}),
	"limits-silence":    just(Edit{Options: unlimited, Model: partly(true)}),
	"limits-attempts": just(Edit{Model: (*Wire).limited,
		Options: func(w *Wire, o *client.Options, m *model.Options) {
			unlimited(w, o, m)
			m.Retry = func(n int, err error) (time.Duration, bool) {
				return time.Second / 2, n < 6 && errors.Is(err, context.DeadlineExceeded)
			}
		}}),
	"hasty": just(Edit{
		Options: func(w *Wire, o *client.Options, _ *model.Options) {
			w.Fire()
			o.Timeout = w.limit() / 16
		}}),
	"keeps-partial": just(Edit{Options: unlimited, Model: func(w *Wire, next http.RoundTripper) http.RoundTripper {
		return replies(w.limited(next), func(body io.ReadCloser) io.ReadCloser {
			return &partial{Closer: body, w: w, lines: bufio.NewReader(body)}
		})
	}}),
	"blocks-pings": oneAtATime,
	"pongs-by-text": out(func(m *Message) {
		if m.Answers("ping") {
			m.Body["id"] = Key(m.Body["id"])
		}
	}),
	"token-as-text": progress(func(p object) {
		p["progressToken"] = fmt.Sprint(p["progressToken"])
	}),
	"progress-stands":  progress(set("progress", json.Number("1"))),
	"progress-goes-on": progressGoesOn,
	"one-token":        ownToken(func(any) any { return "progress" }),
	"fractional-token": ownToken(func(token any) any { return json.Number(fmt.Sprint(token) + ".5") }),
}

func (w *Wire) limit() time.Duration { return cmp.Or(w.Env.Timeout, harness.DefaultClientTimeout) }

// unlimited is a client without a time limit.
func unlimited(w *Wire, o *client.Options, _ *model.Options) {
	w.Fire()
	o.Timeout = -1
}

// limited limits each request to the model, to the end of the answer.
func (w *Wire) limited(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithTimeout(r.Context(), w.limit())
		resp, err := next.RoundTrip(r.WithContext(ctx))
		if err != nil {
			cancel()
			return nil, err
		}
		resp.Body = &cancelling{resp.Body, cancel}
		return resp, nil
	})
}

// cancelling is a body whose end cancels a context.
type cancelling struct {
	io.ReadCloser
	cancel func()
}

func (c *cancelling) Close() error {
	c.cancel()
	return c.ReadCloser.Close()
}

// partly limits the wait for the header of an answer and, if silence is true, for each of its pieces.
func partly(silence bool) func(*Wire, http.RoundTripper) http.RoundTripper {
	return func(w *Wire, next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			ctx, cancel := context.WithCancel(r.Context())
			timer := time.AfterFunc(w.limit(), cancel)
			resp, err := next.RoundTrip(r.WithContext(ctx))
			if err != nil || !silence {
				timer.Stop()
			}
			if err != nil {
				cancel()
				return nil, err
			}
			resp.Body = &piecemeal{cancelling{resp.Body, func() { timer.Stop(); cancel() }}, timer, w.limit(), silence}
			return resp, nil
		})
	}
}

// piecemeal is the body of such an answer.
type piecemeal struct {
	cancelling
	timer   *time.Timer
	limit   time.Duration
	silence bool
}

func (p *piecemeal) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if p.silence && err == nil {
		p.timer.Reset(p.limit)
	}
	return n, err
}

// replies edits the bodies of the model's successful replies.
func replies(next http.RoundTripper, edit func(body io.ReadCloser) io.ReadCloser) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err == nil && resp.StatusCode == http.StatusOK {
			resp.Body = edit(resp.Body)
			resp.ContentLength = -1
			resp.Header.Del("Content-Length")
		}
		return resp, err
	})
}

var saysSomething = regexp.MustCompile(`"content":"[^"]`)

// partial is a stream of chat completions that ends well when it fails and has said something.
type partial struct {
	io.Closer
	w     *Wire
	lines *bufio.Reader
	said  bool
	ready []byte
	err   error
}

func (p *partial) Read(b []byte) (int, error) {
	for len(p.ready) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		if p.ready, p.err = p.lines.ReadBytes('\n'); errors.Is(p.err, context.DeadlineExceeded) && p.said {
			p.w.Fire()
			p.ready, p.err = []byte(streamEnds[dialect.OpenAIChat].text), io.EOF // in place of a part of a line
		}
		p.said = p.said || saysSomething.Match(p.ready)
	}
	n := copy(b, p.ready)
	p.ready = p.ready[n:]
	return n, nil
}

// oneAtATime holds back requests of the server until the client has answered the one before.
func oneAtATime(w *Wire) Edit {
	turn := make(chan struct{}, 1)
	var mu sync.Mutex
	holder := ""
	release := func(id any) {
		mu.Lock()
		defer mu.Unlock()
		if holder == Key(id) {
			holder = ""
			<-turn
		}
	}
	return Edit{
		In: func(m *Message) {
			if m.Method() == methodCancelled {
				release(m.Params()["requestId"])
			}
			if !m.IsRequest() {
				return
			}
			select {
			case turn <- struct{}{}:
			default:
				w.Fire()
				select {
				case turn <- struct{}{}:
				case <-w.Context.Done():
					return
				}
			}
			mu.Lock()
			holder = Key(m.Body["id"])
			mu.Unlock()
		},
		Out: func(m *Message) {
			if m.IsResponse() {
				release(m.Body["id"])
			}
		},
	}
}

func progress(f func(params object)) func(*Wire) Edit {
	return out(func(m *Message) {
		if m.Method() == methodProgress {
			f(m.Params())
		}
	})
}

// progressGoesOn reports on the first request with a token again whenever one without comes.
func progressGoesOn(w *Wire) Edit {
	var mu sync.Mutex
	var latest object
	steps := 0
	return Edit{
		Out: func(m *Message) {
			mu.Lock()
			defer mu.Unlock()
			if m.Method() == methodProgress && (latest == nil || latest["progressToken"] == m.Params()["progressToken"]) {
				latest = copyOf(m.Params())
				steps++
			}
		},
		Asked: func(s *Sample) {
			mu.Lock()
			defer mu.Unlock()
			if latest == nil || member(s.Asked, "_meta")["progressToken"] != nil {
				return
			}
			steps++
			again := copyOf(latest)
			again["progress"] = steps
			w.Fire()
			w.work.Go(func() {
				_ = w.Send(w.Context, object{"jsonrpc": "2.0", "method": methodProgress, "params": again})
			})
		},
	}
}

func ownToken(f func(token any) any) func(*Wire) Edit {
	return out(func(m *Message) {
		if token := m.Meta()["progressToken"]; token != nil {
			m.Meta()["progressToken"] = f(token)
		}
	})
}
