package harness

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// ErrGiveUp is why the context of a call ends that is to be given up.
var ErrGiveUp = errors.New("the client was told to give up this call")

// Call begins a call of a tool and returns the context to make it in, and a function to call when it is over. Where the call is to be given up
// ([Env.GiveUp]) token is a progress token to call with, and the context ends, by [ErrGiveUp], as soon as the model begins to
// answer what it is asked through HTTP, or [Env.Progressed] says that there was progress. For any other call token is "". It is for
// clients in Go that make one call after the other.
func (e *Env) Call(ctx context.Context, tool string) (_ context.Context, token string, done func()) {
	if e.calls == nil || !slices.Contains(e.GiveUp, tool) {
		return ctx, "", func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	e.calls.set(cancel)
	return ctx, "call of " + tool, func() {
		e.calls.set(nil)
		cancel(nil)
	}
}

// Progressed says that a progress notification came. It may be called from any goroutine, and at any time.
func (e *Env) Progressed() {
	if e.calls != nil {
		e.calls.current()()
	}
}

// giveUps knows the call that is to be given up.
type giveUps struct {
	mu     sync.Mutex
	cancel context.CancelCauseFunc // nil while there is none
	began  int                     // how often there was one, or none again
}

func (c *giveUps) set(cancel context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	c.began++
}

// current returns what gives up the call that is under way now, as long as that is.
func (c *giveUps) current() (giveUp func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	began := c.began
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.cancel != nil && c.began == began {
			c.cancel(ErrGiveUp)
		}
	}
}

// watched has the environment see when the model begins to answer, where there is something to give up.
func (e *Env) watched() {
	if len(e.GiveUp) == 0 {
		return
	}
	e.calls = &giveUps{}
	to := e.HTTP.Transport
	if to == nil {
		to = http.DefaultTransport
	}
	client := *e.HTTP
	client.Transport = &watching{to, e.calls, e.Model}
	e.HTTP = &client
}

// watching is the network as a client sees it that has a call to give up.
type watching struct {
	to    http.RoundTripper
	calls *giveUps
	model map[string]string
}

// RoundTrip gives up the call that was under way when the model was asked. What is left of a sample for another has no bearing on it.
func (w *watching) RoundTrip(r *http.Request) (*http.Response, error) {
	giveUp := w.calls.current()
	resp, err := w.to.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	for _, base := range w.model {
		if strings.HasPrefix(r.URL.String(), base) {
			giveUp()
			break
		}
	}
	return resp, nil
}

// CloseIdleConnections closes those of the network.
func (w *watching) CloseIdleConnections() {
	if to, ok := w.to.(interface{ CloseIdleConnections() }); ok {
		to.CloseIdleConnections()
	}
}
