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

// conn is a client on a connection of its own, each message a line: the wire of stdio (2025-11-25, basic/transports#stdio;
// 2026-07-28, basic/transports/stdio), whatever carries it.
type conn struct {
	server *Server
	rwc    io.ReadWriteCloser
	name   string // in the trace, where a session has its id
	ctx    context.Context
	cancel context.CancelFunc

	session *legacySession // once it was initialized; of the reader's goroutine

	turn   chan struct{} // holds a token while somebody writes; a mutex would stop the clock of a synctest bubble
	closed atomic.Bool   // nothing can be written any more
	buffer []byte        // of the line that is written

	mu      sync.Mutex
	waiting map[string]waiting // by the keys of their requests
}

// waiting is an exchange that waits for its response, and what to do when there is to be none.
type waiting struct {
	x      *exchange
	hungUp func()
}

// ServeConn serves a client over a connection on which each message is a line, as over stdio or a pipe, until the client ends it, ctx ends
// or the server is closed; then it closes the connection and returns. In the first era the connection is a session, and has to be
// initialized. All that can be said over HTTP can be said here, with the same plays, at the same time too; [Options.Responses] means
// nothing here. In the trace a frame has no HTTP part, and the session "conn-1", "conn-2", … in the order of the calls,
// each of which begins with [trace.MarkConnection].
//
// What is no message is recorded and, where the revision has an error without an id (since 2025-11-25), answered with one; the rest of the
// connection is served as ever. Of a line over [Options.MaxBody] only the beginning is recorded. What comes without a line end
// before the connection ends is recorded and not served. A client that reads nothing is waited for, by whoever
// writes, until the connection ends. Where rwc has a method Stderr() io.Writer, that is the standard error to which [Session.Log] writes; where it has
// a method Killed() bool it is asked, when the client has ended the connection, whether the server's process was ended before its input was; where it has
// a method Gone() <-chan struct{} [Session.HangUp] waits for that channel to be closed, as it is when the server's process ends.
func (s *Server) ServeConn(ctx context.Context, rwc io.ReadWriteCloser) {
	defer rwc.Close()
	if !s.begin(&s.handlers) {
		return
	}
	defer s.handlers.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	c := &conn{server: s, rwc: rwc, name: s.streamName("conn"), ctx: ctx, cancel: cancel, turn: make(chan struct{}, 1), waiting: map[string]waiting{}}
	defer context.AfterFunc(ctx, func() {
		c.closed.Store(true)
		_ = rwc.Close() // whoever reads or writes is told so
	})()
	defer func() {
		if p := recover(); p != nil { // as over HTTP, a fault of ours must not be the client's
			s.problem(scope{}, "the server panicked: %v\n%s", p, debug.Stack())
		}
	}()
	s.mark(scope{}, trace.MarkConnection, c.name)
	c.serve()
}

// serve takes the lines one after the other, until there are no more.
func (c *conn) serve() {
	lines := newLineReader(c.rwc, c.server.opts.MaxBody)
	for {
		l, err := lines.next()
		if err != nil {
			break
		}
		c.takeLine(l)
	}
	if c.ctx.Err() == nil { // it was not us who ended it
		if process, ok := c.rwc.(killable); ok && process.Killed() {
			c.server.mark(scope{}, trace.MarkKilled, c.name)
		}
		c.server.frame(scope{}, trace.Frame{Dir: trace.FromClient, Session: c.name, Closed: true})
	}
	c.hangUp()
}

// hangUp ends everything that depends on the connection. In the second era a call that waits for a retry does not: that may come on
// another connection (2026-07-28, basic/transports/stdio#unexpected-termination).
func (c *conn) hangUp() {
	c.closed.Store(true)
	_ = c.rwc.Close()
	if c.session != nil {
		c.session.cancel()
	}
	c.mu.Lock()
	var left []waiting
	for _, w := range c.waiting {
		left = append(left, w)
	}
	c.mu.Unlock()
	for _, w := range left {
		w.giveUp()
	}
}

