package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Session is a handler's view of the client: one call of one tool. Its methods are safe for concurrent use until the
// handler returns. For samples that are in flight together use [Session.SampleAll]: in 2026-07-28 each concurrent
// Sample is a round of its own.
type Session struct {
	server   *Server
	tool     *serverTool
	number   int // of the call, from 1
	ctx      context.Context
	revision Revision
	protocol protocol
	lines    bool // a frame is a line, and must not contain a line end

	call *Call // in the journal; guarded by the server's mutex

	mu       sync.Mutex
	asks     int // the number of conversations that Ask began
	amend    func(*CreateMessageParams)
	meta     object          // of the client's pending request
	declared json.RawMessage // the client's latest capabilities
}

// protocol sends a handler's requests in the way of the client's revision. See the methods of [Session].
type protocol interface {
	// sample sends the requests together and returns when each has a response or is abandoned.
	sample(requests []outgoing) []Response
	start(request outgoing) (*Pending, error)
	inputRequired(in InputRequiredResult) (*Retry, error)
	// send writes a frame, as it is, onto the stream of the call. If a stream may still be opened, it waits until ctx
	// ends.
	send(ctx context.Context, frame []byte, hostile bool) error
	// notify writes a notification. After the call was abandoned, it may use another stream.
	notify(frame []byte) error
	style(style SSEStyle)
	// pending returns the client's request that waits for a response.
	pending() *exchange
}

func (s *Session) scope() scope { return scope{s.tool.Name, s.number} }

// Call returns the call, as the journal has it so far.
func (s *Session) Call() Call {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	return s.call.copy()
}

// Revision returns the revision that the client speaks.
func (s *Session) Revision() Revision { return s.revision }

// Context is done when the call is abandoned: the client cancelled it, its session ended, or the server is closed.
func (s *Session) Context() context.Context { return s.ctx }

// Declares reports whether the client has declared the capability with this path, such as "sampling", "tools". Any
// value but null counts; its shape is not checked here.
func (s *Session) Declares(path ...string) bool {
	s.mu.Lock()
	value := s.declared
	s.mu.Unlock()
	for _, name := range path {
		value = objectOf(value)[name]
	}
	return len(value) > 0 && !isNull(value)
}

// update takes the id and the _meta of the retry that continues the call.
func (s *Session) update(id json.RawMessage, meta object) {
	s.mu.Lock()
	s.meta, s.declared = meta, meta[metaCapabilities]
	s.mu.Unlock()
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.call.ID, s.call.ProgressToken = id, progressToken(meta)
}

// progressToken returns a valid progress token; nil without one.
func progressToken(meta object) json.RawMessage {
	if token := meta["progressToken"]; isID(token) {
		return token
	}
	return nil
}

func (s *Session) currentMeta() object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meta
}

// Mark records a note at this point of the trace.
func (s *Session) Mark(name, text string) { s.server.mark(s.scope(), name, text) }

// Progress sends notifications/progress for the call. Without a progress token from the client it does nothing. A total
// of 0 is left out. The words of the message are optional. The progress must increase with each call (2025-11-25,
// basic/utilities/progress). It returns ErrNoStream when the client has disconnected or, with [JSON] responses, has no
// GET stream, and ErrInvalid for NaN and infinity.
func (s *Session) Progress(progress, total float64, message ...string) error {
	token := progressToken(s.currentMeta())
	if token == nil {
		return nil
	}
	params, err := encode(struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Total    float64         `json:"total,omitempty"`
		Message  string          `json:"message,omitempty"`
	}{token, progress, total, strings.Join(message, " ")})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return s.protocol.send(doNotWait, requestFrame(nil, "notifications/progress", params), false)
}

// doNotWait is a context that is done.
var doNotWait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// run runs the handler, however it ends, and passes on the result of the call and the handler's error.
func (s *Session) run(respond func(CallToolResult, error)) {
	s.Mark(trace.MarkHandlerStarted, "")
	var value any
	err, returned := errors.New("the handler did not return: it called runtime.Goexit, as t.FailNow does"), false
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the handler panicked: %v", p)
		}
		note := ""
		if err != nil {
			note = err.Error()
		}
		if !returned {
			s.server.problem(s.scope(), "tool %s: %s", s.tool.Name, note)
		}
		s.Mark(trace.MarkHandlerEnded, note)
		result := callResult(value, err)
		result.raw = s.onOneLine(result.raw)
		s.ended(result, err)
		respond(result, err)
	}()
	value, err = s.tool.Handler(s)
	returned = true
}

// validate checks a result of the server before it is sent, so that our mistake never counts as the client's.
func (s *Server) validate(of scope, revision Revision, name schema.Name, raw []byte) {
	if err := schema.Validate(string(revision), name, raw); err != nil {
		s.problem(of, "the server's own %s is not valid in %s: %v", name, revision, err)
	}
}
