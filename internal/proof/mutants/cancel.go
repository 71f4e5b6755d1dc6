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

var cancelEdits = edits{
	"ignores-cancel": onCancel(func(_ *Wire, m *Message) { m.Drop() }),
	"works-on-cancelled": func(*Wire) Edit {
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
	},
	"answers-cancelled": onCancel(func(w *Wire, m *Message) {
		if seen, answered := w.Seen(m.Params()["requestId"]); seen && !answered {
			w.sendError(m.Params()["requestId"], codeInternal)
		}
	}),
	"cancels-all": onCancel(func(w *Wire, m *Message) {
		for _, id := range w.Running() {
			m.Before(cancels(id))
		}
	}),
	"cancels-by-digits": onCancel(func(w *Wire, m *Message) {
		for _, id := range w.Running() {
			if m.Params()["requestId"] == Key(id) {
				m.Before(cancels(id))
			}
		}
	}),
	"refuses-strange-cancel": onCancel(func(w *Wire, m *Message) {
		if seen, _ := w.Seen(m.Params()["requestId"]); !seen && isID(m.Params()["requestId"]) {
			w.sendError(m.Params()["requestId"], codeInvalidParams)
		}
	}),
	"refuses-late-cancel": onCancel(func(w *Wire, m *Message) {
		if _, answered := w.Seen(m.Params()["requestId"]); answered {
			w.sendError(m.Params()["requestId"], codeInvalidParams)
		}
	}),
	"dies-of-strange-cancel": diesAfter(func(w *Wire, id any) bool {
		seen, _ := w.Seen(id)
		return !seen && isID(id)
	}),
	"dies-of-bad-cancel": diesAfter(func(_ *Wire, id any) bool { return !isID(id) }),
	"tainted-by-cancel": func(*Wire) Edit {
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
	},
	"gives-up-silently":             ownCancel((*Message).Drop),
	"gives-up-silently-on-the-pipe": ownCancel((*Message).Drop),
	"cancels-by-text":               ownCancel(idAsText),
	"cancels-by-text-on-the-pipe":   ownCancel(idAsText),
	"cancels-twice":                 ownCancel(func(m *Message) { m.After(copyOf(m.Body)) }),
	"cancels-what-it-answers": out(func(m *Message) {
		if m.AnswersSample() {
			m.Before(cancels(m.Body["id"]))
		}
	}),
	"cancels-what-is-over": func(*Wire) Edit {
		var last atomic.Value
		return Edit{Out: func(m *Message) {
			if m.Method() != "tools/call" {
				return
			}
			if id := last.Swap(m.Body["id"]); id != nil {
				m.Before(cancels(id))
			}
		}}
	},
	"leaves-model-running": just(Edit{Model: (*Wire).detached}),
	"cancels-ended": onAbandoned(func(w *Wire, c *Call) {
		_ = w.Send(w.Context, cancels(c.last)) // nothing depends on it
	}),
	"retries-given-up": onAbandoned(func(w *Wire, c *Call) {
		retry := copyOf(c.Params)
		retry["inputResponses"] = object{}
		if state := c.States[len(c.States)-1]; state != nil {
			retry[c.stateMember()] = *state
		}
		w.Request(c.Method, retry)
	}),
	"dies-of-late-response": in(func(m *Message) {
		if m.IsResponse() && m.Request == nil {
			m.Wire.Die("a response that nobody waits for")
		}
	}),
}

func onCancel(f func(w *Wire, m *Message)) func(*Wire) Edit {
	return in(func(m *Message) {
		if m.Method() == methodCancelled {
			f(m.Wire, m)
		}
	})
}

// diesAfter closes the connection after a cancellation of some ids: at the next sampling request, so that the order of
// events is always the same.
func diesAfter(bad func(w *Wire, id any) bool) func(*Wire) Edit {
	return func(w *Wire) Edit {
		var doomed atomic.Bool
		return Edit{
			In: func(m *Message) {
				if m.Method() == methodCancelled && bad(w, m.Params()["requestId"]) {
					doomed.Store(true)
				}
			},
			Asked: func(s *Sample) {
				if doomed.Load() {
					s.Withhold()
					w.Die("a cancellation")
				}
			},
		}
	}
}

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
			if c := w.Call(); o.Ended == harness.Abandoned && c != nil && c.asks {
				w.Fire()
				f(w, c)
			}
		}}
	}
}

func cancels(id any) object {
	return object{"jsonrpc": "2.0", "method": methodCancelled, "params": object{"requestId": id}}
}

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
