package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// batchOf parses a batch: a JSON array with at least one message. It returns nil for anything else, and in revisions
// other than 2025-03-26, which alone has batches (basic/index#batching).
func batchOf(revision Revision, raw []byte) []json.RawMessage {
	var batch []json.RawMessage
	array := bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("["))
	if !revision.HasBatches() || !array || json.Unmarshal(raw, &batch) != nil {
		return nil
	}
	return batch
}

// maxBatch limits the messages of a batch, because its requests are served concurrently.
const maxBatch = 1000

func tooMany(batch []json.RawMessage) *RPCError {
	if len(batch) <= maxBatch {
		return nil
	}
	return rpcErrorf(codeInvalidRequest, "a batch of %d messages: expected at most %d", len(batch), maxBatch)
}

// markBatch records that the next messages came, or go out, as one batch. Each has a frame of its own.
func (s *Server) markBatch(of scope, messages int, in string) {
	s.mark(of, trace.MarkBatch, fmt.Sprintf("%d messages in one %s", messages, in))
}

// takeBatch takes the messages of a batch as if each had come as a line. They get separate responses.
func (c *conn) takeBatch(batch []json.RawMessage) {
	c.server.markBatch(scope{}, len(batch), "line")
	for _, raw := range batch {
		m, bad := parse(raw)
		if bad != nil {
			c.reject(line{raw: raw}, bad)
			continue
		}
		c.server.take(&inbound{raw: raw, message: m, conn: c})
	}
}

// postedBatch parses the body of a POST as a batch; nil without a session that has batches.
func (s *Server) postedBatch(in *inbound) []json.RawMessage {
	s.mu.Lock()
	session := s.sessions[in.header(headerSession)]
	s.mu.Unlock()
	if session == nil {
		return nil
	}
	return batchOf(session.revision, in.raw)
}

// takePosted takes the messages of a batch as if each had come in its own POST, and combines the responses: on one
// stream or, for plain JSON, in one array. A batch without a request gets no response.
func (s *Server) takePosted(in *inbound, batch []json.RawMessage) {
	s.markBatch(scope{}, len(batch), "body")
	all := &batchResponse{w: in.w, flush: http.NewResponseController(in.w),
		plain: s.opts.ResponseMode == JSON || !in.takesEvents()}
	var serving sync.WaitGroup
	for _, raw := range batch {
		one := &inbound{raw: raw, r: in.r, w: &batchPart{of: all, header: http.Header{}}}
		m, bad := parse(raw)
		if bad == nil && m.isRequest() && *m.Method == "initialize" { // 2025-03-26, basic/lifecycle#initialization
			bad = rpcErrorf(codeInvalidRequest, "initialize must not be part of a batch")
		}
		if one.message = m; bad != nil {
			s.refuse(one, http.StatusBadRequest, bad)
			continue
		}
		if !m.isRequest() {
			s.take(one)
			continue
		}
		serving.Go(func() {
			defer all.catch()
			s.take(one)
		})
	}
	serving.Wait()
	all.end()
}

type batchResponse struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	plain bool // an array instead of a stream

	mu      sync.Mutex
	started bool     // the stream
	parts   [][]byte // of the array
	panic   any      // breaks the connection
}

// catch keeps the panic of a handler, which breaks the connection, until the end.
func (r *batchResponse) catch() {
	if p := recover(); p != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.panic = p
	}
}

func (r *batchResponse) end() {
	switch {
	case r.panic != nil:
		panic(r.panic)
	case r.started:
	case r.parts == nil:
		r.w.WriteHeader(http.StatusAccepted)
	default:
		r.w.Header().Set("Content-Type", "application/json")
		_, _ = r.w.Write(joinBatch(r.parts)) // fails if the client has gone
	}
}

// event writes to the stream. The first event comes after what was kept for the array.
func (r *batchResponse) event(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var before []byte
	if !r.started {
		r.started = true
		r.w.Header().Set("Content-Type", "text/event-stream")
		r.w.Header().Set("Cache-Control", "no-cache")
		for _, raw := range r.parts {
			before = plainEvent(before, raw)
		}
	}
	_, err := r.w.Write(append(before, b...))
	if err == nil {
		err = r.flush.Flush()
	}
	return len(b), err
}

func plainEvent(b, raw []byte) []byte { return new(SSEStyle).appendEvent(b, event{raw: raw}, false) }

// body adds a message to the array or, once there is one, to the stream.
func (r *batchResponse) body(raw []byte) (int, error) {
	r.mu.Lock()
	kept := r.plain && !r.started
	if kept {
		r.parts = append(r.parts, bytes.Clone(raw))
	}
	r.mu.Unlock()
	if !kept {
		if _, err := r.event(plainEvent(nil, raw)); err != nil {
			return 0, err
		}
	}
	return len(raw), nil
}

// batchPart is the ResponseWriter of one message of a batch. Each Write is one event, or a whole body.
type batchPart struct {
	of     *batchResponse
	header http.Header
}

func (p *batchPart) Header() http.Header { return p.header }
func (p *batchPart) WriteHeader(int)     {} // the batch has one status
func (p *batchPart) FlushError() error   { return nil }

func (p *batchPart) Write(b []byte) (int, error) {
	if p.header.Get("Content-Type") == "text/event-stream" {
		return p.of.event(b)
	}
	return p.of.body(b)
}

func joinBatch(messages [][]byte) []byte {
	return append(append([]byte("["), bytes.Join(messages, []byte(","))...), ']')
}

// StartBatch is [Session.Start] for several requests in one JSON-RPC batch, which a client of 2025-03-26 must accept
// (2025-03-26, basic/index#batching). The pending requests are in the order of the params. If one of the params cannot
// be sent, nothing is. Other revisions have no batches: there it returns ErrRevision.
func (t Transport) StartBatch(params ...any) ([]*Pending, error) {
	if !t.s.revision.HasBatches() {
		return nil, t.s.hasNo("batches")
	}
	var requests []outgoing
	for _, p := range params {
		request, err := t.s.outgoing(p, nil)
		if err != nil {
			return nil, err
		}
		requests = append(requests, request)
	}
	c := t.s.protocol.(*legacyCall)
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	pending := make([]*Pending, len(requests))
	frames := make([][]byte, len(requests))
	for i, request := range requests {
		registered, out := c.request(request)
		frames[i] = out.frame
		pending[i] = c.pend(out, func() Response { return c.wait(registered) })
	}
	x, err := c.stream(c.ctx)
	if err == nil {
		err = x.batch(c.scope(), frames)
	}
	if err != nil {
		return nil, err
	}
	return pending, nil
}

// batch sends messages as one event of a stream, or one line of a connection.
func (x *exchange) batch(of scope, frames [][]byte) error {
	if x.conn != nil {
		return x.conn.sendBatch(x, of, frames)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.start("post")
	x.server.markBatch(of, len(frames), "event")
	for _, raw := range frames {
		frame := x.frame(raw, false)
		frame.Lost = x.gone
		x.server.frame(of, frame)
	}
	if x.gone || !x.emit(event{raw: joinBatch(frames)}) {
		return ErrNoStream
	}
	return nil
}

func (c *conn) sendBatch(x *exchange, of scope, frames [][]byte) error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	x.mu.Lock()
	lost := x.gone || c.closed.Load()
	x.mu.Unlock()
	c.server.markBatch(of, len(frames), "line")
	for _, raw := range frames {
		c.server.frame(of, trace.Frame{Dir: trace.ToClient, Raw: raw, Session: c.name, Lost: lost})
	}
	if lost {
		return ErrNoStream
	}
	return c.write(append(joinBatch(frames), '\n'))
}
