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
	kept      map[string]*resumable  // streams that can be resumed, by their names
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
		listening: make(chan struct{}), kept: map[string]*resumable{}}
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

// delete ends a session: its plays are given up, and whoever comes back with its id gets 404.
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

// forget has whoever comes with the session's id get 404.
func (s *Server) forget(session *legacySession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, session.id)
}

// EndSession has the client's session end when the call is answered: whoever comes with its id from then on gets 404, its other calls are
// given up, and its streams end. The client is free to initialize another one (2025-11-25, basic/transports#session-management). It returns ErrEra in
// the second era, and ErrNoStream over a connection, whose session ends with it.
func (s *Session) EndSession() error {
	c, ok := s.carrier.(*legacyCall)
	switch {
	case !ok:
		return fmt.Errorf("%w: there are no sessions in %s", ErrEra, s.revision)
	case c.lines:
		return fmt.Errorf("%w: the session is the connection", ErrNoStream)
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.ends = true
	return nil
}
