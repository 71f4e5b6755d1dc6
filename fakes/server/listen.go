package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// get opens a stream for messages outside of calls (2025-11-25,
// basic/transports#listening-for-messages-from-the-server), or resumes one.
func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	in := &inbound{w: w, r: r}
	session, status, why := s.findSession(in)
	if why != nil {
		s.refuse(in, status, why)
		return
	}
	if in.header(headerLastEvent) != "" {
		session.resume(in)
		return
	}
	s.received(scope{}, session.id, in)
	x := newExchange(s, in, scope{}, session.id)
	x.mu.Lock() // nothing is sent on the stream before its headers, and anything may be sent after them
	session.listen(x)
	x.start("get")
	x.mu.Unlock()
	defer session.unlisten(x)
	x.waitWith(session)
}

func (x *exchange) waitWith(l *legacySession) {
	defer context.AfterFunc(l.ctx, x.drop)()
	x.wait(nil)
}

func (l *legacySession) listen(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.listeners) == 0 {
		close(l.listening)
	}
	l.listeners = append(l.listeners, x)
}

func (l *legacySession) unlisten(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listeners = slices.DeleteFunc(l.listeners, func(other *exchange) bool { return other == x })
	if len(l.listeners) == 0 {
		l.listening = make(chan struct{})
	}
}

func (l *legacySession) endListening() {
	l.mu.Lock()
	listeners := slices.Clone(l.listeners)
	l.mu.Unlock()
	for _, x := range listeners {
		x.drop()
	}
}

// listener returns the latest GET stream. Without one it waits until ctx ends.
func (l *legacySession) listener(ctx context.Context) (*exchange, error) {
	for {
		var latest *exchange
		l.mu.Lock()
		if n := len(l.listeners); n > 0 {
			latest = l.listeners[n-1]
		}
		listening := l.listening
		l.mu.Unlock()
		if latest != nil {
			return latest, nil
		}
		select {
		case <-listening:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: the client has no GET stream open", ErrNoStream)
		}
	}
}

// WaitForGETStream waits until the client has a GET stream open, or ctx ends, and reports whether it has one. A client
// need not open one (2025-11-25, basic/transports#listening-for-messages-from-the-server), and has none in 2026-07-28
// or over a connection.
func (t Transport) WaitForGETStream(ctx context.Context) bool {
	c, ok := t.s.protocol.(*legacyCall)
	if !ok || c.lines {
		return false
	}
	_, err := c.session.listener(ctx)
	return err == nil
}
