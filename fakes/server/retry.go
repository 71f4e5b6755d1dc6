package server

import (
	"encoding/json"
	"maps"
	"slices"
)

// waiter is a modern call that waits for its retry. It stays known afterwards, so that a second retry is recognised.
type waiter struct {
	call  *modernCall
	taken bool
}

// retryKey identifies a waiter: its requestState or, without one, each of its input keys. It includes the tool, because
// two handlers may choose the same state or key.
type retryKey struct {
	tool  *serverTool
	kind  string
	value string
}

const byState, byKey = "state", "key"

// waitKey is a waiter with one of its keys.
type waitKey struct {
	key retryKey
	*waiter
}

// expectRetry registers the call under what its retry will hold.
func (c *modernCall) expectRetry(in Input) {
	waiting := &waiter{call: c}
	if in.State != nil {
		state, _ := textOf(mustEncode(*in.State)) // as the client reads it: JSON replaces invalid UTF-8
		c.server.register(retryKey{c.tool, byState, state}, waiting)
		return
	}
	for key := range in.Requests {
		c.server.register(retryKey{c.tool, byKey, key}, waiting)
	}
}

// mostWaiters limits the states and keys of a tool that are registered at once. A client need not retry, so they would
// otherwise accumulate until the server is closed.
const mostWaiters = 1000

// register adds a waiter, and drops those of the key that were retried. Over the limit it drops the tool's oldest one,
// and abandons that call if it still waits.
func (s *Server) register(key retryKey, waiting *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiters[key] = append(slices.DeleteFunc(s.waiters[key], func(w *waiter) bool { return w.taken }), waiting)
	s.waits[key.tool] = append(s.waits[key.tool], waitKey{key, waiting})
	if of := s.waits[key.tool]; len(of) > mostWaiters {
		oldest := of[0]
		s.waits[key.tool] = of[1:]
		rest := slices.DeleteFunc(s.waiters[oldest.key], func(w *waiter) bool { return w == oldest.waiter })
		if s.waiters[oldest.key] = rest; len(rest) == 0 {
			delete(s.waiters, oldest.key)
		}
		if !oldest.taken {
			oldest.taken = true
			oldest.call.cancel()
		}
	}
}

// findWaiter returns the call that a retry continues: the one that has waited longest, or else one that was retried
// before; nil for an unknown retry.
func (s *Server) findWaiter(tool *serverTool, p callParams) *waiter {
	var keys []retryKey
	if p.requestState != nil {
		if state, ok := textOf(p.requestState); ok {
			keys = append(keys, retryKey{tool, byState, state})
		}
	} else {
		for _, key := range slices.Sorted(maps.Keys(objectOf(p.inputResponses))) {
			keys = append(keys, retryKey{tool, byKey, key})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *waiter
	for _, key := range keys {
		for _, waiting := range s.waiters[key] {
			if found == nil || found.taken && !waiting.taken {
				found = waiting
			}
		}
	}
	return found
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
			"no call waits for this retry: its requestState or input keys are unknown, or were used before"))
		return
	}
	waiting.call.resume <- &Retry{Responses: responses, State: p.requestState, meta: p.meta}
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
