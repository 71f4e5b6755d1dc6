package server

import (
	"errors"
	"net/http"
	"strconv"
	"sync"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// exchange is a request of the client that waits for something: a POST for its response, with or without messages
// before it, a GET for whatever comes, or a line on a connection. Only the handler's goroutine may touch the ResponseWriter after it
// has returned, so everything else goes through the lock and stops at gone.
type exchange struct {
	server  *Server
	scope   scope
	session string
	conn    *conn  // nil over HTTP; where it is not, there is nothing of HTTP below
	key     string // of the request, on a connection
	r       *http.Request

	responses Responses // the way in which the request is answered

	mu      sync.Mutex
	w       http.ResponseWriter
	flush   *http.ResponseController
	stream  string      // the stream's name in the trace, once there is one
	head    *trace.HTTP // the headers of the stream, until its first event has recorded them
	style   Style       // of what is written on the stream
	written bool        // something was
	buffer  []byte      // of the event that is written
	started bool        // SSE headers are out
	gone    bool        // answered, dropped or hung up: nothing can be written any more
	dropped bool        // gone without a response
	hungUp  bool        // gone because the client went first
	done    chan struct{}
}

func newExchange(s *Server, in *inbound, of scope, session string) *exchange {
	x := &exchange{server: s, scope: of, session: session, conn: in.conn, r: in.r, w: in.w, responses: s.opts.Responses, done: make(chan struct{})}
	if x.conn == nil {
		x.flush = http.NewResponseController(in.w)
		return x
	}
	x.session = x.conn.name
	if in.message != nil {
		x.key = idKey(in.ID)
	}
	return x
}

// open sends the headers of a stream, so that the client knows that there is one. Kind begins its name in the trace.
func (x *exchange) open(kind string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.start(kind)
}

// start sends the headers, once. The lock is held.
func (x *exchange) start(kind string) {
	if x.started || x.gone || x.conn != nil {
		return
	}
	x.started = true
	x.stream = x.server.streamName(kind)
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	x.head = x.server.http("", http.StatusOK, h)
	x.w.WriteHeader(http.StatusOK)
	_ = x.flush.Flush() // where it fails, so does what is written next
}

// event sends one message on the stream, opening it where it is not open yet. It returns ErrNoStream when the client is gone.
func (x *exchange) event(of scope, raw []byte, hostile bool) error {
	if x.conn != nil {
		return x.line(of, raw, hostile, false)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.write(event{of: of, raw: raw, hostile: hostile})
}

// deliver is event for one of a stream that can be resumed: where the client is gone it is not lost, and false is returned.
func (x *exchange) deliver(e event) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.gone && x.write(e) == nil
}

// line is event, or the response, on a connection. The lock is not held while it writes: what the client sends has to be read also while it
// reads nothing itself.
func (x *exchange) line(of scope, raw []byte, hostile, last bool) error {
	frame := trace.Frame{Dir: trace.ToClient, Raw: raw, Session: x.session, Hostile: hostile}
	return x.conn.send(of, frame, func() (gone bool) {
		x.mu.Lock()
		defer x.mu.Unlock()
		gone = x.gone
		if last {
			x.end()
		}
		return gone && (last || !hostile) // the connection goes on, and what breaks the protocol may come late
	})
}

// write is event with the lock held. The frame is recorded before it is written: the client may answer
// before Write returns, and the trace must have the question first.
func (x *exchange) write(e event) error {
	x.start("post")
	frame := x.frame(e.raw, e.hostile)
	frame.Event, frame.Retry, frame.Resent, frame.Closed, frame.Lost = e.id, e.retry, e.again, e.closes, x.gone
	x.server.frame(e.of, frame)
	if x.gone {
		return ErrNoStream
	}
	if !x.emit(e) {
		return ErrNoStream
	}
	return nil
}

// emit writes an event in the style of the stream. The lock is held.
func (x *exchange) emit(e event) bool {
	x.buffer = x.style.appendEvent(x.buffer[:0], e, !x.written)
	x.written = true
	for piece := range x.style.pieces(x.buffer) {
		if !x.put(piece) {
			return false
		}
	}
	return true
}

// writtenAs sets the style of what is written from here on.
func (x *exchange) writtenAs(style Style) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.style = style
}

// put writes at once, so that we learn of a client that is gone. The lock is held.
func (x *exchange) put(b []byte) bool {
	_, err := x.w.Write(b)
	if err == nil {
		err = x.flush.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		x.hangUp()
		return false
	}
	return true
}

// frame is a frame to the client on the stream as it stands, which takes the headers with it where it is the first.
func (x *exchange) frame(raw []byte, hostile bool) trace.Frame {
	frame := trace.Frame{Dir: trace.ToClient, Raw: raw, Stream: x.stream, Session: x.session, Hostile: hostile, HTTP: x.head}
	x.head = nil
	return frame
}

// respond sends the response and ends the exchange: as the last event where a stream is open, as a line on a connection, as a JSON
// body otherwise.
func (x *exchange) respond(status int, raw []byte, hostile bool) {
	if x.conn != nil {
		_ = x.line(x.scope, raw, hostile, true) // recorded as lost, then
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.started || x.gone {
		_ = x.write(event{of: x.scope, raw: raw, hostile: hostile}) // recorded as lost, then
		x.end()
		return
	}
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	x.head = x.server.http("", status, h)
	x.server.frame(x.scope, x.frame(raw, hostile))
	x.w.WriteHeader(status)
	x.put(raw)
	x.end()
}

// drop ends the exchange without a response, which HTTP has only one way to say: with a stream that ends. A connection has none.
func (x *exchange) drop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.gone {
		return
	}
	if x.conn == nil && !x.server.closing() {
		x.start("post")
		frame := x.frame(nil, false)
		frame.Closed = true
		x.server.frame(x.scope, frame)
	}
	x.dropped = true
	x.end()
}

// finish ends the exchange, whose response was sent or is sent elsewhere.
func (x *exchange) finish() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.end()
}

// hangUp notes that the client has gone before the exchange was over. The lock is held.
func (x *exchange) hangUp() {
	if x.gone || x.server.closing() { // it was us who broke the connection
		x.end()
		return
	}
	x.hungUp = true
	x.end()
	x.server.frame(x.scope, trace.Frame{Dir: trace.FromClient, Stream: x.stream, Session: x.session, Closed: true})
}

// end lets the handler return. The lock is held.
func (x *exchange) end() {
	if !x.gone {
		x.gone = true
		close(x.done)
		if x.conn != nil {
			x.conn.over(x)
		}
	}
}

// wait keeps the handler until the exchange is over, and calls hungUp, where that is not nil, if the client went before it was. When the
// server is being closed it breaks the connection: a handler that just returned would send an empty success. On a connection, whose
// requests are served side by side, it does not wait: hungUp is then called by whatever ends the exchange before its response.
func (x *exchange) wait(hungUp func()) {
	if x.conn != nil {
		x.conn.await(x, hungUp)
		return
	}
	select {
	case <-x.done:
	case <-x.server.ctx.Done():
		x.drop()
	case <-x.r.Context().Done():
		x.mu.Lock()
		x.hangUp()
		x.mu.Unlock()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dropped && x.server.closing() {
		panic(http.ErrAbortHandler)
	}
	if x.hungUp && hungUp != nil {
		hungUp()
	}
}
