package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// legacySession is a session of the first era: what initialize agreed on, and what is in flight.
type legacySession struct {
	server   *Server
	id       string
	revision Revision
	declared json.RawMessage
	ctx      context.Context
	cancel   context.CancelFunc

	mu        sync.Mutex
	asked     map[string]*asked      // our requests by idKey, answered ones too
	calls     map[string]*legacyCall // the client's calls in flight, by idKey
	samples   map[string]int         // how many requests each tool's plays have made
	taken     map[string]bool        // the ids of our requests, as they were written
	listeners []*exchange            // the client's GET streams, oldest first
	listening chan struct{}          // closed while there is one
}

// asked is a request that we sent.
type asked struct {
	by     scope
	answer chan Answer // takes one
	done   bool
}

// takeLegacy takes a message of the first era.
func (s *Server) takeLegacy(m *inbound) {
	if m.Method != nil && *m.Method == "initialize" && m.ID != nil {
		s.initialize(m)
		return
	}
	session, status, why := s.findSession(m)
	if why != nil {
		s.refuse(m, status, why)
		return
	}
	switch {
	case m.isResponse():
		session.takeResponse(m)
	case m.isNotification():
		session.takeNotification(m)
	case *m.Method == "tools/call":
		session.call(m)
	default:
		session.serve(m)
	}
}

// initialize agrees on a revision and opens a session (2025-11-25, basic/lifecycle#version-negotiation).
func (s *Server) initialize(m *inbound) {
	if m.conn != nil && m.conn.session != nil {
		s.refuse(m, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "this connection has been initialized before"))
		return
	}
	s.received(scope{}, "", m)
	if m.params == nil {
		s.fail(newExchange(s, m, scope{}, ""), m.ID, rpcErrorf(codeInvalidParams, "params of initialize must be an object, got %s", show(m.Params)))
		return
	}
	revision := s.legacy[0]
	if wanted, ok := m.params.text("protocolVersion"); ok && slices.Contains(s.legacy, Revision(wanted)) {
		revision = Revision(wanted)
	}
	session := &legacySession{server: s, revision: revision, declared: m.params["capabilities"],
		asked: map[string]*asked{}, calls: map[string]*legacyCall{}, samples: map[string]int{}, taken: map[string]bool{},
		listening: make(chan struct{})}
	s.begins(session, m)
	s.result(newExchange(s, m, scope{}, session.id), m.ID, revision, schema.InitializeResult, map[string]any{
		"protocolVersion": revision,
		"capabilities":    map[string]any{"tools": map[string]any{}},
		"serverInfo":      s.info(),
	})
}

// begins makes the session known: to those who come with its id over HTTP, or to its connection.
func (s *Server) begins(session *legacySession, m *inbound) {
	if m.conn != nil {
		session.id = m.conn.name
		session.ctx, session.cancel = context.WithCancel(m.conn.ctx)
		m.conn.session = session
		return
	}
	session.id = s.token()
	session.ctx, session.cancel = context.WithCancel(s.ctx)
	s.mu.Lock()
	s.sessions[session.id] = session
	s.mu.Unlock()
	m.w.Header().Set(headerSession, session.id)
}

func (s *Server) info() map[string]any { return map[string]any{"name": s.opts.Name, "version": "1"} }

// findSession returns the session that a request names (2025-11-25, basic/transports#session-management), or that of its connection.
func (s *Server) findSession(in *inbound) (*legacySession, int, *RPCError) {
	if in.conn != nil && in.conn.session != nil {
		return in.conn.session, 0, nil
	}
	if in.conn != nil && in.isRequest() && *in.Method == "ping" { // may come before all else (2025-11-25, basic/lifecycle#initialization)
		return &legacySession{server: s, id: in.conn.name}, 0, nil
	}
	if in.conn != nil {
		return nil, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "initialize comes first")
	}
	if version := Revision(in.header(headerVersion)); version != "" && !slices.Contains(s.legacy, version) {
		return nil, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "%s %q is not supported: want one of %v", headerVersion, version, s.legacy)
	}
	id := in.header(headerSession)
	if id == "" {
		return nil, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "%s is missing: initialize comes first", headerSession)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if session := s.sessions[id]; session != nil {
		return session, 0, nil
	}
	return nil, http.StatusNotFound, rpcErrorf(codeInvalidRequest, "session %s is unknown or has ended: initialize again", clip([]byte(id)))
}

// get opens a stream for what is not tied to a request (2025-11-25, basic/transports#listening-for-messages-from-the-server).
func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	in := &inbound{w: w, r: r}
	session, status, why := s.findSession(in)
	if why != nil {
		s.refuse(in, status, why)
		return
	}
	s.received(scope{}, session.id, in)
	x := newExchange(s, in, scope{}, session.id)
	x.open("get")
	session.listen(x)
	defer session.unlisten(x)
	defer context.AfterFunc(session.ctx, x.drop)()
	x.wait(nil)
}

