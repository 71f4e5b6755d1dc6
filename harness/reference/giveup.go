package reference

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/mcp-conform/mcp-conform/harness"
)

// errToldTo is why a call ends that the client was told to give up.
var errToldTo = fmt.Errorf("%w: %w", errGivenUp, harness.ErrGiveUp)

// begin makes a request the one that is under way, and returns its context and what ends it. A call of a tool that is to be given up
// gets a progress token.
func (m *model) begin(ctx context.Context, method string, params map[string]any) (context.Context, map[string]any, func()) {
	if method != "tools/call" {
		return ctx, params, func() {}
	}
	name, _ := params["name"].(string)
	ctx, token, done := m.env.Call(ctx, name)
	if token != "" {
		params = maps.Clone(params)
		params["_meta"] = map[string]any{"progressToken": token}
	}
	before := m.under(ctx)
	return ctx, params, func() {
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
func (m *model) cancels(id int64) map[string]any {
	if m.config.broken.cancelsByText {
		return map[string]any{"jsonrpc": "2.0", "method": methodCancelled, "params": map[string]any{"requestId": fmt.Sprint(id)}}
	}
	return map[string]any{"jsonrpc": "2.0", "method": methodCancelled, "params": map[string]any{"requestId": id, "reason": "given up"}}
}
