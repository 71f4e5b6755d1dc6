package client

import (
	"context"
	"encoding/json"
	"sync"
)

const methodCancelled = "notifications/cancelled"

func cancellation(id any) map[string]any {
	return request(nil, methodCancelled, map[string]any{"requestId": id, "reason": "the client abandoned the call"})
}

// served are the server's requests, by their ids as they were written.
type served struct {
	mu       sync.Mutex
	running  map[string]*serving
	finished map[string]bool
}

// serving is a request that is being answered. Its context ends when it is cancelled.
type serving struct {
	ctx       context.Context
	stop      context.CancelFunc
	cancelled bool // the mutex of served is held
}

// begin adds a request, before the next message is read. It returns nil for an id that was used before: a message that
// arrives again is answered once.
func (s *served) begin(ctx context.Context, id json.RawMessage) *serving {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[string(id)] != nil || s.finished[string(id)] {
		return nil
	}
	if s.running == nil {
		s.running, s.finished = map[string]*serving{}, map[string]bool{}
	}
	one := &serving{}
	one.ctx, one.stop = context.WithCancel(ctx)
	s.running[string(id)] = one
	return one
}

// reset forgets every request: a new session has ids of its own.
func (s *served) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.finished = nil, nil
}

func (s *served) end(id json.RawMessage, one *serving) (cancelled bool) {
	one.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[string(id)] == one {
		delete(s.running, string(id))
	}
	if s.finished != nil { // nil after a reset
		s.finished[string(id)] = true
	}
	return one.cancelled
}

// cancelled stops the work on the request that a cancellation names; then no response is due. Malformed cancellations
// and unknown ids are ignored (2025-11-25, basic/utilities/cancellation#error-handling).
func (s *served) cancelled(raw json.RawMessage) {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(raw, &params) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.running[string(params.RequestID)]; one != nil {
		one.cancelled = true
		one.stop()
	}
}
