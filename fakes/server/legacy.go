package server

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

type sentRequest struct {
	by       scope
	response chan Response // takes one
	done     bool
}

// takeLegacy takes a message in a legacy revision.
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
	case s.replay != nil:
		session.replayed(m)
	case *m.Method == "tools/call":
		session.call(m)
	default:
		session.serve(m)
	}
}

// serve responds to a request that is not a call.
func (l *legacySession) serve(m *inbound) {
	s := l.server
	s.received(scope{}, l.id, m)
	x := newExchange(s, m, scope{}, l.id)
	switch *m.Method {
	case "ping":
		s.respond(x, resultFrame(m.ID, []byte("{}")), false)
	case "tools/list":
		page, why := s.toolList(m)
		if why != nil {
			s.fail(x, m.ID, why)
			return
		}
		s.result(x, m.ID, l.revision, schema.ListToolsResult, page)
	default:
		s.fail(x, m.ID, rpcErrorf(codeMethodNotFound, "method %s is not supported", clip([]byte(*m.Method))))
	}
}

// takeNotification takes a notification. A cancelled call is abandoned and gets no response (2025-11-25,
// basic/utilities/cancellation#behavior-requirements).
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

// cancelled returns the call in flight that a notification cancels; nil for any other notification.
func (l *legacySession) cancelled(m *inbound) *legacyCall {
	id := m.params["requestId"]
	if *m.Method != methodCancelled || id == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[idKey(id)]
}

// takeResponse passes the client's response to the handler that waits for it. It accepts other responses too: the
// checks judge them from the trace.
func (l *legacySession) takeResponse(m *inbound) {
	l.mu.Lock()
	request := l.sent[idKey(m.ID)]
	first := request != nil && !request.done
	if first {
		request.done = true
	}
	l.mu.Unlock()
	var of scope
	if request != nil {
		of = request.by
	}
	l.server.received(of, l.id, m)
	m.accepted()
	if first {
		request.response <- answerOf(m.message)
	}
}

// answerOf reads a response. One with both result and error counts as an error.
func answerOf(m *message) Response {
	if m.Error == nil {
		return Response{Result: m.Result}
	}
	var e RPCError
	if err := json.Unmarshal(m.Error, &e); err != nil {
		e.Message = fmt.Sprintf("unreadable error %s: %v", clip(m.Error), err)
	}
	return Response{Err: &e}
}
