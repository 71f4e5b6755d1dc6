package server

import (
	"errors"
	"net/http"
	"strconv"
	"sync"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// exchange is a client request that is in progress: a POST, a GET stream, or a line on a connection. The ResponseWriter
// must not be used after its HTTP handler has returned, so all access goes through the lock and stops at gone.
type exchange struct {
	server    *Server
	scope     scope
	session   string
	conn      *conn  // nil over HTTP; otherwise the HTTP fields below are unused
	key       string // idKey of the request, on a connection
	r         *http.Request
	responses ResponseMode

	mu      sync.Mutex
	w       http.ResponseWriter
	flush   *http.ResponseController
	stream  string      // the stream's name in the trace, once it is open
	head    *trace.HTTP // the headers of the response, until a frame has recorded them
	style   SSEStyle    // of the stream
	written bool        // the stream has an event
	buffer  []byte      // for the event being written
	started bool        // SSE headers are out
	gone    bool        // responded, dropped or disconnected: nothing can be written any more
	dropped bool        // gone without a response
	died    bool        // so that the connection breaks
	left    bool        // gone because the client disconnected first
	done    chan struct{}
}

func newExchange(s *Server, in *inbound, of scope, session string) *exchange {
	x := &exchange{server: s, scope: of, session: session, conn: in.conn, r: in.r, w: in.w,
		responses: s.opts.ResponseMode, done: make(chan struct{})}
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

// open sends the headers of a stream. Kind begins its name in the trace.
func (x *exchange) open(kind string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.start(kind)
}

// start sends the headers, once. The caller holds the lock.
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
	_ = x.flush.Flush() // after a failure the next write fails too
}

// event sends one message on the stream, and opens it if necessary. It returns ErrNoStream when the client has gone.
func (x *exchange) event(of scope, raw []byte, hostile bool) error {
	if x.conn != nil {
		return x.line(of, raw, hostile, false)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.write(event{of: of, raw: raw, hostile: hostile})
}

// deliver sends an event of a resumable stream. It returns false when the client has gone; the event is then not lost.
func (x *exchange) deliver(e event) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.gone && x.write(e) == nil
}

// line sends a message, or as the last one the response, on a connection. It does not hold the lock while it writes:
// the server must read what the client sends even while the client itself reads nothing.
func (x *exchange) line(of scope, raw []byte, hostile, last bool) error {
	frame := trace.Frame{Dir: trace.ToClient, Raw: raw, Session: x.session, Hostile: hostile}
	return x.conn.send(of, frame, func() (gone bool) {
		x.mu.Lock()
		defer x.mu.Unlock()
		gone = x.gone
		if last {
			x.end()
		}
		return gone && (last || !hostile) // the connection is still open, and a hostile frame may come late
	})
}

// write sends an event. It records the frame first: the client may respond before Write returns, and the trace must
// have the request first. The caller holds the lock.
func (x *exchange) write(e event) error {
	x.start("post")
	frame := x.frame(e.raw, e.hostile)
	frame.Event, frame.Retry, frame.Resent, frame.Closed, frame.Lost = e.id, e.retry, e.resent, e.closes, x.gone
	x.server.frame(e.of, frame)
	if x.gone || !x.emit(e) {
		return ErrNoStream
	}
	return nil
}

// emit writes an event. The caller holds the lock.
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

func (x *exchange) setStyle(style SSEStyle) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.style = style
}

// put writes and flushes, which detects a client that has gone. The caller holds the lock.
func (x *exchange) put(b []byte) bool {
	_, err := x.w.Write(b)
	if err == nil {
		err = x.flush.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		x.clientLeft()
		return false
	}
	return true
}

func (x *exchange) frame(raw []byte, hostile bool) trace.Frame {
	head := x.head
	x.head = nil
	return trace.Frame{Dir: trace.ToClient, Raw: raw, Hostile: hostile, Stream: x.stream, Session: x.session, HTTP: head}
}

// respond sends the response and ends the exchange: as the last event of an open stream, as a line on a connection, or
// as a JSON body. If the client has gone, the frame is recorded as lost.
func (x *exchange) respond(status int, raw []byte, hostile bool) {
	if x.conn != nil {
		_ = x.line(x.scope, raw, hostile, true)
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	defer x.end()
	if x.started || x.gone {
		_ = x.write(event{of: x.scope, raw: raw, hostile: hostile})
		return
	}
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	x.head = x.server.http("", status, h)
	x.server.frame(x.scope, x.frame(raw, hostile))
	x.w.WriteHeader(status)
	x.put(raw)
}

// drop ends the exchange without a response. Over HTTP that must be a stream that ends.
func (x *exchange) drop() { x.cut(false) }

// cut is drop, or, with dies, breaks the HTTP connection as a server does that exits.
func (x *exchange) cut(dies bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.gone {
		return
	}
	x.died = dies
	if x.conn == nil && !x.server.closing() {
		x.start("post")
		frame := x.frame(nil, dies)
		frame.Closed = true
		x.server.frame(x.scope, frame)
	}
	x.dropped = true
	x.end()
}

// finish ends the exchange. Its response was sent, or goes out elsewhere.
func (x *exchange) finish() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.end()
}

// clientLeft records that the client disconnected before the exchange was over. The caller holds the lock.
func (x *exchange) clientLeft() {
	if x.gone || x.server.closing() { // the server broke the connection
		x.end()
		return
	}
	x.left = true
	x.end()
	x.server.frame(x.scope, trace.Frame{Dir: trace.FromClient, Stream: x.stream, Session: x.session, Closed: true})
}

// end lets the HTTP handler return. The caller holds the lock.
func (x *exchange) end() {
	if !x.gone {
		x.gone = true
		close(x.done)
		if x.conn != nil {
			x.conn.over(x)
		}
	}
}

// wait blocks until the exchange is over, and calls abandoned, unless nil, if the client disconnected before. When the
// server is closed, it breaks the connection: returning would send an empty success. On a connection, which serves
// requests concurrently, it does not block; an end of the exchange without a response calls abandoned.
func (x *exchange) wait(abandoned func()) {
	if x.conn != nil {
		x.conn.await(x, abandoned)
		return
	}
	select {
	case <-x.done:
	case <-x.server.ctx.Done():
		x.drop()
	case <-x.r.Context().Done():
		x.mu.Lock()
		x.clientLeft()
		x.mu.Unlock()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dropped && (x.died || x.server.closing()) {
		panic(http.ErrAbortHandler)
	}
	if x.left && abandoned != nil {
		abandoned()
	}
}
