package reference

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http/httptrace"
	"slices"
)

// errToldTo is why a call ends that the client was told to give up.
var errToldTo = fmt.Errorf("%w, as the client was told", errGivenUp)

// calling is a call of a tool. Calls are made one after the other.
type calling struct {
	ctx    context.Context
	giveUp context.CancelCauseFunc // nil for one that is not to be given up
}

// begin makes a request the one that is under way, and returns its context and what ends it. A call of a tool that is to be given up
// gets a progress token.
func (m *model) begin(ctx context.Context, method string, params map[string]any) (context.Context, map[string]any, func()) {
	if method != "tools/call" {
		return ctx, params, func() {}
	}
	call := &calling{ctx: ctx}
	name, _ := params["name"].(string)
	if slices.Contains(m.env.GiveUp, name) {
		call.ctx, call.giveUp = context.WithCancelCause(ctx)
		params = maps.Clone(params)
		params["_meta"] = map[string]any{"progressToken": "call of " + name}
	}
	m.mu.Lock()
	before := m.calling
	m.calling = call
	m.mu.Unlock()
	return call.ctx, params, func() {
		m.mu.Lock()
		m.calling = before
		m.mu.Unlock()
		if call.giveUp != nil {
			call.giveUp(nil)
		}
	}
}

// isGivenUp reports whether the context is that of a call which was given up.
func isGivenUp(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errToldTo) }

func (m *model) current() *calling {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calling
}

// noted takes note of a notification: one of progress is when a call is given up.
func (m *model) noted(n *message) {
	if call := m.current(); n.Method == "notifications/progress" && call != nil && call.giveUp != nil {
		call.giveUp(errToldTo)
	}
}

// within is a context for the answer to a sample: it ends with the call that is under way, which is given up, where that is to be, as soon as
// the model begins to answer.
func (m *model) within(ctx context.Context) (context.Context, func()) {
	call := m.current()
	if call == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	unbind := func() bool { return true }
	if !m.config.broken.leavesModelRunning {
		unbind = context.AfterFunc(call.ctx, cancel)
	}
	if call.giveUp != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { call.giveUp(errToldTo) }})
	}
	return ctx, func() { unbind(); cancel() }
}

// cancels is the notification by which a client gives up a request.
func cancels(id int64) map[string]any {
	return map[string]any{"jsonrpc": "2.0", "method": methodCancelled, "params": map[string]any{"requestId": id, "reason": errToldTo.Error()}}
}
