package server

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// exchange is an HTTP request of the client that waits for something: a POST for its response, with or without messages
// before it, or a GET for whatever comes. Only the handler's goroutine may touch the ResponseWriter after it has returned,
// so everything else goes through the lock and stops at gone.
type exchange struct {
	server  *Server
	scope   scope
	session string
	stream  string // the stream's name in the trace

	mu      sync.Mutex
	w       http.ResponseWriter
	started bool // SSE headers are out
	gone    bool // answered or hung up: nothing can be written any more
	done    chan struct{}
}

func newExchange(s *Server, w http.ResponseWriter, of scope, session, stream string) *exchange {
	return &exchange{server: s, w: w, scope: of, session: session, stream: stream, done: make(chan struct{})}
}

// open sends the headers of a stream, so that the client knows that there is one.
func (x *exchange) open() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.start()
}

// start sends the headers once and returns what to record of them with the first event. The lock is held.
func (x *exchange) start() *trace.HTTP {
	if x.started || x.gone {
		return nil
	}
	x.started = true
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	x.w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(x.w).Flush()
	return &trace.HTTP{Status: http.StatusOK, Header: trace.SelectHeader(h, "")}
}

// event sends one message on the stream, opening it where it is not open yet. It returns ErrNoStream when the client is gone.
func (x *exchange) event(raw []byte, hostile bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.write(raw, hostile)
}

// write is event with the lock held. The frame is recorded before it is written: the client may answer
// before Write returns, and the trace must have the question first.
func (x *exchange) write(raw []byte, hostile bool) error {
	frame := trace.Frame{Dir: trace.ToClient, Raw: raw, Stream: x.stream, Session: x.session, Hostile: hostile}
	if x.gone {
		frame.Lost = true
		x.server.frame(x.scope, frame)
		return ErrNoStream
	}
	frame.HTTP = x.start()
	x.server.frame(x.scope, frame)
	event := make([]byte, 0, len(raw)+8)
	event = append(event, "data: "...)
	for _, b := range raw { // a hostile frame may hold newlines, which SSE splits over data lines
		event = append(event, b)
		if b == '\n' {
			event = append(event, "data: "...)
		}
	}
	event = append(event, "\n\n"...)
	if _, err := x.w.Write(event); err != nil {
		return ErrNoStream
	}
	if err := http.NewResponseController(x.w).Flush(); err != nil {
		return ErrNoStream
	}
	return nil
}

// respond sends the response and ends the exchange: as the last event where a stream is open, as a JSON body otherwise.
func (x *exchange) respond(status int, raw []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.started || x.gone {
		_ = x.write(raw, false)
		x.end()
		return
	}
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	x.server.frame(x.scope, trace.Frame{Dir: trace.ToClient, Raw: raw, Session: x.session,
		HTTP: &trace.HTTP{Status: status, Header: trace.SelectHeader(h, "")}})
	x.w.WriteHeader(status)
	_, _ = x.w.Write(raw)
	x.end()
}

// drop ends the exchange without a response.
func (x *exchange) drop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.end()
}

// end lets the handler return. The lock is held.
func (x *exchange) end() {
	if !x.gone {
		x.gone = true
		close(x.done)
	}
}

// wait keeps the handler until the exchange is over and reports whether the client hung up before it was.
func (x *exchange) wait(r *http.Request) (hungUp bool) {
	select {
	case <-x.done:
		return false
	case <-x.server.ctx.Done():
		x.drop()
		return false
	case <-r.Context().Done():
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.gone || x.server.ctx.Err() != nil {
		return false
	}
	x.end()
	x.server.frame(x.scope, trace.Frame{Dir: trace.FromClient, Stream: x.stream, Session: x.session, Closed: true})
	return true
}
