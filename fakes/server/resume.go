package server

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// resumable is the stream of a call that survives its connection. It keeps its events, under ids of its name and their
// number (2025-11-25, basic/transports#resumability-and-redelivery).
type resumable struct {
	call *legacyCall
	name string

	mu      sync.Mutex
	events  []event
	sent    int           // the number of events that the connection has had
	x       *exchange     // the connection; nil without one
	style   SSEStyle      // of all its connections
	over    bool          // there will be no more events
	resumed chan struct{} // closed once the client has reconnected
}

// Resumable gives later events of the call's stream ids, so that a client that loses the connection can reconnect and
// get what it has missed. It sends an event with an id and without a message at once, as a server should (2025-11-25,
// basic/transports#sending-messages-to-the-server). It returns ErrRevision in 2026-07-28, and ErrNoStream if the call
// has no stream of its own: over a connection, with [JSON] responses, or for a client that does not accept streams.
func (t Transport) Resumable() error {
	c, err := t.s.streaming()
	if err != nil {
		return err
	}
	r := &resumable{call: c, x: c.x, resumed: make(chan struct{})}
	c.x.mu.Lock()
	r.name, r.style = c.x.stream, c.x.style
	c.x.mu.Unlock()
	c.session.mu.Lock()
	known := c.kept != nil
	if !known {
		c.kept = r
		c.session.kept[r.name] = r
	}
	c.session.mu.Unlock()
	if !known {
		r.send(event{of: t.s.scope()}, false)
	}
	return nil
}

// Disconnect closes the connection of the call's stream, but not the stream: what the handler sends next waits for the
// client to reconnect. Before that it sends an event that sets the client's retry time, in whole milliseconds; 0 sets
// none. It returns ErrNoStream if the stream is not [Transport.Resumable] or has no connection.
func (t Transport) Disconnect(retry time.Duration) error {
	c, err := t.s.streaming()
	if err != nil {
		return err
	}
	r := c.resumable()
	if r == nil {
		return fmt.Errorf("%w that can be resumed: call Resumable first", ErrNoStream)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.x == nil {
		return ErrNoStream
	}
	x := r.x
	r.resumed = make(chan struct{})
	r.add(event{of: t.s.scope(), retry: retry, closes: true})
	r.events[len(r.events)-1].closes = false // when it is sent again, that connection does not end after it
	r.x = nil
	x.finish()
	return nil
}

// Resumed returns a channel that is closed once the client has reconnected after the latest [Transport.Disconnect];
// nil, which blocks forever, without a resumable stream.
func (t Transport) Resumed() <-chan struct{} {
	c, err := t.s.streaming()
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

// streaming returns the call if it has a stream of its own.
func (s *Session) streaming() (*legacyCall, error) {
	c, ok := s.protocol.(*legacyCall)
	if !ok {
		return nil, s.hasNo("resumable streams")
	}
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	if !c.x.started {
		return nil, fmt.Errorf("%w: the call has none of its own", ErrNoStream)
	}
	return c, nil
}

func (c *legacyCall) resumable() *resumable {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.kept
}

// send keeps an event, and writes it if there is a connection. The last one ends the stream.
func (r *resumable) send(e event, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = r.over || last
	r.add(e)
}

// add is send for a caller that holds the lock.
func (r *resumable) add(e event) {
	e.id = fmt.Sprintf("%s/%d", r.name, len(r.events)+1)
	r.events = append(r.events, e)
	r.flush()
}

// flush writes the events that the connection has not had. The caller holds the lock.
func (r *resumable) flush() {
	for r.x != nil && r.sent < len(r.events) {
		if !r.x.deliver(r.events[r.sent]) {
			r.x = nil // the rest waits for the next connection
			return
		}
		r.events[r.sent].resent = true
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

// attach moves the stream to another connection, after the event of that number, and ends the older connection.
func (r *resumable) attach(x *exchange, after int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.x != nil {
		r.x.drop()
	}
	x.setStyle(r.style)
	r.x, r.sent = x, after
	select {
	case <-r.resumed:
	default:
		close(r.resumed)
	}
	r.flush()
}

// setStyle sets the style of later events, on later connections too.
func (r *resumable) setStyle(style SSEStyle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.style = style
	if r.x != nil {
		r.x.setStyle(style)
	}
}

// resume continues the stream of the client's last event. Only events of that stream are sent again.
func (l *legacySession) resume(in *inbound) {
	s := l.server
	r, after := l.find(in.header(headerLastEvent))
	if r == nil {
		s.refuse(in, http.StatusBadRequest, rpcErrorf(codeInvalidRequest,
			"%s %q belongs to no stream of this session", headerLastEvent, in.header(headerLastEvent)))
		return
	}
	of := r.call.scope()
	s.received(of, l.id, in)
	x := newExchange(s, in, of, l.id)
	x.open("get")
	r.attach(x, after)
	x.waitWith(l)
}

// find returns the stream of an event id and the number of the event; nil for an unknown id.
func (l *legacySession) find(id string) (*resumable, int) {
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
