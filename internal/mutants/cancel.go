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

var cancelMutants = chapter("cancel",
	m("ignores-cancel", "ignores a cancellation and responds anyway", "stops-work no-answer",
		onCancel(func(_ *Wire, m *Message) { m.Drop() }), wire, legacy),
	m("works-on-cancelled", "sends no response after a cancellation, but keeps the model working", "stops-work",
		func(*Wire) Edit {
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
		}, wire, legacy),
	m("answers-cancelled", "stops the model after a cancellation and responds with an error", "no-answer",
		onCancel(func(w *Wire, m *Message) {
			if seen, answered := w.Seen(m.Params()["requestId"]); seen && !answered {
				w.sendError(m.Params()["requestId"], codeInternal)
			}
		}), wire, legacy),
	m("cancels-all", "cancels every running request, whichever the cancellation names",
		"unknown-id finished-id malformed-cancel", onCancel(func(w *Wire, m *Message) {
			for _, id := range w.Running() {
				m.Before(cancels(id))
			}
		}), wire, legacy),
	m("refuses-strange-cancel", "responds with an error to the cancellation of a request that it never got",
		"cancel-not-answered | basic/answers-once basic/id-echoed", onCancel(func(w *Wire, m *Message) {
			if seen, _ := w.Seen(m.Params()["requestId"]); !seen && isID(m.Params()["requestId"]) {
				w.sendError(m.Params()["requestId"], codeInvalidParams)
			}
		}), wire, legacy),
	m("refuses-late-cancel", "responds again to a request that is cancelled after the response",
		"cancel-not-answered | race", onCancel(func(w *Wire, m *Message) {
			if _, answered := w.Seen(m.Params()["requestId"]); answered {
				w.sendError(m.Params()["requestId"], codeInvalidParams)
			}
		}), wire, legacy),
	m("dies-of-strange-cancel", "closes its connection after the cancellation of a request that it never got",
		"unknown-id client/ends-cleanly", onCancel(func(w *Wire, m *Message) {
			if seen, _ := w.Seen(m.Params()["requestId"]); !seen && isID(m.Params()["requestId"]) {
				w.Die("a cancellation of an unknown request")
			}
		}), wire, legacy),
	m("dies-of-bad-cancel", "closes its connection after a malformed cancellation",
		"malformed-cancel client/ends-cleanly", onCancel(func(w *Wire, m *Message) {
			if !isID(m.Params()["requestId"]) {
				w.Die("a malformed cancellation")
			}
		}), wire, legacy),
	m("tainted-by-cancel", "responds with an error to the request after a cancellation",
		"race | unknown-id finished-id malformed-cancel", func(*Wire) Edit {
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
		}, wire, legacy),
	m("gives-up-silently", "abandons a call without cancelling it", "caller-cancels call-cancelled",
		ownCancel((*Message).Drop), wire, legacy),
	m("gives-up-silently-on-the-pipe", "abandons a call over stdio without cancelling it", "call-cancelled",
		ownCancel((*Message).Drop), stdio, wire, modern),
	m("cancels-by-text", "cancels a request with its id as a string", "names-own | caller-cancels call-cancelled",
		ownCancel(idAsText), wire, legacy),
	m("cancels-by-text-on-the-pipe", "cancels a request over stdio with its id as a string",
		"names-own | call-cancelled", ownCancel(idAsText), stdio, wire, modern),
	m("leaves-model-running", "keeps the model working for a call that was abandoned",
		"model-ends | stops-work tasks/work-stops", just(Edit{Model: (*Wire).detached}), wire),
	m("cancels-ended", "cancels a call whose request has ended with a request for input", "ended-call",
		onAbandoned(func(w *Wire, c *Call) {
			_ = w.Send(w.Context, cancels(c.last)) // nothing depends on it
		}), wire, modern),
	m("retries-given-up", "retries a call that was abandoned", "no-retry", onAbandoned(func(w *Wire, c *Call) {
		retry := copyOf(c.Params)
		retry["inputResponses"] = object{}
		if state := c.States[len(c.States)-1]; state != nil {
			retry["requestState"] = *state
		}
		w.Request(c.Method, retry)
	}), wire, modern),
	m("dies-of-late-response", "closes its connection after a response that it does not wait for",
		"late-response client/ends-cleanly", in(func(m *Message) {
			if m.IsResponse() && m.Request == nil {
				m.Wire.Die("a response that nobody waits for")
			}
		}), stdio, wire),
)

// onCancel handles the server's cancellations.
func onCancel(f func(w *Wire, m *Message)) func(*Wire) Edit {
	return in(func(m *Message) {
		if m.Method() == methodCancelled {
			f(m.Wire, m)
		}
	})
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
	m.Body["params"] = object{"requestId": Key(m.Params()["requestId"])}
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

func cancels(id any) object {
	return object{"jsonrpc": "2.0", "method": methodCancelled, "params": object{"requestId": id}}
}

// sendError sends an error response of the wire's own.
func (w *Wire) sendError(id any, code int) {
	w.respond(id, "error", object{"code": code, "message": "broken on purpose"})
}

// respond sends a response of the wire's own, beside what comes in.
func (w *Wire) respond(id any, member string, value any) {
	w.Fire()
	w.work.Go(func() {
		_ = w.Send(w.Context, object{"jsonrpc": "2.0", "id": id, member: value})
	})
}

// isID reports whether a value can be the id of a request.
func isID(id any) bool {
	switch id.(type) {
	case nil, bool, object, []any:
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
