package server

import (
	"encoding/json"
	"maps"
	"slices"
)

// waiter is a modern call that waits for a retry. It stays known afterwards, so that a second retry is recognised.
type waiter struct {
	call  *modernCall
	taken bool
}

// retryKey identifies a waiter of a tool: by its requestState or, without one, by each of its input keys.
type retryKey struct{ kind, value string }

const byState, byKey = "state", "key"

// registration is a waiter with one of its keys.
type registration struct {
	key retryKey
	*waiter
}

// expectRetry registers the call under what its retry will hold.
func (c *modernCall) expectRetry(in InputRequiredResult) {
	waiting := &waiter{call: c}
	if in.State != nil {
		state, _ := textOf(mustEncode(*in.State)) // as the client reads it: JSON replaces invalid UTF-8
		c.server.register(c.tool, registration{retryKey{byState, state}, waiting})
		return
	}
	for key := range in.Requests {
		c.server.register(c.tool, registration{retryKey{byKey, key}, waiting})
	}
}

// mostWaiters limits the registrations of a tool. A client need not retry, so they would otherwise accumulate until the
// server is closed.
const mostWaiters = 1000

// register adds a waiter, and drops those with the same key that were retried. Over the limit it drops the oldest one,
// and abandons its call if that still waits.
func (s *Server) register(tool *serverTool, r registration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.DeleteFunc(s.waiters[tool], func(old registration) bool { return old.key == r.key && old.taken })
	all = append(all, r)
	if len(all) > mostWaiters {
		if oldest := all[0]; !oldest.taken {
			oldest.taken = true
			oldest.call.cancel()
		}
		all = all[1:]
	}
	s.waiters[tool] = all
}

// findWaiter returns the call that a retry continues: the one that has waited longest, or else one that was retried
// before; nil for an unknown retry.
func (s *Server) findWaiter(tool *serverTool, p callParams) *waiter {
	keys := map[retryKey]bool{}
	if p.state != nil {
		if state, ok := textOf(p.state); ok {
			keys[retryKey{byState, state}] = true
		}
	} else {
		for key := range objectOf(p.inputResponses) {
			keys[retryKey{byKey, key}] = true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *waiter
	for _, r := range s.waiters[tool] {
		if keys[r.key] && (found == nil || found.taken && !r.taken) {
			found = r.waiter
		}
	}
	return found
}

// isStale reports whether a call of a tool that never asked for input has the state or keys to which another tool's
// call was retried before. It begins a new call, so that one mistake of the client is seen once.
func (s *Server) isStale(tool *serverTool, p callParams) bool {
	s.mu.Lock()
	asked := len(s.waiters[tool]) > 0
	others := slices.Collect(maps.Keys(s.waiters))
	s.mu.Unlock()
	return tool != nil && !asked && slices.ContainsFunc(others, func(other *serverTool) bool {
		found := s.findWaiter(other, p)
		s.mu.Lock()
		defer s.mu.Unlock()
		return found != nil && found.taken
	})
}

// claim takes a waiter. It returns false for nil and for one that was taken before.
func (s *Server) claim(waiting *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waiting == nil || waiting.taken {
		return false
	}
	waiting.taken = true
	return true
}

// retry continues the call of a retry, which becomes its pending round.
func (s *Server) retry(x *exchange, id json.RawMessage, waiting *waiter, p callParams) {
	responses := objectOf(p.inputResponses)
	if p.inputResponses != nil && responses == nil {
		s.fail(x, id, notA("an object", "inputResponses", p.method, p.inputResponses))
		return
	}
	if !s.claim(waiting) || !waiting.call.next(x, id) {
		s.fail(x, id, rpcErrorf(codeInvalidParams,
			"no call waits for this retry: its %s or input keys are unknown, or were used before", p.stateMember))
		return
	}
	waiting.call.resume <- &Retry{Responses: responses, State: p.state, meta: p.meta}
	x.wait(waiting.call.cancel)
}

// next makes an exchange the pending round. It returns false when the handler has returned meanwhile, as one can that
// samples on another goroutine.
func (c *modernCall) next(x *exchange, id json.RawMessage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.x, c.id = x, id
	x.setStyle(c.written)
	return true
}
