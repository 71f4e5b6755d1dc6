package mutants

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/harness"
)

var cancelMutants = []Mutant{
	{Name: "ignores-cancel", Doc: "ignores a cancellation and responds anyway",
		Kills: []string{"cancel/stops-work", "cancel/no-answer"}, Wire: true, Era: "legacy",
		edit: onCancel(func(_ *Wire, m *Message) { m.Drop() })},
	{Name: "works-on-cancelled", Doc: "sends no response after a cancellation, but keeps the model working",
		Kills: []string{"cancel/stops-work"}, Wire: true, Era: "legacy", edit: func(*Wire) Edit {
			var cancelled sync.Map // by Key
			return Edit{
				In: func(m *Message) {
					if m.Method() == methodCancelled {
						cancelled.Store(Key(m.Params()["requestId"]), true)
						m.Drop()
					}
				},
				Out: func(m *Message) {
					if _, was := cancelled.Load(Key(m.Body["id"])); was && m.AnswersSample() {
						m.Drop()
					}
				},
			}
		}},
	{Name: "answers-cancelled", Doc: "stops the model after a cancellation and responds with an error",
		Kills: []string{"cancel/no-answer"}, Wire: true, Era: "legacy", edit: onCancel(func(w *Wire, m *Message) {
			if seen, answered := w.Seen(m.Params()["requestId"]); seen && !answered {
				w.sendError(m.Params()["requestId"], codeInternal)
			}
		})},
	{Name: "cancels-all", Doc: "cancels every running request, whichever the cancellation names",
		Kills: []string{"cancel/unknown-id", "cancel/finished-id", "cancel/malformed-cancel"}, Wire: true, Era: "legacy",
		edit: onCancel(func(w *Wire, m *Message) {
			for _, id := range w.Running() {
				m.Before(cancels(id))
			}
		})},
	{Name: "refuses-strange-cancel", Doc: "responds with an error to the cancellation of a request that it never got",
		Kills: []string{"cancel/cancel-not-answered"}, Also: []string{"basic/answers-once", "basic/id-echoed"},
		Wire: true, Era: "legacy", edit: onCancel(func(w *Wire, m *Message) {
			if seen, _ := w.Seen(m.Params()["requestId"]); !seen && isID(m.Params()["requestId"]) {
				w.sendError(m.Params()["requestId"], codeInvalidParams)
			}
		})},
	{Name: "refuses-late-cancel", Doc: "responds again to a request that is cancelled after the response",
		Kills: []string{"cancel/cancel-not-answered"}, Also: []string{"cancel/race"}, Wire: true, Era: "legacy",
		edit: onCancel(func(w *Wire, m *Message) {
			if _, answered := w.Seen(m.Params()["requestId"]); answered {
				w.sendError(m.Params()["requestId"], codeInvalidParams)
			}
		})},
	{Name: "dies-of-strange-cancel", Doc: "closes its connection after the cancellation of a request that it never got",
		Kills: []string{"cancel/unknown-id", "client/ends-cleanly"}, Wire: true, Era: "legacy",
		edit: onCancel(func(w *Wire, m *Message) {
			if seen, _ := w.Seen(m.Params()["requestId"]); !seen && isID(m.Params()["requestId"]) {
				w.Die("a cancellation of an unknown request")
			}
		})},
	{Name: "dies-of-bad-cancel", Doc: "closes its connection after a malformed cancellation",
		Kills: []string{"cancel/malformed-cancel", "client/ends-cleanly"}, Wire: true, Era: "legacy",
		edit: onCancel(func(w *Wire, m *Message) {
			if !isID(m.Params()["requestId"]) {
				w.Die("a malformed cancellation")
			}
		})},
	{Name: "tainted-by-cancel", Doc: "responds with an error to the request after a cancellation",
		Kills: []string{"cancel/race"}, Also: []string{"cancel/unknown-id", "cancel/finished-id", "cancel/malformed-cancel"},
		Wire: true, Era: "legacy", edit: func(*Wire) Edit {
			var tainted atomic.Bool
			return Edit{
				In: func(m *Message) {
					if m.Method() == methodCancelled {
						tainted.Store(true)
					}
				},
				Answered: func(s *Sample) {
					if tainted.Swap(false) {
						s.Refuse(codeInternal, "broken on purpose: cancelled")
					}
				},
			}
		}},
	{Name: "gives-up-silently", Doc: "abandons a call without cancelling it",
		Kills: []string{"cancel/caller-cancels", "cancel/call-cancelled"}, Wire: true, Era: "legacy",
		edit: ownCancel((*Message).Drop)},
	{Name: "gives-up-silently-on-the-pipe", Doc: "abandons a call over stdio without cancelling it",
		Kills: []string{"cancel/call-cancelled"}, Stdio: true, Wire: true, Era: "modern", edit: ownCancel((*Message).Drop)},
	{Name: "cancels-by-text", Doc: "cancels a request with its id as a string", Kills: []string{"cancel/names-own"},
		Also: []string{"cancel/caller-cancels", "cancel/call-cancelled"}, Wire: true, Era: "legacy",
		edit: ownCancel(idAsText)},
	{Name: "cancels-by-text-on-the-pipe", Doc: "cancels a request over stdio with its id as a string",
		Kills: []string{"cancel/names-own"}, Also: []string{"cancel/call-cancelled"}, Stdio: true, Wire: true,
		Era: "modern", edit: ownCancel(idAsText)},
	{Name: "leaves-model-running", Doc: "keeps the model working for a call that was abandoned",
		Kills: []string{"cancel/model-ends"}, Also: []string{"cancel/stops-work", "tasks/work-stops"}, Wire: true,
		edit: func(w *Wire) Edit { return Edit{Model: w.detached} }},
	{Name: "cancels-ended", Doc: "cancels a call whose request has ended with a request for input",
		Kills: []string{"cancel/ended-call"}, Wire: true, Era: "modern", edit: onAbandoned(func(w *Wire, c *Call) {
			_ = w.Send(w.Context, cancels(c.last)) // nothing depends on it
		})},
	{Name: "retries-given-up", Doc: "retries a call that was abandoned", Kills: []string{"cancel/no-retry"},
		Wire: true, Era: "modern", edit: onAbandoned(func(w *Wire, c *Call) {
			retry := copyOf(c.Params)
			retry["inputResponses"] = map[string]any{}
			if state := c.States[len(c.States)-1]; state != nil {
				retry["requestState"] = *state
			}
			w.Request(c.Method, retry)
		})},
	{Name: "dies-of-late-response", Doc: "closes its connection after a response that it does not wait for",
		Kills: []string{"cancel/late-response", "client/ends-cleanly"}, Stdio: true, Wire: true,
		edit: func(w *Wire) Edit {
			return Edit{In: func(m *Message) {
				if m.IsResponse() && m.Request == nil {
					w.Die("a response that nobody waits for")
				}
			}}
		}},
}

