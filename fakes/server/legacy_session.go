package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// legacySession is a session up to 2025-11-25: what initialize negotiated, and what is in flight.
type legacySession struct {
	server   *Server
	id       string
	revision Revision
	declared json.RawMessage
	ctx      context.Context
	cancel   context.CancelFunc

	mu        sync.Mutex
	sent      map[string]*sentRequest // our requests by idKey, also those with a response
	calls     map[string]*legacyCall  // the client's calls in flight, by idKey
	counts    map[string]int          // the requests of each tool's handlers
	taken     map[string]bool         // the ids of our requests, as written
	listeners []*exchange             // the client's GET streams, oldest first
	listening chan struct{}           // closed while there is one
	kept      map[string]*resumable   // streams that can be resumed, by name
}

// initialize negotiates a revision and opens a session (2025-11-25, basic/lifecycle#version-negotiation).
func (s *Server) initialize(m *inbound) {
	if m.conn != nil && m.conn.session != nil {
		s.refuse(m, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "this connection is already initialized"))
		return
	}
	s.received(scope{}, "", m)
	if m.params == nil {
		s.fail(newExchange(s, m, scope{}, ""), m.ID, notA("an object", "params", "initialize", m.Params))
		return
	}
	revision := s.legacy[0]
	if wanted, ok := m.params.text("protocolVersion"); ok && slices.Contains(s.legacy, Revision(wanted)) {
		revision = Revision(wanted)
	}
	session := &legacySession{server: s, revision: revision, declared: m.params["capabilities"],
		sent: map[string]*sentRequest{}, calls: map[string]*legacyCall{}, counts: map[string]int{},
		taken: map[string]bool{}, kept: map[string]*resumable{}, listening: make(chan struct{})}
	session.begin(m)
	if s.replay != nil {
		s.replay.initialized(newExchange(s, m, scope{}, session.id), m, session)
		return
	}
	s.result(newExchange(s, m, scope{}, session.id), m.ID, revision, schema.InitializeResult, map[string]any{
		"protocolVersion": revision,
		"capabilities":    map[string]any{"tools": map[string]any{"listChanged": true}},
		"serverInfo":      s.info(),
	})
}

// begin registers the session: by its id over HTTP, or with its connection.
func (l *legacySession) begin(m *inbound) {
	if m.conn != nil {
		l.id = m.conn.name
		l.ctx, l.cancel = context.WithCancel(m.conn.ctx)
		m.conn.session = l
		return
	}
	s := l.server
	l.id = s.token()
	l.ctx, l.cancel = context.WithCancel(s.ctx)
	s.mu.Lock()
	s.sessions[l.id] = l
	s.mu.Unlock()
	m.w.Header().Set(headerSession, l.id)
}

func (s *Server) info() map[string]any { return map[string]any{"name": s.opts.Name, "version": "1"} }

// findSession returns the session of a request (2025-11-25, basic/transports#session-management) or of its connection.
func (s *Server) findSession(in *inbound) (*legacySession, int, *RPCError) {
	if in.conn != nil {
		switch {
		case in.conn.session != nil:
			return in.conn.session, 0, nil
		case in.isRequest() && *in.Method == "ping":
			// Allowed before initialize (2025-11-25, basic/lifecycle#initialization).
			return &legacySession{server: s, id: in.conn.name}, 0, nil
		}
		return nil, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "initialize comes first")
	}
	if version := Revision(in.header(headerVersion)); version != "" && !slices.Contains(s.legacy, version) {
		return nil, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "%s %q is not supported: expected one of %v",
			headerVersion, version, s.legacy)
	}
	id := in.header(headerSession)
	if id == "" {
		return nil, http.StatusBadRequest,
			rpcErrorf(codeInvalidRequest, "%s is missing: initialize comes first", headerSession)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if session := s.sessions[id]; session != nil {
		return session, 0, nil
	}
	return nil, http.StatusNotFound,
		rpcErrorf(codeInvalidRequest, "session %s is unknown or has ended: initialize again", clip([]byte(id)))
}

// delete ends a session: its calls are abandoned, and later requests with its id get 404.
func (s *Server) delete(w http.ResponseWriter, r *http.Request) {
	in := &inbound{w: w, r: r}
	session, status, why := s.findSession(in)
	if why != nil {
		s.refuse(in, status, why)
		return
	}
	s.received(scope{}, session.id, in)
	s.forget(session)
	session.cancel()
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) forget(session *legacySession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, session.id)
}

// EndSession ends the client's session when the call gets its response: later requests with its id get 404, its other
// calls are abandoned, and its streams end. The client may initialize another one (2025-11-25,
// basic/transports#session-management). It returns ErrRevision in 2026-07-28, and ErrNoStream over a connection, whose
// session ends with it.
func (t Transport) EndSession() error {
	c, ok := t.s.protocol.(*legacyCall)
	switch {
	case !ok:
		return t.s.hasNo("sessions")
	case c.lines:
		return fmt.Errorf("%w: the session is the connection", ErrNoStream)
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.ends = true
	return nil
}
