package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// batchOf reads a batch: an array of messages that is not empty. Nil for anything else. 2025-03-26 alone has batches (basic/index#batching).
func batchOf(revision Revision, raw []byte) []json.RawMessage {
	var batch []json.RawMessage
	if revision != V20250326 || !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("[")) || json.Unmarshal(raw, &batch) != nil {
		return nil
	}
	return batch
}

// mostInBatch is how many messages a batch may have: each request is served beside the others.
const mostInBatch = 1000

// tooMany is why a batch is not taken; nil where it is.
func tooMany(batch []json.RawMessage) *RPCError {
	if len(batch) <= mostInBatch {
		return nil
	}
	return rpcErrorf(codeInvalidRequest, "a batch of %d messages: want %d at the most", len(batch), mostInBatch)
}

// markBatch notes that the messages that follow came, or went out, as one. Each is recorded by itself, as if it had been alone.
func (s *Server) markBatch(of scope, messages int, in string) {
	s.mark(of, trace.MarkBatch, fmt.Sprintf("%d messages in one %s", messages, in))
}

// takeBatch takes the messages of a batch as if each had come in a line, which is also how they are answered.
func (c *conn) takeBatch(batch []json.RawMessage) {
	c.server.markBatch(scope{}, len(batch), "line")
	for _, raw := range batch {
		m, bad := parse(raw)
		if bad != nil {
			c.record(line{raw: raw})
			c.complain(bad)
			continue
		}
		c.server.take(&inbound{raw: raw, message: m, conn: c})
	}
}

// postedBatch reads the body of a POST as a batch; nil where it is none, or comes in no session that has batches.
func (s *Server) postedBatch(in *inbound) []json.RawMessage {
	s.mu.Lock()
	session := s.sessions[in.header(headerSession)]
	s.mu.Unlock()
	if session == nil {
		return nil
	}
	return batchOf(session.revision, in.raw)
}

// takePosted takes the messages of a batch as if each had come in a POST of its own, and puts what is said to them together: on one stream or, where
// plain JSON is wanted, in one array. Without a request among them nothing is said.
func (s *Server) takePosted(in *inbound, batch []json.RawMessage) {
	s.markBatch(scope{}, len(batch), "body")
	together := &together{w: in.w, flush: http.NewResponseController(in.w),
		plain: s.opts.Responses == JSON || !strings.Contains(in.header("Accept"), "text/event-stream")}
	var serving sync.WaitGroup
	for _, raw := range batch {
		one := &inbound{raw: raw, r: in.r, w: &part{of: together, header: http.Header{}}}
		m, bad := parse(raw)
		if bad == nil && m.isRequest() && *m.Method == "initialize" {
			bad = rpcErrorf(codeInvalidRequest, "initialize is no part of a batch") // 2025-03-26, basic/lifecycle#initialization
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
			defer together.aborts()
			s.take(one)
		})
	}
	serving.Wait()
	together.end()
}

// together is the one response to the messages of a batch.
type together struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	plain bool // an array in place of a stream

	mu      sync.Mutex
	started bool
	said    [][]byte // the parts of the array
	abort   any      // why the connection is to be broken
}

// aborts keeps a panic of a handler's, which breaks the connection, for the end.
func (t *together) aborts() {
	if p := recover(); p != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.abort = p
	}
}

// end sends what has not been sent.
func (t *together) end() {
	switch {
	case t.abort != nil:
		panic(t.abort)
	case t.started:
	case t.said == nil:
		t.w.WriteHeader(http.StatusAccepted)
	default:
		t.w.Header().Set("Content-Type", "application/json")
		_, _ = t.w.Write(joinBatch(t.said)) // who has gone hears nothing
	}
}

// event writes to the stream, which it begins where it has not begun, with what was kept for the array.
func (t *together) event(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var before []byte
	if !t.started {
		t.started = true
		t.w.Header().Set("Content-Type", "text/event-stream")
		t.w.Header().Set("Cache-Control", "no-cache")
		for _, raw := range t.said {
			before = plainEvent(before, raw)
		}
	}
	_, err := t.w.Write(append(before, b...))
	if err == nil {
		err = t.flush.Flush()
	}
	return len(b), err
}

// plainEvent appends a message as an event in the plainest style.
func plainEvent(b, raw []byte) []byte { return new(Style).appendEvent(b, event{raw: raw}, false) }

// body adds a message to the array, or to the stream where there is one already.
func (t *together) body(raw []byte) (int, error) {
	t.mu.Lock()
	kept := t.plain && !t.started
	if kept {
		t.said = append(t.said, bytes.Clone(raw))
	}
	t.mu.Unlock()
	if !kept {
		if _, err := t.event(plainEvent(nil, raw)); err != nil {
			return 0, err
		}
	}
	return len(raw), nil
}

// part is what the response to one message of a batch is written to, in one piece for each event or body.
type part struct {
	of     *together
	header http.Header
}

func (p *part) Header() http.Header { return p.header }
func (p *part) WriteHeader(int)     {} // the batch has one status
func (p *part) FlushError() error   { return nil }

func (p *part) Write(b []byte) (int, error) {
	if p.header.Get("Content-Type") == "text/event-stream" {
		return p.of.event(b)
	}
	return p.of.body(b)
}

// joinBatch is the array of the messages.
func joinBatch(messages [][]byte) []byte {
	return append(append([]byte("["), bytes.Join(messages, []byte(","))...), ']')
}

// StartBatch is [Session.Start] for several requests that go out as one: a JSON-RPC batch, which every client of 2025-03-26 has to be able to
// receive (2025-03-26, basic/index#batching). The pending requests are in the order of the params. No other revision has batches: there it
// returns ErrEra. Where one of the params cannot be sent nothing is.
func (s *Session) StartBatch(params ...any) ([]*Pending, error) {
	if s.revision != V20250326 {
		return nil, fmt.Errorf("%w: batches are a matter of %s alone, the client speaks %s", ErrEra, V20250326, s.revision)
	}
	var requests []outgoing
	for _, p := range params {
		request, err := s.outgoing(p)
		if err != nil {
			return nil, err
		}
		requests = append(requests, request)
	}
	c := s.carrier.(*legacyCall) // the only one of its revision
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	pending := make([]*Pending, len(requests))
	frames := make([][]byte, len(requests))
	for i, request := range requests {
		question, out := c.question(request)
		frames[i] = out.frame
		pending[i] = pend(out, func() Answer { return c.wait(question) })
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

// batch sends messages as one: on a stream as one event, on a connection as one line.
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

// sendBatch is send for messages that make one line.
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
	if _, err := c.rwc.Write(append(joinBatch(frames), '\n')); err != nil {
		c.closed.Store(true)
		return ErrNoStream
	}
	return nil
}
