package harness

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// ErrAbandon is the cause with which the context of an abandoned call ends.
var ErrAbandon = errors.New("the harness asked the client to abandon this call")

// Call begins a call of a tool. It returns the context of the call, and a function to call at its end. If the call is
// to be abandoned ([Env.Abandon]), token is its progress token, and the context ends with [ErrAbandon] when the model
// begins to answer over HTTP, or [Env.Progressed] is called. Else token is "". It is for clients that make one call at
// a time.
func (e *Env) Call(ctx context.Context, tool string) (_ context.Context, token string, done func()) {
	if e.calls == nil || !slices.Contains(e.Abandon, e.ownName(tool)) {
		return ctx, "", func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	e.calls.set(cancel)
	return ctx, "call of " + tool, func() {
		e.calls.set(nil)
		cancel(nil)
	}
}

// Progressed says that a progress notification arrived. It is safe for concurrent use, at any time.
func (e *Env) Progressed() {
	if e.calls != nil {
		e.calls.current()()
	}
}

// abandonable holds the current call, if it is to be abandoned.
type abandonable struct {
	mu     sync.Mutex
	cancel context.CancelCauseFunc // nil without such a call
	number int                     // counts the changes of cancel
}

func (c *abandonable) set(cancel context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	c.number++
}

// current returns a function that abandons the current call, and no later one.
func (c *abandonable) current() (abandon func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	number := c.number
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.cancel != nil && c.number == number {
			c.cancel(ErrAbandon)
		}
	}
}

// watchModel makes HTTP notice when the model begins to answer, if a call is to be abandoned.
func (e *Env) watchModel() {
	if len(e.Abandon) == 0 {
		return
	}
	e.calls = &abandonable{}
	next := e.HTTP.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	client := *e.HTTP
	client.Transport = &modelWatch{next, e.calls, e.Model}
	e.HTTP = &client
}

type modelWatch struct {
	next  http.RoundTripper
	calls *abandonable
	model map[string]string
}

// RoundTrip abandons the call during which the model was asked, not one that began later.
func (w *modelWatch) RoundTrip(r *http.Request) (*http.Response, error) {
	abandon := w.calls.current()
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	for _, base := range w.model {
		if strings.HasPrefix(r.URL.String(), base) {
			abandon()
			break
		}
	}
	return resp, nil
}

func (w *modelWatch) CloseIdleConnections() {
	if next, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}