// takeLine takes in a line, whatever it is.
func (c *conn) takeLine(l line) {
	in := &inbound{raw: l.raw, conn: c}
	switch {
	case l.tooLong:
		c.record(l)
		c.complain(rpcErrorf(codeInvalidRequest, "the line is over the limit of %d bytes", c.server.opts.MaxBody))
		return
	case l.partial:
		c.record(l)
		return
	case len(bytes.TrimSpace(l.raw)) == 0:
		return // nothing between two line ends
	}
	if batch := c.batchOf(l.raw); len(batch) > 0 {
		if why := tooMany(batch); why != nil {
			c.record(l)
			c.complain(why)
		} else {
			c.takeBatch(batch)
		}
		return
	}
	m, bad := parse(l.raw)
	if bad != nil {
		c.record(l)
		c.complain(bad)
		return
	}
	in.message = m
	c.server.take(in)
	if m.isNotification() && *m.Method == methodCancelled { // which names no era
		c.cancelled(m.params["requestId"])
	}
}

// record records what is no message.
func (c *conn) record(l line) {
	c.server.frame(scope{}, trace.Frame{Dir: trace.FromClient, Raw: l.raw, Session: c.name, Partial: l.partial})
}

// batchOf reads a line as a batch, once there is a session; nil where it is none.
func (c *conn) batchOf(raw []byte) []json.RawMessage {
	if c.session == nil {
		return nil
	}
	return batchOf(c.session.revision, raw)
}

// revision is the one in which the connection speaks, as far as that is known.
func (c *conn) revision() Revision {
	switch {
	case c.session != nil:
		return c.session.revision
	case len(c.server.modern) > 0:
		return c.server.modern[0]
	}
	return c.server.legacy[0]
}

// complain tells the client of what was no message. The older revisions have no error for it, and nothing else may go onto the pipe.
func (c *conn) complain(why *RPCError) {
	if c.revision() >= V20251125 {
		_ = c.send(scope{}, trace.Frame{Dir: trace.ToClient, Raw: errorFrame(nil, why), Session: c.name},
			func() bool { return false }) // that it was lost is in the trace
	}
}

// refuse records a message and answers it, where it is a request, with an error. Others have no response.
func (c *conn) refuse(in *inbound, why *RPCError) {
	c.server.received(scope{}, "", in)
	if in.isRequest() {
		newExchange(c.server, in, scope{}, "").respond(http.StatusBadRequest, errorFrame(in.ID, why), false)
	}
}

// send records a frame and writes it as a line, in one step: the order of the trace is that of the wire. Gone says, once it is its turn,
// whether it is too late for the frame.
func (c *conn) send(of scope, frame trace.Frame, gone func() bool) error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	frame.Lost = gone() || c.closed.Load()
	c.server.frame(of, frame)
	if frame.Lost {
		return ErrNoStream
	}
	c.buffer = append(append(c.buffer[:0], frame.Raw...), '\n')
	if _, err := c.rwc.Write(c.buffer); err != nil {
		c.closed.Store(true)
		return ErrNoStream
	}
	return nil
}

// await has hungUp called if the exchange is to end without a response.
func (c *conn) await(x *exchange, hungUp func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.gone || hungUp == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[x.key] = waiting{x, hungUp}
}

// over forgets an exchange that has ended.
func (c *conn) over(x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting[x.key].x == x { // a client may have used the id twice
		delete(c.waiting, x.key)
	}
}

// cancelled gives up the request that a cancellation names. One that is unknown, or over, is no error
// (2026-07-28, basic/patterns/cancellation#error-handling).
func (c *conn) cancelled(id json.RawMessage) {
	c.mu.Lock()
	w, ok := c.waiting[idKey(id)]
	c.mu.Unlock()
	if ok {
		w.giveUp()
	}
}

// cancels is the scope of the request in flight that a message cancels; the zero scope for any other message, or connection.
func (c *conn) cancels(m *message) scope {
	if c == nil || *m.Method != methodCancelled {
		return scope{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.waiting[idKey(m.params["requestId"])]
	if !ok {
		return scope{}
	}
	return w.x.scope
}

// giveUp ends the exchange, on which nothing may be sent any more, and then what was to come of it.
func (w waiting) giveUp() {
	w.x.mu.Lock()
	over := w.x.gone
	w.x.end()
	w.x.mu.Unlock()
	if !over {
		w.hungUp()
	}
}
