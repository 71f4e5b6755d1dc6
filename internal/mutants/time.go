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

// allStalls are the checks of the client's time limit.
var allStalls = []string{"time/model-stalls", "time/stream-stalls", "time/total-limit"}

var timeMutants = []Mutant{
	{Name: "waits-for-ever", Doc: "has no time limit for the model", Kills: allStalls,
		edit: func(w *Wire) Edit { return Edit{Options: w.unlimited} }},
	{Name: "limits-the-header", Doc: "limits the wait for the header of the model's answer, but not for its body",
		Kills: []string{"time/stream-stalls", "time/total-limit"},
		edit:  func(w *Wire) Edit { return Edit{Options: w.unlimited, Model: w.partly(false)} }},
	{Name: "limits-silence", Doc: "restarts the time limit with each piece of the model's answer",
		Kills: []string{"time/total-limit"},
		edit:  func(w *Wire) Edit { return Edit{Options: w.unlimited, Model: w.partly(true)} }},
	{Name: "limits-attempts", Doc: "gives each of six attempts the whole time limit", Kills: allStalls,
		edit: func(w *Wire) Edit {
			return Edit{Model: w.limited, Options: func(o *client.Options, m *model.Options) {
				w.unlimited(o, m)
				m.Retry = func(n int, err error) (time.Duration, bool) {
					return time.Second / 2, n < 6 && errors.Is(err, context.DeadlineExceeded)
				}
			}}
		}},
	{Name: "hasty", Doc: "abandons a stream that is alive", Kills: []string{"time/model-slow"},
		edit: func(w *Wire) Edit {
			return Edit{Options: func(o *client.Options, _ *model.Options) {
				w.Fire()
				o.Timeout = w.limit() / 16
			}}
		}},
	{Name: "keeps-partial", Doc: "returns what it has when the model falls silent", Kills: []string{"time/stream-stalls"},
		Also:     []string{"time/total-limit", "time/model-slow"}, // the latter on a machine that is too busy
		Dialects: chatOnly, Streamed: true, edit: func(w *Wire) Edit {
			return Edit{Options: w.unlimited, Model: func(next http.RoundTripper) http.RoundTripper {
				return replies(w.limited(next), func(body io.ReadCloser) io.ReadCloser {
					return &partial{Closer: body, w: w, lines: bufio.NewReader(body)}
				})
			}}
		}},
	{Name: "blocks-pings", Doc: "responds to one request of the server at a time, pings too",
		Kills: []string{"time/alive-while-sampling"}, Era: "legacy", Wire: true, edit: oneAtATime},
	{Name: "pongs-by-text", Doc: "responds to a ping with its id as a string",
		Kills: []string{"time/alive-while-sampling"}, Era: "legacy", Wire: true, edit: out(func(m *Message) {
			if m.Answers("ping") {
				m.Body["id"] = Key(m.Body["id"])
			}
		})},
	{Name: "token-as-text", Doc: "reports progress with a number token as a string",
		Kills: []string{"time/progress-token"}, Era: "legacy", Wire: true, edit: progress(func(p map[string]any) {
			p["progressToken"] = fmt.Sprint(p["progressToken"])
		})},
	{Name: "progress-stands", Doc: "reports the same progress each time", Kills: []string{"time/progress-rises"},
		Era: "legacy", Wire: true, edit: progress(func(p map[string]any) { p["progress"] = json.Number("1") })},
	{Name: "progress-goes-on", Doc: "reports progress on a request that it answered long ago",
		Kills: []string{"time/progress-ends"}, Era: "legacy", Wire: true, edit: progressGoesOn},
	{Name: "one-token", Doc: "uses one progress token for all of its requests", Kills: []string{"time/token-unique"},
		Era: "legacy", Wire: true, edit: ownToken(func(any) any { return "progress" })},
	{Name: "fractional-token", Doc: "uses fractions as progress tokens", Kills: []string{"time/token-shape"}, Wire: true,
		edit: ownToken(func(token any) any { return json.Number(fmt.Sprint(token) + ".5") })},
}

// limit is the client's time limit for the model.
func (w *Wire) limit() time.Duration { return cmp.Or(w.Env.Timeout, harness.DefaultClientTimeout) }

// unlimited is a client without a time limit.
func (w *Wire) unlimited(o *client.Options, _ *model.Options) {
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
func (w *Wire) partly(silence bool) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
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

// progress edits the progress that the client reports.
func progress(f func(params map[string]any)) func(*Wire) Edit {
	return out(func(m *Message) {
		if m.Method() == methodProgress {
			f(m.Params())
		}
	})
}

// progressGoesOn reports on the first request with a token again whenever one without comes.
func progressGoesOn(w *Wire) Edit {
	var mu sync.Mutex
	var latest map[string]any
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
				_ = w.Send(w.Context, map[string]any{"jsonrpc": "2.0", "method": methodProgress, "params": again})
			})
		},
	}
}

// ownToken edits the progress tokens of the client's requests.
func ownToken(f func(token any) any) func(*Wire) Edit {
	return out(func(m *Message) {
		if token := m.Meta()["progressToken"]; token != nil {
			m.Meta()["progressToken"] = f(token)
		}
	})
}
