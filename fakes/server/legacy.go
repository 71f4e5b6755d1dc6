package server

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

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
