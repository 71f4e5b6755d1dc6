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

// postLegacy serves a POST of the first era.
func (s *Server) postLegacy(w http.ResponseWriter, r *http.Request, raw []byte, m *message) {
	if m.Method != nil && *m.Method == "initialize" && m.ID != nil {
		s.initialize(w, r, raw, m)
		return
	}
	session, status, why := s.findSession(r)
	if why != nil {
		s.refuse(w, r, raw, m, status, why)
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
	s.received(scope{}, "", r, raw)
	if m.params == nil {
		s.fail(newExchange(s, w, scope{}, ""), m.ID, rpcErrorf(codeInvalidParams, "params of initialize must be an object, got %s", show(m.Params)))
		return
	}
	revision := s.legacy[0]
	if wanted, ok := m.params.text("protocolVersion"); ok && slices.Contains(s.legacy, Revision(wanted)) {
		revision = Revision(wanted)
	}
	session := &legacySession{server: s, id: s.token(), revision: revision, declared: m.params["capabilities"],
		asked: map[string]*asked{}, calls: map[string]*legacyCall{}, samples: map[string]int{}, taken: map[string]bool{},
		listening: make(chan struct{})}
	session.ctx, session.cancel = context.WithCancel(s.ctx)
	s.mu.Lock()
	s.sessions[session.id] = session
	s.mu.Unlock()
	w.Header().Set(headerSession, session.id)
	s.result(newExchange(s, w, scope{}, session.id), m.ID, revision, schema.InitializeResult, map[string]any{
		"protocolVersion": revision,
		"capabilities":    map[string]any{"tools": map[string]any{}},
		"serverInfo":      s.info(),
	})
}

func (s *Server) info() map[string]any { return map[string]any{"name": s.opts.Name, "version": "1"} }

// findSession returns the session that a request names (2025-11-25, basic/transports#session-management).
func (s *Server) findSession(r *http.Request) (*legacySession, int, *RPCError) {
	if version := Revision(headerOf(r, headerVersion)); version != "" && !slices.Contains(s.legacy, version) {
		return nil, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "%s %q is not supported: want one of %v", headerVersion, version, s.legacy)
	}
	id := headerOf(r, headerSession)
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
	session, status, why := s.findSession(r)
	if why != nil {
		s.refuse(w, r, nil, nil, status, why)
		return
	}
	s.received(scope{}, session.id, r, nil)
	x := newExchange(s, w, scope{}, session.id)
	x.open("get")
	session.listen(x)
	defer session.unlisten(x)
	defer context.AfterFunc(session.ctx, x.drop)()
	x.wait(r)
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
	session, status, why := s.findSession(r)
	if why != nil {
		s.refuse(w, r, nil, nil, status, why)
		return
	}
	s.received(scope{}, session.id, r, nil)
	s.mu.Lock()
	delete(s.sessions, session.id)
	s.mu.Unlock()
	session.cancel()
	w.WriteHeader(http.StatusNoContent)
}

// serve answers a request that is not a call.
func (l *legacySession) serve(w http.ResponseWriter, r *http.Request, raw []byte, m *message) {
	s := l.server
	s.received(scope{}, l.id, r, raw)
	x := newExchange(s, w, scope{}, l.id)
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
func (l *legacySession) takeNotification(w http.ResponseWriter, r *http.Request, raw []byte, m *message) {
	l.server.received(scope{}, l.id, r, raw)
	if id := m.params["requestId"]; *m.Method == "notifications/cancelled" && id != nil {
		l.mu.Lock()
		call := l.calls[idKey(id)]
		l.mu.Unlock()
		if call != nil {
			call.cancel()
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
	l.server.received(of, l.id, r, raw)
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
	cancel  context.CancelFunc
}

// call starts the play of a tool and waits until it has answered.
func (l *legacySession) call(w http.ResponseWriter, r *http.Request, raw []byte, m *message) {
	s := l.server
	p, tool, bad := s.readCall(m)
	var of scope
	if tool != nil {
		of = scope{tool.Name, s.count(tool)}
	}
	s.received(of, l.id, r, raw)
	x := newExchange(s, w, of, l.id)
	if bad != nil {
		s.fail(x, m.ID, bad)
		return
	}
	if why := tool.checkArguments(p.arguments); why != "" {
		s.result(x, m.ID, l.revision, schema.CallToolResult, callResult(nil, errors.New(why)))
		return
	}
	ctx, cancel := context.WithCancel(l.ctx)
	c := &legacyCall{session: l, x: x, cancel: cancel, Session: &Session{server: s, tool: tool, number: of.call, ctx: ctx, revision: l.revision,
		arguments: p.arguments, meta: p.meta, declared: l.declared}}
	c.carrier = c
	key := idKey(m.ID)
	l.mu.Lock()
	l.calls[key] = c
	l.mu.Unlock()
	if s.opts.Responses != JSON && strings.Contains(headerOf(r, "Accept"), "text/event-stream") {
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
			s.result(x, m.ID, l.revision, schema.CallToolResult, result)
		})
	})
	x.wait(r) // a client that hangs up has not cancelled: the play goes on (2025-11-25, basic/transports#sending-messages-to-the-server)
}

// idSpace is how many ids each tool has for its requests in a session.
const idSpace = 1_000_000

// sample sends the requests, all before it waits, and gathers the answers. Ids are made of the tool's place and a
// count, so that they are the same in every run, whatever other plays do meanwhile.
func (c *legacyCall) sample(requests []outgoing) []Answer {
	answers := make([]Answer, len(requests))
	questions := make([]*asked, len(requests))
	for i, request := range requests {
		if answers[i].Err = c.ctx.Err(); answers[i].Err != nil {
			continue // the call was given up: nobody wants to be asked any more
		}
		questions[i] = &asked{by: c.scope(), answer: make(chan Answer, 1)}
		id := c.ask(questions[i], request.id)
		if err := c.send(c.ctx, requestFrame(id, "sampling/createMessage", request.params), request.hostile); err != nil {
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

// send writes onto the call's own stream, or onto the client's GET stream where responses are plain JSON.
func (c *legacyCall) send(ctx context.Context, frame []byte, hostile bool) error {
	if c.server.opts.Responses != JSON {
		return c.x.event(c.scope(), frame, hostile)
	}
	listener, err := c.session.listener(ctx)
	if err != nil {
		return err
	}
	return listener.event(c.scope(), frame, hostile)
}

func (c *legacyCall) inputRequired(Input) (*Retry, error) {
	return nil, fmt.Errorf("%w: InputRequiredResult came with %s, the client speaks %s", ErrEra, V20260728, c.revision)
}
