package evidence

import (
	"math"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// InRevision returns the session as one of a run in another revision, which the client found out: that it tried others
// first is right. What the run shows of the client stays (see [NoteRun]).
func (s *Session) InRevision(revision server.Revision) *Session {
	t := *s.Trace
	t.Header.Revision, t.Header.ServerRevisions = string(revision), nil
	as := Decode(&t)
	as.Foreign = false
	as.ClientLoop, as.AnswersItself, as.DeclaredInRun = s.ClientLoop, s.AnswersItself, s.DeclaredInRun
	as.KeptLimits, as.OmittedFrom, as.media = s.KeptLimits, s.OmittedFrom, s.media
	return as
}

// Decode decodes a trace.
func Decode(t *trace.Trace) *Session {
	s := &Session{
		Trace: t, Revision: server.Revision(t.Header.Revision),
		Supports: map[string]bool{}, Issued: map[string]bool{},
		Calls: map[string][]*Case{}, Exchanges: map[string][]*Exchange{},
		Order: make(map[trace.Ref]int, len(t.Events)), messages: make(map[*trace.Event]*Message, len(t.Events)),
	}
	for _, c := range t.Header.Cases {
		s.Calls[c.ID] = []*Case{{Session: s, Case: c, Revision: s.Revision}}
	}
	s.Stopped = stopped(t)
	first := map[string]time.Duration{}
	for i := range t.Events {
		e := &t.Events[i]
		s.Order[e.Ref()] = i
		m := s.decodeFrame(e)
		if i > s.Stopped && e.Process == nil {
			s.addConsequence(e)
			continue
		}
		s.addEvent(e, m)
		if s.Calls[e.Case] == nil {
			s.addSessionMark(e.Mark)
			s.addSessionFrame(e, m)
			continue
		}
		if _, ok := first[e.Case]; !ok {
			first[e.Case] = e.At
		}
		s.addCaseEvent(e, m)
		for _, ev := range s.Calls[e.Case] {
			ev.Took = e.At - first[e.Case]
		}
	}
	for caseID := range s.Exchanges {
		s.attribute(caseID)
	}
	return s
}

// stopped returns the index of the event with which the harness ended the client; [math.MaxInt] if the client ended by
// itself.
func stopped(t *trace.Trace) int {
	at := math.MaxInt
	for i := range t.Events {
		switch e := &t.Events[i]; {
		case e.Mark != nil && e.Mark.Name == trace.MarkEnding:
			at = i
		case e.Process != nil && e.Process.State == trace.Ended && !e.Process.Deadline && !e.Process.Interrupted:
			return math.MaxInt
		}
	}
	return at
}

// addConsequence adds an event that follows from the end of a client that the harness ended. Only the model's
// responses that were under way matter: nobody hung up on them.
func (s *Session) addConsequence(e *trace.Event) {
	if e.End != nil && s.Calls[e.Case] != nil {
		closed := *e
		closed.End = &trace.ModelEnd{Exchange: e.End.Exchange, Status: e.End.Status, Stream: e.End.Stream, Closed: true}
		s.addModelEnd(&closed)
	}
}

// decodeFrame returns the message of an event; nil for an event that is not a frame.
func (s *Session) decodeFrame(e *trace.Event) *Message {
	if e.Frame == nil {
		return nil
	}
	m := ReadMessage(e.Frame.Raw)
	s.messages[e] = &m
	return &m
}

func (s *Session) addCaseEvent(e *trace.Event, m *Message) {
	switch {
	case e.Request != nil:
		s.addModelRequest(e)
	case e.Chunk != nil:
		s.addModelChunk(e)
	case e.End != nil:
		s.addModelEnd(e)
	default:
		s.call(e).add(e, m)
		s.noteService(e, m)
	}
}

// maxCalls is how many calls of one tool are told apart. A client that makes more repeats itself.
const maxCalls = 100

// call returns the call of the event. An event without a call number belongs to the first.
func (s *Session) call(e *trace.Event) *Case {
	calls := s.Calls[e.Case]
	for len(calls) < e.Call && len(calls) < maxCalls {
		calls = append(calls, &Case{Session: s, Case: calls[0].Case, Revision: s.Revision})
	}
	s.Calls[e.Case] = calls
	return calls[min(max(e.Call, 1), len(calls))-1]
}

// Case returns the evidence of a case; nil if the session did not offer it. If the client called the tool several
// times, the first call with a sampling request counts: an earlier one may have taught the client what to declare.
func (s *Session) Case(id string) *Case {
	calls := s.Calls[id]
	for _, ev := range calls {
		if len(ev.Rounds) > 0 {
			return ev
		}
	}
	if calls == nil {
		return nil
	}
	return calls[0]
}
