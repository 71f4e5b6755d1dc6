package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
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

	mu       sync.Mutex
	asked    map[string]*asked             // our requests by idKey, answered ones too
	calls    map[string]context.CancelFunc // the client's calls in flight, by idKey
	samples  map[string]int                // how many requests each tool's plays have made
	streams  int                           // response streams opened so far
	listener *exchange                     // the client's GET stream
	opened   chan struct{}                 // closed once there was a GET stream
}

// asked is a request that we sent.
type asked struct {
	by     scope
	answer chan Answer // takes one
	done   bool
}

// postLegacy serves a POST of the first era.
func (s *Server) postLegacy(w http.ResponseWriter, r *http.Request, raw []byte, m *message) {
	if m.Method != nil && *m.Method == "initialize" && m.ID != nil {
		s.initialize(w, r, raw, m)
		return
	}
	session, status, why := s.findSession(r)
	if why != nil {
		s.refuse(w, r, raw, status, why)
		return
	}
	switch {
	case m.isResponse():
		session.takeResponse(w, r, raw, m)
	case m.isNotification():
		session.takeNotification(w, r, raw, m)
	case *m.Method == "tools/call":
		session.call(w, r, raw, m)
	default:
		session.serve(w, r, raw, m)
	}
}

// initialize agrees on a revision and opens a session (2025-11-25, basic/lifecycle#version-negotiation).
func (s *Server) initialize(w http.ResponseWriter, r *http.Request, raw []byte, m *message) {
	var p struct {
		ProtocolVersion Revision        `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		s.received(scope{}, r, raw)
		newExchange(s, w, scope{}, "", "").respond(http.StatusOK, errorFrame(m.ID, rpcErrorf(codeInvalidParams, "params of initialize: %v", err)))
		return
	}
	revision := s.legacy[0]
	if slices.Contains(s.legacy, p.ProtocolVersion) {
		revision = p.ProtocolVersion
	}
	session := &legacySession{server: s, id: s.token(), revision: revision, declared: p.Capabilities,
		asked: map[string]*asked{}, calls: map[string]context.CancelFunc{}, samples: map[string]int{}, opened: make(chan struct{})}
	session.ctx, session.cancel = context.WithCancel(s.ctx)
	s.mu.Lock()
	s.sessions[session.id] = session
	s.mu.Unlock()
	s.received(scope{}, r, raw)
	w.Header().Set(headerSession, session.id)
	s.result(newExchange(s, w, scope{}, session.id, ""), m.ID, revision, schema.InitializeResult, map[string]any{
		"protocolVersion": revision,
		"capabilities":    map[string]any{"tools": map[string]any{}},
		"serverInfo":      s.info(),
	})
}

func (s *Server) info() map[string]any { return map[string]any{"name": s.opts.Name, "version": "1"} }

// findSession returns the session that a request names (2025-11-25, basic/transports#session-management).
func (s *Server) findSession(r *http.Request) (*legacySession, int, *RPCError) {
	if version := Revision(r.Header.Get(headerVersion)); version != "" && !slices.Contains(s.legacy, version) {
		return nil, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "%s %q is not supported: want one of %v", headerVersion, version, s.legacy)
	}
	id := r.Header.Get(headerSession)
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
	if len(s.legacy) == 0 || Revision(r.Header.Get(headerVersion)).Modern() {
		w.Header().Set("Allow", "POST")
		s.refuse(w, r, nil, http.StatusMethodNotAllowed, rpcErrorf(codeInvalidRequest, "%s has no GET stream", V20260728))
		return
	}
	session, status, why := s.findSession(r)
	if why != nil {
		s.refuse(w, r, nil, status, why)
		return
	}
	s.received(scope{}, r, nil)
	x := newExchange(s, w, scope{}, session.id, "get")
	x.open()
	session.mu.Lock()
	if session.listener == nil {
		close(session.opened)
	}
	session.listener = x
	session.mu.Unlock()
	stop := context.AfterFunc(session.ctx, x.drop)
	defer stop()
	x.wait(r)
}

// delete ends a session: its plays are given up, and whoever comes back with its id gets 404.
func (s *Server) delete(w http.ResponseWriter, r *http.Request) {
	if len(s.legacy) == 0 || Revision(r.Header.Get(headerVersion)).Modern() {
		w.Header().Set("Allow", "POST")
		s.refuse(w, r, nil, http.StatusMethodNotAllowed, rpcErrorf(codeInvalidRequest, "%s has no sessions to delete", V20260728))
		return
	}
	session, status, why := s.findSession(r)
	if why != nil {
		s.refuse(w, r, nil, status, why)
		return
	}
	s.received(scope{}, r, nil)
	s.mu.Lock()
	delete(s.sessions, session.id)
	s.mu.Unlock()
	session.cancel()
	w.WriteHeader(http.StatusNoContent)
}

// serve answers a request that is not a call.
func (l *legacySession) serve(w http.ResponseWriter, r *http.Request, raw []byte, m *message) {
	s := l.server
	s.received(scope{}, r, raw)
	x := newExchange(s, w, scope{}, l.id, "")
	switch *m.Method {
	case "ping":
		x.respond(http.StatusOK, resultFrame(m.ID, json.RawMessage("{}")))
	case "tools/list":
		s.result(x, m.ID, l.revision, schema.ListToolsResult, map[string]any{"tools": s.toolList()})
	default:
		x.respond(http.StatusOK, errorFrame(m.ID, rpcErrorf(codeMethodNotFound, "method %s is not supported", clip([]byte(*m.Method)))))
	}
}

// takeNotification takes note of a notification. A cancelled call's play is given up, and its call gets no response
// (2025-11-25, basic/utilities/cancellation#behavior-requirements).
func (l *legacySession) takeNotification(w http.ResponseWriter, r *http.Request, raw []byte, m *message) {
	l.server.received(scope{}, r, raw)
	if *m.Method == "notifications/cancelled" {
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			l.mu.Lock()
			cancel := l.calls[idKey(p.RequestID)]
			l.mu.Unlock()
			if cancel != nil {
				cancel()
			}
		}
	}
	w.WriteHeader(http.StatusAccepted)
}

// takeResponse hands the client's answer to the play that waits for it. An answer that nobody waits for is taken just as
// well: what it means is judged from the trace.
func (l *legacySession) takeResponse(w http.ResponseWriter, r *http.Request, raw []byte, m *message) {
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
	l.server.received(of, r, raw)
	w.WriteHeader(http.StatusAccepted)
	if first {
		question.answer <- answerOf(m)
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
	x       *exchange
}

// call starts the play of a tool and waits until it has answered.
func (l *legacySession) call(w http.ResponseWriter, r *http.Request, raw []byte, m *message) {
	s := l.server
	p, tool, bad := s.readCall(m.Params)
	if bad != nil {
		s.received(scope{}, r, raw)
		newExchange(s, w, scope{}, l.id, "").respond(http.StatusOK, errorFrame(m.ID, bad))
		return
	}
	of := scope{tool.Name, s.count(tool)}
	s.received(of, r, raw)
	l.mu.Lock()
	l.streams++
	x := newExchange(s, w, of, l.id, fmt.Sprintf("post-%d", l.streams))
	l.mu.Unlock()
	if why := tool.checkArguments(p.Arguments); why != "" {
		s.result(x, m.ID, l.revision, schema.CallToolResult, callResult(nil, errors.New(why)))
		return
	}
	ctx, cancel := context.WithCancel(l.ctx)
	key := idKey(m.ID)
	l.mu.Lock()
	l.calls[key] = cancel
	l.mu.Unlock()
	call := &legacyCall{session: l, x: x, Session: &Session{server: s, tool: tool, number: of.call, ctx: ctx, revision: l.revision,
		arguments: p.Arguments, meta: p.Meta, declared: l.declared}}
	call.carrier = call
	if s.opts.Responses != JSON && strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		x.open()
	}
	started := s.startPlay(func() {
		defer cancel()
		result, _ := call.run()
		l.mu.Lock()
		delete(l.calls, key)
		l.mu.Unlock()
		if ctx.Err() != nil {
			x.drop()
			return
		}
		s.result(x, m.ID, l.revision, schema.CallToolResult, result)
	})
	if started {
		x.wait(r) // a client that hangs up has not cancelled: the play goes on (basic/transports#sending-messages-to-the-server)
	}
}

// sample sends the requests, all before it waits, and gathers the answers. Ids are made of the tool's place and a
// count, so that they are the same in every run, whatever other plays do meanwhile.
func (c *legacyCall) sample(requests []outgoing) []Answer {
	answers := make([]Answer, len(requests))
	questions := make([]*asked, len(requests))
	for i, request := range requests {
		c.session.mu.Lock()
		c.session.samples[c.tool.Name]++
		id := (c.tool.index+1)*1000 + c.session.samples[c.tool.Name]
		questions[i] = &asked{by: c.scope(), answer: make(chan Answer, 1)}
		c.session.asked[fmt.Sprint(id)] = questions[i]
		c.session.mu.Unlock()
		if err := c.send(requestFrame(id, "sampling/createMessage", request.params), request.hostile); err != nil {
			answers[i].Err = err
			questions[i] = nil
		}
	}
	for i, question := range questions {
		if question == nil {
			continue
		}
		select {
		case answers[i] = <-question.answer:
		case <-c.ctx.Done():
			answers[i].Err = c.ctx.Err()
		}
	}
	return answers
}

// send writes onto the call's own stream, or onto the client's GET stream where responses are plain JSON.
func (c *legacyCall) send(frame []byte, hostile bool) error {
	if c.server.opts.Responses != JSON {
		return c.x.event(frame, hostile)
	}
	select {
	case <-c.session.opened:
	case <-c.ctx.Done():
		return fmt.Errorf("%w: the client opened no GET stream", ErrNoStream)
	}
	c.session.mu.Lock()
	listener := c.session.listener
	c.session.mu.Unlock()
	return listener.event(frame, hostile)
}

func (c *legacyCall) inputRequired(Input) (*Retry, error) {
	return nil, fmt.Errorf("%w: InputRequiredResult came with %s, the client speaks %s", ErrEra, V20260728, c.revision)
}
