package transport

import (
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// endSeen is how long a client may take to see that its server has ended. The model answers only then, and nobody reads
// the client's result.
const endSeen = 300 * time.Millisecond

// The server ends while the model thinks. If the client restarts it and calls again, it asks something simple, as over
// HTTP.
var pipeEnd = story.Pondered(harness.Case{ID: "transport/pipe-end", Stdio: true, Isolated: true},
	func(gate *story.Stage) server.Handler {
		return func(s *server.Session) (any, error) {
			if !s.OverStdio() || s.Call() > 1 {
				return s.Sample(s.Ask("Name a bird."))
			}
			asked, word, err := story.StartPondering(s, gate)
			defer gate.Open(word)
			if err != nil {
				return nil, err
			}
			select {
			case <-asked.Done():
				return asked.Answer() // the model does not think
			default:
			}
			if err := s.HangUp(); err != nil {
				return nil, err
			}
			story.Either(endSeen, nil, nil)
			gate.Open(word)
			return asked.Answer()
		}
	})

var needsLostServer = []check.Need{overStdio, serverEnded, endKnown}

// lostServer returns where the server ended on purpose; nil if it did not.
func lostServer(e *evidence.Case) *trace.Event {
	return find(e, func(ev *trace.Event) bool {
		return ev.Frame != nil && ev.Frame.Dir == trace.ToClient && ev.Frame.Closed && ev.Frame.Hostile
	})
}

func serverEnded(e *evidence.Case) *check.Verdict {
	if lostServer(e) != nil {
		return nil
	}
	return instead(check.NotObserved("the sample was over before the server could end%s", e.WhyNoResult(1)))
}

func endKnown(e *evidence.Case) *check.Verdict {
	if e.Session.Ended != nil {
		return nil
	}
	return instead(check.NotObserved("the trace does not say how the client ended"))
}

var pipeEnds = check.Check{
	ID: "pipe-ends", Rule: "The client neither hangs nor crashes when its server ends during a sample",
	Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"pipe-end"}, Needs: needsLostServer,
	Cause: "the client does not catch the error or signal of a write to a closed pipe, or it waits for a response forever",
	Fix:   "When the server's output ends, end every pending call with an error. Discard results that nobody reads.",
	Judge: func(e *evidence.Case) check.Verdict {
		s, lost := e.Session, at(lostServer(e), "end of the server")
		const expected = "expected the client to end or restart its server when that ended, found that it "
		switch {
		case s.Ended.Deadline && !s.CalledAfter(s.Order[lost.Ref]):
			return check.ShowOutput(s, check.Fail(expected+"hung: %s", s.Ending()).Show(lost, ""))
		case s.Ended.Deadline:
			return check.NotObserved("the client restarted the server, but hung later: %s", s.Ending()).Show(lost, "")
		case !evidence.EndedByItself(s.Ended):
			return check.ShowOutput(s, check.Fail(expected+"crashed: %s", s.Crash()).Show(lost, ""))
		case s.ServedLater(s.Order[lost.Ref]):
			return check.Pass("the client restarted the server, and went on")
		}
		return check.Pass("the client ended by itself")
	},
}

var restarts = check.Check{
	ID: "restarts", Rule: "The client SHOULD restart a server that ends unexpectedly",
	Levels: check.InModern(report.Should), Requests: 1, Cases: []string{"pipe-end"},
	Statements: []string{"2026-07-28/stdio/08"}, Needs: needsLostServer,
	Cause: "the client takes the end of the server as the end of a session, which this revision does not have",
	Fix:   "Start the server again when it is next needed, and repeat pending requests: the server keeps no state.",
	Judge: func(e *evidence.Case) check.Verdict {
		s, lost := e.Session, at(lostServer(e), "end of the server")
		if !evidence.EndedByItself(s.Ended) {
			return check.NotObserved("the client did not end by itself (see transport/pipe-ends): %s", s.Ending())
		}
		for i := range s.Trace.Events {
			if ev := &s.Trace.Events[i]; ev.Mark != nil && ev.Mark.Name == trace.MarkConnection && i > s.Order[lost.Ref] {
				return check.Pass("the client restarted the server")
			}
		}
		return check.ShowOutput(s, check.Fail("expected a restart of the server, found none: %s", s.Ending()).Show(lost, ""))
	},
}
