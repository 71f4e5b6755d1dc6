package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// conn is a client on a connection with one message a line, the wire of stdio (2025-11-25, basic/transports#stdio;
// 2026-07-28, basic/transports/stdio).
type conn struct {
	server *Server
	rwc    io.ReadWriteCloser
	name   string // in the trace, where HTTP has a session id
	ctx    context.Context
	cancel context.CancelFunc

	session *legacySession // after initialize; for the reading goroutine only

	turn   chan struct{} // holds a token during a write; a mutex would stop the clock of a synctest bubble
	closed atomic.Bool   // nothing can be written any more
	buffer []byte        // for the line being written

	mu       sync.Mutex
	inFlight map[string]inFlight // by exchange.key
}

// inFlight is an exchange without a response yet, and what to call if it gets none.
type inFlight struct {
	x         *exchange
	abandoned func()
}

// ServeConn serves a client over a connection with one message a line, such as stdio or a pipe. It returns, and closes
// the connection, when the client closes it, ctx ends or the server is closed. A legacy client has one session, which
// begins with initialize. Handlers behave as over HTTP, also concurrently with HTTP; [Options.Responses] has no effect.
// In the trace a frame has no HTTP part, and its session is "conn-1", "conn-2", … in the order of the calls of
// ServeConn, each of which begins with [trace.MarkConnection].
//
// An invalid message is recorded and, in revisions with errors without an id (since 2025-11-25), gets one; later lines
// are served as usual. Only the beginning of a line over [Options.MaxBody] is recorded. Text without a line end at the
// end of the connection is recorded and not served. A write waits for a client that does not read, until the connection
// ends.
//
// If rwc has a method Stderr() io.Writer, [Transport.LogToStderr] writes there. If it has a method Killed() bool,
// ServeConn calls it when the client has closed the connection, to learn whether the server's process was killed before
// its input ended. If it has a method Gone() <-chan struct{}, which is closed when the process exits,
// [Transport.CloseConnection] waits for it.
func (s *Server) ServeConn(ctx context.Context, rwc io.ReadWriteCloser) {
	defer rwc.Close()
	if !s.begin(&s.requests) {
		return
	}
	defer s.requests.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	c := &conn{server: s, rwc: rwc, name: s.streamName("conn"), ctx: ctx, cancel: cancel,
		turn: make(chan struct{}, 1), inFlight: map[string]inFlight{}}
	defer context.AfterFunc(ctx, func() {
		c.closed.Store(true)
		_ = rwc.Close() // ends reads and writes
	})()
	defer func() {
		if p := recover(); p != nil { // as over HTTP, our fault must not count as the client's
			s.problem(scope{}, "the server panicked: %v\n%s", p, debug.Stack())
		}
	}()
	s.mark(scope{}, trace.MarkConnection, c.name)
	c.serve()
}

func (c *conn) serve() {
	lines := newLineReader(c.rwc, c.server.opts.MaxBody)
	for {
		l, err := lines.next()
		if err != nil {
			break
		}
		c.takeLine(l)
	}
	if c.ctx.Err() == nil { // the client closed it
		if process, ok := c.rwc.(killable); ok && process.Killed() {
			c.server.mark(scope{}, trace.MarkKilled, c.name)
		}
		c.server.frame(scope{}, trace.Frame{Dir: trace.FromClient, Session: c.name, Closed: true})
	}
	c.end()
}

// end abandons all that depends on the connection. A modern call that waits for a retry does not: the retry may come on
// another connection (2026-07-28, basic/transports/stdio#unexpected-termination).
func (c *conn) end() {
	c.closed.Store(true)
	_ = c.rwc.Close()
	if c.session != nil {
		c.session.cancel()
	}
	c.mu.Lock()
	var left []inFlight
	for _, f := range c.inFlight {
		left = append(left, f)
	}
	c.mu.Unlock()
	for _, f := range left {
		f.abandon()
	}
}

