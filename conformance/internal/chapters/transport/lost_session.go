package transport

import (
	"errors"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// The server ends the session in the first call of the tool. The client may call again.
var lostSession = story.Delivered(
	harness.Case{ID: "transport/lost-session", Revisions: check.NewestLegacy, Isolated: true},
	func(s *server.Session) (any, error) {
		if s.Call().Number == 1 {
			if err := s.Transport().EndSession(); err != nil && !errors.Is(err, server.ErrNoStream) {
				return nil, err
			}
		}
		return askOnce()(s)
	})

// loss is what a client did after the server ended its session.
type loss struct {
	notFound   *evidence.Place // the server's 404; nil for none
	request    bool            // whether the 404 responds to a JSON-RPC request, and not, for example, to a stream
	initialize *trace.Event    // the client's next initialize; nil for none
}

// lossOf returns nil if the server ended no session.
func lossOf(e *evidence.Case) *loss {
	ended := mark(e, trace.MarkSessionEnded)
	if ended == nil {
		return nil
	}
	l, deletes := &loss{}, false
	for i := e.Session.Order[ended.Ref()] + 1; i < len(e.Session.Trace.Events) && l.initialize == nil; i++ {
		ev := &e.Session.Trace.Events[i]
		if ev.Frame == nil || ev.Frame.HTTP == nil {
			continue
		}
		m := e.Session.Message(ev)
		switch http := ev.Frame.HTTP; {
		case ev.Frame.Dir == trace.FromClient:
			deletes = http.Method == "DELETE"
			if m.Method == "initialize" {
				l.initialize = ev
			}
		case http.Status == 404 && !deletes && !l.request:
			if l.request = m.ID != nil; l.request || l.notFound == nil {
				l.notFound = &evidence.Place{Ref: ev.Ref(), Label: "HTTP 404"}
			}
		}
	}
	return l
}

var sessionEnded = check.Observed(lossOf, "the server did not end the session")

// calledAll reports whether the client had called every tool before a place: then it needs no other session.
func calledAll(s *evidence.Session, place int) bool {
	for _, c := range s.Trace.Header.Cases {
		if first := s.Calls[c.ID][0]; !first.Called || s.Order[first.FirstCall] > place {
			return false
		}
	}
	return true
}

var sessionLost = check.Check{
	ID: "session-lost", Rule: "The client MUST start a new session when its own is gone, without the old session id",
	Levels: must, Cases: []string{"lost-session"}, Whole: true, Statements: []string{"transports/21"},
	Needs: []check.Need{overHTTP, sessionEnded},
	Cause: "the client treats 404 as any other error, so every later call fails, too",
	Fix:   "If a request with a session id gets 404, send initialize without it. Repeat the request in the new session.",
	Judge: func(e *evidence.Case) check.Verdict {
		l := lossOf(e)
		if l.initialize != nil {
			if id := l.initialize.Frame.HTTP.Header["Mcp-Session-Id"]; id != "" {
				return check.Fail("expected initialize without a session id, found the id of the old session").
					Show(at(l.initialize, "initialize"), "Mcp-Session-Id: %s", id)
			}
			return check.Pass("the client started a new session")
		}
		if l.notFound == nil || !l.request && calledAll(e.Session, e.Session.Order[l.notFound.Ref]) {
			return check.Unsupported("the client sent no request after its session ended: make it call every tool of "+
				"tools/list, one after the other%s", e.WhySilent(e.FirstCall))
		}
		return check.Fail("expected a new session after HTTP 404, found none").At(*l.notFound).ShowOutput(e.Session)
	},
}

func newSession(e *evidence.Case) *check.Verdict {
	l := lossOf(e)
	return check.Unless(l != nil && l.initialize != nil,
		check.NotApplicable("there was no new session (see transport/session-lost)"))
}

var handlersSurvive = check.Check{
	ID: "handlers-survive", Rule: "The client still samples in a new session", Levels: robust,
	Cases: []string{"lost-session"}, Whole: true, Needs: []check.Need{overHTTP, newSession},
	Cause: "handlers and capabilities belong to the lost connection, and the new one has none",
	Fix:   "Create each new session with the same capabilities and handlers as the first.",
	Judge: func(e *evidence.Case) check.Verdict {
		s, initialize := e.Session, lossOf(e).initialize
		for _, r := range s.Requests {
			if r.Ref == initialize.Ref() && !r.Declares("sampling") && s.Requests[0].Declares("sampling") {
				return check.Fail("expected the sampling capability in the new session, found none").
					ShowJSON(r.CapabilitiesAt(), r.Declared())
			}
		}
		if len(e.Rounds) == 0 || e.Rounds[0].Result() == nil {
			return check.NotObserved("the client did not sample in its first session%s", e.WhyNoResult(1))
		}
		return samplesAfter(s, s.Order[initialize.Ref()], e.Case.ID)
	},
}

// samplesAfter judges that the requests of the case and of the barrier after a place in the trace have results.
func samplesAfter(s *evidence.Session, place int, caseID string) check.Verdict {
	asked := false
	for _, id := range []string{caseID, harness.BarrierID} {
		for _, call := range s.Calls[id] {
			for _, r := range call.Rounds {
				if s.Order[r.Asked.Ref] < place || r.CassetteMiss() != "" {
					continue
				}
				asked = true
				if s.EndedEarly() && len(r.Answers) == 0 {
					return check.NotObserved("the client was ended before it responded in its new session").At(r.Asked)
				}
				if r.Result() == nil {
					return check.Fail("expected a result in the new session, found none%s", call.WhyNoResult(r.N)).
						At(r.Asked).ShowOutput(s)
				}
			}
		}
	}
	if !asked {
		return check.Unsupported("the client called no tool in its new session: make it repeat the failed call, and go on")
	}
	return check.Pass("the client samples in its new session")
}
