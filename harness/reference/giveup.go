package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/mcp-conform/mcp-conform/harness"
)

// errToldTo is why a call ends that the client was told to give up.
var errToldTo = fmt.Errorf("%w: %w", errGivenUp, harness.ErrGiveUp)

// begin makes a request the one that is under way, and returns its context and what ends it. Calls of tools have a progress token of the
// client's own, whether they are to be given up or not.
func (m *model) begin(ctx context.Context, method string, params map[string]any) (context.Context, func()) {
	if method != "tools/call" {
		return ctx, func() {}
	}
	ctx, _, done := m.env.Call(ctx, text(params, "name"))
	before := m.under(ctx)
	return ctx, func() {
		m.under(before)
		done()
	}
}

// under sets the context of the call that is under way, and returns that of the one before.
func (m *model) under(ctx context.Context) context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.call
	m.call = ctx
	return before
}

// isGivenUp reports whether the context is that of a call which was given up.
func isGivenUp(ctx context.Context) bool { return errors.Is(context.Cause(ctx), harness.ErrGiveUp) }

// noted takes note of a notification.
func (m *model) noted(n *message) {
	if n.Method == "notifications/progress" {
		m.env.Progressed()
	}
}

// within is a context for the answer to a sample: it ends with the call that is under way, too.
func (m *model) within(ctx context.Context) (context.Context, func()) {
	m.mu.Lock()
	call := m.call
	m.mu.Unlock()
	switch {
	case m.config.broken.leavesModelRunning:
		return context.WithoutCancel(ctx), func() {}
	case call == nil:
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	unbind := context.AfterFunc(call, cancel)
	return ctx, func() {
		unbind()
		cancel()
	}
}

// cancels is the notification by which a client gives up a request.
func (m *model) cancels(id any) map[string]any {
	if m.config.broken.cancelsByText {
		return map[string]any{"jsonrpc": "2.0", "method": methodCancelled, "params": map[string]any{"requestId": fmt.Sprint(id)}}
	}
	return map[string]any{"jsonrpc": "2.0", "method": methodCancelled, "params": map[string]any{"requestId": id, "reason": "given up"}}
}

// givesUp gives up a call that has come back for input: the request is over, so that there is nothing to cancel, and no other one is due.
func (m *modern) givesUp(ctx context.Context, method string, retry map[string]any) (json.RawMessage, error) {
	broken := &m.model.config.broken
	if broken.cancelsEnded {
		if err := m.notify(ctx, m.model.cancels(m.lastID.Load())); err != nil {
			return nil, err
		}
	}
	if broken.retriesGivenUp {
		retry["inputResponses"] = map[string]any{}
		return m.once(ctx, method, retry)
	}
	return nil, errToldTo
}

// notify sends a notification.
func (m *modern) notify(ctx context.Context, n map[string]any) error {
	if m.pipe != nil {
		return m.pipe.send(n)
	}
	resp, err := post(ctx, m.env.HTTP, m.env.URL, http.Header{"Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {string(m.env.Revision)}, "Mcp-Method": {methodCancelled}}, marshal(n))
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
