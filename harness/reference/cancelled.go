package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

const methodCancelled = "notifications/cancelled"

// served are the server's requests that are being answered, by their ids as they were written.
type served struct {
	mu       sync.Mutex
	running  map[string]*serving
	finished map[string]bool
	tainted  bool // by a cancel: what is asked next gets an error
}

// serving is a request that is being answered. Its context ends when it is cancelled.
type serving struct {
	context.Context
	stop      context.CancelFunc
	cancelled bool // the served one's lock is held
}

// begin enters a request, before anything that comes after it is read. It returns nil for one that was entered before: it is answered once.
func (s *served) begin(ctx context.Context, id json.RawMessage, repeats bool) *serving {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !repeats && (s.running[string(id)] != nil || s.finished[string(id)]) {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	one := &serving{Context: ctx, stop: stop}
	if s.running == nil {
		s.running, s.finished = map[string]*serving{}, map[string]bool{}
	}
	s.running[string(id)] = one
	return one
}

// reset forgets every request, for the ids of another session are others.
func (s *served) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.finished = nil, nil
}

// end forgets a request, and reports whether it was cancelled.
func (s *served) end(id json.RawMessage, one *serving) (cancelled bool) {
	one.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[string(id)] == one {
		delete(s.running, string(id))
	}
	if s.finished != nil { // as it is in the session that asked
		s.finished[string(id)] = true
	}
	return one.cancelled
}

// cancel stops the work on a request, after which no response is due. One that is not running is none of anybody's
// (2025-11-25, basic/utilities/cancellation#error-handling).
func (s *served) cancel(id json.RawMessage, broken *faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tainted = broken.taintedByCancel
	for key, one := range s.running {
		if key != string(id) && !broken.cancelsAll || broken.ignoresCancel {
			continue
		}
		one.cancelled = true
		if !broken.worksOnCancelled {
			one.stop()
		}
	}
}

// spoiled reports, once, that a cancel has spoiled what is asked next.
func (s *served) spoiled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.tainted
	s.tainted = false
	return was
}

// take takes a message of the server's that is no response, on the goroutine that reads, and returns what there is to do about it.
func (l *legacy) take(ctx context.Context, m *message) func() error {
	switch {
	case m.ID != nil:
		broken := &l.model.config.broken.transport
		one := l.served.begin(ctx, m.ID, broken.answersRepeats || broken.fromTheStart)
		if one == nil {
			return nil
		}
		return func() error { return l.answer(ctx, m, one) }
	case m.Method == methodCancelled:
		return l.cancelled(ctx, m)
	}
	l.model.noted(m)
	return nil
}

// cancelled heeds a cancel. One that is not well-formed cancels nothing.
func (l *legacy) cancelled(ctx context.Context, m *message) func() error {
	broken := &l.model.config.broken
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	err := json.Unmarshal(m.Params, &params)
	if id := string(params.RequestID); err == nil && (id == "" || id == "null" || id[0] == '{' || id[0] == '[' || id[0] == 't') {
		err = fmt.Errorf("requestId %q is no id", id)
	}
	l.served.mu.Lock()
	known, finished := l.served.running[string(params.RequestID)] != nil, l.served.finished[string(params.RequestID)]
	l.served.mu.Unlock()
	if err == nil || broken.cancelsAll || broken.taintedByCancel {
		l.served.cancel(params.RequestID, broken)
	}
	switch {
	case err != nil && broken.diesOfBadCancel:
		return func() error { return fmt.Errorf("broken on purpose: %w", err) }
	case err == nil && !known && (finished && broken.refusesLateCancel || !finished && broken.refusesStrangeCancel):
		return func() error {
			return l.send(ctx, map[string]any{"jsonrpc": "2.0", "id": params.RequestID, "error": &rpcError{codeInvalidParams, "there is no such request"}})
		}
	case err == nil && !known && !finished && broken.diesOfStrangeCancel:
		return func() error { return errors.New("broken on purpose: a cancel of a request that is not there") }
	}
	return nil
}
