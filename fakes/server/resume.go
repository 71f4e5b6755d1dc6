package server

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// resumable is the stream of a call whose connection may go and come back: its events are kept, under ids that name the stream and count them
// (2025-11-25, basic/transports#resumability-and-redelivery).
type resumable struct {
	call *legacyCall
	name string

	mu      sync.Mutex
	events  []event
	sent    int           // how many of them the connection has had
	x       *exchange     // the connection; nil while there is none
	over    bool          // there will be no more events
	resumed chan struct{} // closed once the client has come back
}

// Resumable gives the events of the call's stream ids from here on, so that a client that loses the connection can come back for what it has not
// seen. An event with an id and without a message goes out at once, as a server should send it
// (2025-11-25, basic/transports#sending-messages-to-the-server). It returns ErrEra in the second era, which has no such thing, and ErrNoStream
// where the call has no stream of its own: over a connection, with [JSON] responses, or for a client that does not accept one.
func (s *Session) Resumable() error {
	c, err := s.streaming()
	if err != nil {
		return err
	}
	r := &resumable{call: c, x: c.x, resumed: make(chan struct{})}
	c.x.mu.Lock()
	r.name = c.x.stream
	c.x.mu.Unlock()
	c.session.mu.Lock()
	known := c.kept != nil
	if !known {
		c.kept = r
		c.session.kept[r.name] = r
	}
	c.session.mu.Unlock()
	if !known {
		r.send(event{of: s.scope()}, false)
	}
	return nil
}

// Disconnect closes the connection that the stream of the call is on, and not the stream: what the play sends next waits for the client to come
// back. Before that an event goes out which says how long the client is to wait, to the millisecond; 0 says nothing. It returns ErrNoStream where
// the stream is not [Session.Resumable], or has no connection.
func (s *Session) Disconnect(retry time.Duration) error {
	c, err := s.streaming()
	if err != nil {
		return err
	}
	r := c.resumable()
	if r == nil {
		return fmt.Errorf("%w that could be resumed: call Resumable first", ErrNoStream)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.x == nil {
		return ErrNoStream
	}
	x := r.x
	r.resumed = make(chan struct{})
	r.add(event{of: s.scope(), retry: retry, closes: true})
	r.events[len(r.events)-1].closes = false // nor does any other connection end behind it, should it have to be sent again
	r.x = nil
	x.finish()
	return nil
}

// Resumed returns a channel that is closed once the client has come back for the call's stream after the latest [Session.Disconnect]; nil, which
// never is, where there is no such stream.
func (s *Session) Resumed() <-chan struct{} {
	c, err := s.streaming()
	if err != nil {
		return nil
	}
	r := c.resumable()
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resumed
}

// streaming is the call of a client that has a stream of its own for it.
func (s *Session) streaming() (*legacyCall, error) {
	c, ok := s.carrier.(*legacyCall)
	if !ok {
		return nil, fmt.Errorf("%w: streams cannot be resumed in %s", ErrEra, s.revision)
	}
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	if !c.x.started {
		return nil, fmt.Errorf("%w: the call has none of its own", ErrNoStream)
	}
	return c, nil
}

// resumable is the call's stream; nil where it cannot be resumed.
func (c *legacyCall) resumable() *resumable {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.kept
}

// send keeps an event, and writes it where there is a connection. The last one ends the stream.
func (r *resumable) send(e event, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = r.over || last
	r.add(e)
}

// add is send with the lock held.
func (r *resumable) add(e event) {
	e.id = fmt.Sprintf("%s/%d", r.name, len(r.events)+1)
	r.events = append(r.events, e)
	r.flush()
}

// flush writes what the connection has not had. The lock is held.
func (r *resumable) flush() {
	for r.x != nil && r.sent < len(r.events) {
		if !r.x.deliver(r.events[r.sent]) {
			r.x = nil // what it has not had stays for the next one
			return
		}
		r.events[r.sent].again = true
		r.sent++
	}
	if r.over && r.x != nil {
		r.x.finish()
		r.x = nil
	}
}

// drop ends the stream without a response.
func (r *resumable) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.x != nil {
		r.x.drop()
		r.x = nil
	}
}

// attach goes on with the stream on another connection, behind the event of that number. An older connection ends.
func (r *resumable) attach(x *exchange, after int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.x != nil {
		r.x.drop()
	}
	r.x, r.sent = x, after
	select {
	case <-r.resumed:
	default:
		close(r.resumed)
	}
	r.flush()
}

// resume goes on with the stream whose event the client saw last: only of that stream is anything sent again.
func (l *legacySession) resume(in *inbound) {
	s := l.server
	r, after := l.seen(in.header(headerLastEvent))
	if r == nil {
		s.refuse(in, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "%s %q is of no stream of this session", headerLastEvent, in.header(headerLastEvent)))
		return
	}
	of := r.call.scope()
	s.received(of, l.id, in)
	x := newExchange(s, in, of, l.id)
	x.open("get")
	r.attach(x, after)
	x.waitWith(l)
}

// seen returns the stream that an event id names, and how many of its events had been sent with that; nil for an id that was never given.
func (l *legacySession) seen(id string) (*resumable, int) {
	name, number, _ := strings.Cut(id, "/")
	l.mu.Lock()
	r := l.kept[name]
	l.mu.Unlock()
	if r == nil {
		return nil, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(r.events) {
		return nil, 0
	}
	return r, n
}