// listen lets what is sent to the session go out on a GET stream.
func (l *legacySession) listen(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.listeners) == 0 {
		close(l.listening)
	}
	l.listeners = append(l.listeners, x)
}

func (l *legacySession) unlisten(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listeners = slices.DeleteFunc(l.listeners, func(other *exchange) bool { return other == x })
	if len(l.listeners) == 0 {
		l.listening = make(chan struct{})
	}
}

// listener returns the latest of the client's GET streams. Where it has none it waits for one, until ctx ends.
func (l *legacySession) listener(ctx context.Context) (*exchange, error) {
	for {
		var latest *exchange
		l.mu.Lock()
		if n := len(l.listeners); n > 0 {
			latest = l.listeners[n-1]
		}
		listening := l.listening
		l.mu.Unlock()
		if latest != nil {
			return latest, nil
		}
		select {
		case <-listening:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: the client has no GET stream open", ErrNoStream)
		}
	}
}

// delete ends a session: its plays are given up, and whoever comes back with its id gets 404.
func (s *Server) delete(w http.ResponseWriter, r *http.Request) {
	in := &inbound{w: w, r: r}
	session, status, why := s.findSession(in)
	if why != nil {
		s.refuse(in, status, why)
		return
	}
	s.received(scope{}, session.id, in)
	s.mu.Lock()
	delete(s.sessions, session.id)
	s.mu.Unlock()
	session.cancel()
	w.WriteHeader(http.StatusNoContent)
}

// serve answers a request that is not a call.
func (l *legacySession) serve(m *inbound) {
	s := l.server
	s.received(scope{}, l.id, m)
	x := newExchange(s, m, scope{}, l.id)
	switch *m.Method {
	case "ping":
		s.answer(x, resultFrame(m.ID, []byte("{}")), false)
	case "tools/list":
		s.result(x, m.ID, l.revision, schema.ListToolsResult, map[string]any{"tools": s.toolList()})
	default:
		s.fail(x, m.ID, rpcErrorf(codeMethodNotFound, "method %s is not supported", clip([]byte(*m.Method))))
	}
}

// takeNotification takes note of a notification. A cancelled call's play is given up, and its call gets no response
// (2025-11-25, basic/utilities/cancellation#behavior-requirements).
func (l *legacySession) takeNotification(m *inbound) {
	call := l.cancelled(m)
	var of scope
	if call != nil {
		of = call.scope()
	}
	l.server.received(of, l.id, m)
	if call != nil {
		call.cancel()
	}
	m.accepted()
}

// cancelled is the call in flight that a notification cancels; nil for any other.
func (l *legacySession) cancelled(m *inbound) *legacyCall {
	id := m.params["requestId"]
	if *m.Method != methodCancelled || id == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[idKey(id)]
}

// takeResponse hands the client's answer to the play that waits for it. An answer that nobody waits for is taken just as
// well: what it means is judged from the trace.
func (l *legacySession) takeResponse(m *inbound) {
	l.mu.Lock()
	question := l.asked[idKey(m.ID)]
	first := question != nil && !question.done
	if first {
		question.done = true
	}
	l.mu.Unlock()
	var of scope
	if question != nil {
		of = question.by
	}
	l.server.received(of, l.id, m)
	m.accepted()
	if first {
		question.answer <- answerOf(m.message)
	}
}

// answerOf reads a response. One with both result and error counts as an error: a success it is not.
func answerOf(m *message) Answer {
	if m.Error == nil {
		return Answer{Result: m.Result}
	}
	var e RPCError
	if err := json.Unmarshal(m.Error, &e); err != nil {
		e.Message = fmt.Sprintf("unreadable error %s: %v", clip(m.Error), err)
	}
	return Answer{Err: &e}
}

// legacyCall is a tools/call of the first era, and the way of its play to the client.
type legacyCall struct {
	*Session
	session *legacySession
	id      json.RawMessage // of the client's request
	x       *exchange
	cancel  context.CancelFunc
}