func (c *conn) takeLine(l line) {
	switch {
	case l.tooLong:
		c.reject(l, rpcErrorf(codeInvalidRequest, "the line is over the limit of %d bytes", c.server.opts.MaxBody))
		return
	case l.partial:
		c.record(l)
		return
	case len(bytes.TrimSpace(l.raw)) == 0:
		return
	}
	if batch := c.batchOf(l.raw); len(batch) > 0 {
		if why := tooMany(batch); why != nil {
			c.reject(l, why)
		} else {
			c.takeBatch(batch)
		}
		return
	}
	m, bad := parse(l.raw)
	if bad != nil {
		c.reject(l, bad)
		return
	}
	c.server.take(&inbound{raw: l.raw, message: m, conn: c})
	if m.isNotification() && *m.Method == methodCancelled { // in any revision
		c.cancelled(m.params["requestId"])
	}
}

func (c *conn) record(l line) {
	c.server.frame(scope{}, trace.Frame{Dir: trace.FromClient, Raw: l.raw, Session: c.name, Partial: l.partial})
}

// reject records an invalid message and responds with an error. The older revisions have no error without an id, and
// nothing but valid messages may go onto the pipe.
func (c *conn) reject(l line, why *RPCError) {
	c.record(l)
	if c.revision().features().errorsWithoutID {
		_ = c.send(scope{}, trace.Frame{Dir: trace.ToClient, Raw: errorFrame(nil, why), Session: c.name},
			func() bool { return false }) // the trace says when it is lost
	}
}

func (c *conn) batchOf(raw []byte) []json.RawMessage {
	if c.session == nil {
		return nil
	}
	return batchOf(c.session.revision, raw)
}

func (c *conn) revision() Revision {
	switch {
	case c.session != nil:
		return c.session.revision
	case len(c.server.modern) > 0:
		return c.server.modern[0]
	}
	return c.server.legacy[0]
}

func (c *conn) refuse(in *inbound, why *RPCError) {
	c.server.received(scope{}, "", in)
	if in.isRequest() {
		newExchange(c.server, in, scope{}, "").respond(http.StatusBadRequest, errorFrame(in.ID, why), false)
	}
}

// send records a frame and writes it as a line, in one step, so that the trace has the order of the wire. It calls gone
// when it is its turn, to learn whether the frame is too late.
func (c *conn) send(of scope, frame trace.Frame, gone func() bool) error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	frame.Lost = gone() || c.closed.Load()
	c.server.frame(of, frame)
	if frame.Lost {
		return ErrNoStream
	}
	c.buffer = append(append(c.buffer[:0], frame.Raw...), '\n')
	return c.write(c.buffer)
}

func (c *conn) write(line []byte) error {
	if _, err := c.rwc.Write(line); err != nil {
		c.closed.Store(true)
		return ErrNoStream
	}
	return nil
}

// await arranges for abandoned to be called if the exchange ends without a response.
func (c *conn) await(x *exchange, abandoned func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.gone || abandoned == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight[x.key] = inFlight{x, abandoned}
}

func (c *conn) over(x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight[x.key].x == x { // a client may have used the id twice
		delete(c.inFlight, x.key)
	}
}

func (c *conn) find(id json.RawMessage) (inFlight, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.inFlight[idKey(id)]
	return f, ok
}

// cancelled abandons the request with the id. An unknown or completed one is not an error (2026-07-28,
// basic/patterns/cancellation#error-handling).
func (c *conn) cancelled(id json.RawMessage) {
	if f, ok := c.find(id); ok {
		f.abandon()
	}
}

// cancels returns the scope of the request that a message cancels; the zero scope for any other message, or without a
// connection.
func (c *conn) cancels(m *message) scope {
	if c == nil || *m.Method != methodCancelled {
		return scope{}
	}
	if f, ok := c.find(m.params["requestId"]); ok {
		return f.x.scope
	}
	return scope{}
}

// abandon ends the exchange, on which nothing may be sent any more, and then calls abandoned.
func (f inFlight) abandon() {
	f.x.mu.Lock()
	over := f.x.gone
	f.x.end()
	f.x.mu.Unlock()
	if !over {
		f.abandoned()
	}
}