// onCancel handles the server's cancellations.
func onCancel(f func(w *Wire, m *Message)) func(*Wire) Edit {
	return func(w *Wire) Edit {
		return Edit{In: func(m *Message) {
			if m.Method() == methodCancelled {
				f(w, m)
			}
		}}
	}
}

// ownCancel edits the client's cancellations.
func ownCancel(f func(m *Message)) func(*Wire) Edit {
	return out(func(m *Message) {
		if m.Method() == methodCancelled {
			f(m)
		}
	})
}

func idAsText(m *Message) {
	m.Body["params"] = map[string]any{"requestId": Key(m.Params()["requestId"])}
}

// onAbandoned runs after a call of the modern era was abandoned while the client made the input for it.
func onAbandoned(f func(w *Wire, c *Call)) func(*Wire) Edit {
	return func(w *Wire) Edit {
		return Edit{Ended: func(o *harness.Outcome) {
			if c := w.Call(); o.Ended == harness.GaveUp && c != nil && c.asks {
				w.Fire()
				f(w, c)
			}
		}}
	}
}

func cancels(id any) map[string]any {
	return map[string]any{"jsonrpc": "2.0", "method": methodCancelled, "params": map[string]any{"requestId": id}}
}

// sendError sends an error response of the wire's own.
func (w *Wire) sendError(id any, code int) {
	w.respond(id, "error", map[string]any{"code": code, "message": "broken on purpose"})
}

// respond sends a response of the wire's own, beside what comes in.
func (w *Wire) respond(id any, member string, value any) {
	w.Fire()
	w.work.Go(func() {
		_ = w.Send(w.Context, map[string]any{"jsonrpc": "2.0", "id": id, member: value})
	})
}

// isID reports whether a value can be the id of a request.
func isID(id any) bool {
	switch id.(type) {
	case nil, bool, map[string]any, []any:
		return false
	}
	return true
}

// detached asks the model as a client that does not notice that the answer is no longer wanted.
func (w *Wire) detached(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		type answer struct {
			resp *http.Response
			err  error
		}
		asked := make(chan answer, 1)
		w.work.Go(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), w.limit())
			defer cancel()
			resp, err := next.RoundTrip(r.WithContext(ctx))
			if err != nil {
				asked <- answer{nil, err}
				return
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			resp.Body = io.NopCloser(bytes.NewReader(body))
			if err != nil {
				resp = nil
			}
			asked <- answer{resp, err}
		})
		select {
		case a := <-asked:
			return a.resp, a.err
		case <-r.Context().Done():
			w.Fire()
			return nil, r.Context().Err()
		}
	})
}