// call starts the play of a tool and waits until it has answered.
func (l *legacySession) call(m *inbound) {
	s := l.server
	p, tool, bad := s.readCall(m.message)
	var of scope
	if tool != nil {
		of = scope{tool.Name, s.count(tool)}
	}
	s.received(of, l.id, m)
	x := newExchange(s, m, of, l.id)
	if bad != nil {
		s.fail(x, m.ID, bad)
		return
	}
	if why := tool.checkArguments(p.arguments); why != "" {
		s.result(x, m.ID, l.revision, schema.CallToolResult, callResult(nil, errors.New(why)))
		return
	}
	ctx, cancel := context.WithCancel(l.ctx)
	c := &legacyCall{session: l, id: m.ID, x: x, cancel: cancel, Session: &Session{server: s, tool: tool, number: of.call, ctx: ctx, revision: l.revision,
		arguments: p.arguments, meta: p.meta, declared: l.declared, lines: m.conn != nil}}
	c.carrier = c
	key := idKey(m.ID)
	l.mu.Lock()
	l.calls[key] = c
	l.mu.Unlock()
	if s.opts.Responses != JSON && strings.Contains(m.header("Accept"), "text/event-stream") {
		x.open("post") // now that the client can cancel what it sees to have begun
	}
	s.startPlay(of, func() {
		defer cancel()
		c.run(func(result CallToolResult, _ error) {
			l.mu.Lock()
			if l.calls[key] == c { // a client may have used the id twice
				delete(l.calls, key)
			}
			l.mu.Unlock()
			if ctx.Err() != nil {
				x.drop()
				return
			}
			if result.raw != nil {
				s.answer(x, resultFrame(m.ID, result.raw), true)
				return
			}
			s.result(x, m.ID, l.revision, schema.CallToolResult, result)
		})
	})
	x.wait(nil) // a client that hangs up has not cancelled: the play goes on (2025-11-25, basic/transports#sending-messages-to-the-server)
}

// idSpace is how many ids each tool has for its requests in a session.
const idSpace = 1_000_000

// sample sends the requests, all before it waits, and gathers the answers. Ids are made of the tool's place and a
// count, so that they are the same in every run, whatever other plays do meanwhile.
func (c *legacyCall) sample(requests []outgoing) []Answer {
	answers := make([]Answer, len(requests))
	questions := make([]*asked, len(requests))
	for i, request := range requests {
		questions[i], _, answers[i].Err = c.begin(request)
	}
	for i, question := range questions {
		if question != nil {
			answers[i] = c.wait(question)
		}
	}
	return answers
}

// begin sends a request, and returns what waits for its answer, and its id.
func (c *legacyCall) begin(request outgoing) (*asked, json.RawMessage, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, nil, err // the call was given up: nobody wants to be asked any more
	}
	question := &asked{by: c.scope(), answer: make(chan Answer, 1)}
	id := c.ask(question, request.id)
	if err := c.send(c.ctx, requestFrame(id, "sampling/createMessage", request.params), request.hostile); err != nil {
		return nil, nil, err
	}
	return question, id, nil
}

func (c *legacyCall) wait(question *asked) Answer {
	select {
	case answer := <-question.answer:
		return answer
	case <-c.ctx.Done():
		return Answer{Err: c.ctx.Err()}
	}
}

func (c *legacyCall) start(request outgoing) (*Pending, error) {
	question, id, err := c.begin(request)
	if err != nil {
		return nil, err
	}
	return pend(id, func() Answer { return c.wait(question) }), nil
}

// ask enters a question under the id that is wanted, or under one of the tool's own where that is nil or taken, and returns the id.
func (c *legacyCall) ask(question *asked, wanted json.RawMessage) json.RawMessage {
	l := c.session
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples[c.tool.Name]++
	id := wanted
	if id == nil || l.taken[string(id)] || l.calls[idKey(id)] != nil {
		id = []byte(strconv.Itoa((c.tool.index+1)*idSpace + l.samples[c.tool.Name]))
	}
	l.taken[string(id)] = true
	l.asked[idKey(id)] = question
	return id
}

// send writes onto the call's own stream or connection, or onto the client's GET stream where responses are plain JSON.
func (c *legacyCall) send(ctx context.Context, frame []byte, hostile bool) error {
	x, err := c.stream(ctx)
	if err != nil {
		return err
	}
	return x.event(c.scope(), frame, hostile)
}

// stream is where messages to the client go: the call's own stream or connection, or the client's GET stream.
func (c *legacyCall) stream(ctx context.Context) (*exchange, error) {
	if c.server.opts.Responses != JSON || c.lines {
		return c.x, nil
	}
	return c.session.listener(ctx)
}

// notify is send or, where the call was given up and its stream may be gone, goes out on the client's GET stream, if it has one open.
func (c *legacyCall) notify(frame []byte) error {
	if !c.lines && c.ctx.Err() != nil {
		if listener, err := c.session.listener(ended); err == nil {
			return listener.event(c.scope(), frame, false)
		}
	}
	return c.send(ended, frame, false)
}

func (c *legacyCall) callID() json.RawMessage { return c.id }

func (c *legacyCall) inputRequired(Input) (*Retry, error) {
	return nil, fmt.Errorf("%w: InputRequiredResult came with %s, the client speaks %s", ErrEra, V20260728, c.revision)
}
