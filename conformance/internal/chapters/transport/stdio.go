package transport

import (
	"errors"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// manyLines is a question with line ends that JSON escapes, and others that it need not escape.
const manyLines = "Name a bird.\nOr two,\r\nor\u2028three, or \"\\n\" – 鳥?"

// The server asks a question with line ends. While the model thinks about the next one, it writes to standard error,
// and then asks once more. Over HTTP it asks only the first question.
var pipe = story.Gated(harness.Case{ID: "transport/pipe", Stdio: true}, func(gate *story.Gate) server.Handler {
	return func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask(manyLines)); err != nil || !s.Transport().OverStdio() {
			return "done", err
		}
		asked, word, err := story.AskHeld(s, gate)
		defer gate.Open(word)
		if err != nil {
			return nil, err
		}
		for _, line := range []string{
			"INFO a sample is under way", "ERROR: this is no error – ただのログ", "panic: nor is this",
		} {
			if err := s.Transport().LogToStderr(line); errors.Is(err, server.ErrNoStream) {
				break // the client has gone
			} else if err != nil {
				return nil, err
			}
		}
		gate.Open(word)
		if _, err := asked.Wait(); err != nil {
			return nil, err
		}
		return s.Sample(s.Ask("Name a fish."))
	}
})

// adviceBefore returns a level for the newest revisions. Older ones do not have the rule: there it is advice.
func adviceBefore(l report.Level) map[server.Revision]report.Level {
	return check.Both(check.BeforeTools(report.Advice), check.SinceTools(l))
}

var overPipe = check.Check{
	ID: "stdio", Rule: "Over stdio, the client MUST write each message as one line of UTF-8, and nothing else",
	Levels: check.Must, Requests: 1, Cases: []string{"pipe"}, Needs: []check.Need{overStdio},
	Statements: []string{"transports/stdio", "stdio/03", "stdio/01", "transports/01"},
	Cause:      "the client logs to standard output, writes JSON on several lines, or does not escape line ends in texts",
	Fix:        "Write each message as UTF-8 JSON without line breaks, then one line feed. Write logs to standard error.",
	Judge: func(e *evidence.Case) check.Verdict {
		v := always.OnlyMessages([]*evidence.Session{e.Session})
		if v.Kind == report.Pass && len(e.Rounds[0].Answers) == 0 {
			return check.NotObserved("no response to the question with line ends%s", e.WhyNoResult(1))
		}
		return v
	},
}

var stderrIsNoError = check.Check{
	ID: "stderr", Rule: "The client SHOULD NOT take the server's output on standard error as an error",
	Levels: adviceBefore(report.Should), Requests: 1, Cases: []string{"pipe"},
	Statements: []string{"stdio/02"}, Needs: []check.Need{overStdio, logged},
	Cause: "the client raises an error for any output on standard error, or does not read it until the server blocks",
	Fix:   "Forward, store or discard the output, and go on.",
	Judge: func(e *evidence.Case) check.Verdict {
		const after = "after output on standard error"
		wrote := mark(e, trace.MarkStderr)
		place := at(wrote, "standard error")
		for _, r := range e.Rounds[1:] {
			if r.CassetteMiss() != "" {
				return check.NoResult(e, r)
			}
			if r.Result() == nil {
				return check.Fail("expected a result for sampling request %d %s, found none%s", r.N, after, e.WhyNoResult(r.N)).
					Show(place, "%s", wrote.Mark.Text).At(r.Asked).ShowOutput(e.Session)
			}
		}
		return check.Survived(e, place, "the client did not go on "+after).Or(check.Pass("the client went on"))
	},
}

func logged(e *evidence.Case) *check.Verdict {
	return check.Unless(mark(e, trace.MarkStderr) != nil,
		check.NotObserved("the server did not write to standard error%s", e.WhyNoResult(len(e.Rounds))))
}

var shutsDown = check.Check{
	ID: "shuts-down", Rule: "The client SHOULD close the server's input before it ends the server",
	Levels: adviceBefore(report.Should), Cases: []string{"pipe"},
	Statements: []string{"stdio/07"},
	Needs:      []check.Need{overStdio},
	Cause:      "the client kills the server's process, which then cannot finish or clean up",
	Fix:        "Close the server's standard input and wait for its end. Kill the process only after a timeout.",
	Judge: func(e *evidence.Case) check.Verdict {
		s := e.Session
		if s.Ended == nil || !s.Ended.Clean() {
			return check.NotApplicable("the client did not end cleanly (see client/ends-cleanly): %s", s.Ending())
		}
		for i := range s.Trace.Events {
			if ev := &s.Trace.Events[i]; ev.Mark != nil && ev.Mark.Name == trace.MarkKilled {
				return check.Fail("expected the end of the server's input first, found the end of its process").
					Show(at(ev, "end of the server"), "%s", ev.Mark.Text)
			}
		}
		return check.Pass("the server's input ended first")
	},
}

// endSeen is how long a client may take to see that its server has ended. The model answers only then, and nobody reads
// the client's result.
const endSeen = 300 * time.Millisecond

// The server ends while the model thinks. If the client restarts it and calls again, it asks something simple, as over
// HTTP.
var pipeEnd = story.Gated(harness.Case{ID: "transport/pipe-end", Stdio: true, Isolated: true},
	func(gate *story.Gate) server.Handler {
		return func(s *server.Session) (any, error) {
			if !s.Transport().OverStdio() || s.Call().Number > 1 {
				return s.Sample(s.Ask("Name a bird."))
			}
			asked, word, err := story.AskHeld(s, gate)
			defer gate.Open(word)
			if err != nil {
				return nil, err
			}
			select {
			case <-asked.Done():
				return asked.Wait() // the model does not think
			default:
			}
			if err := s.Transport().CloseConnection(); err != nil {
				return nil, err
			}
			story.WaitFor(endSeen, nil, nil)
			gate.Open(word)
			return asked.Wait()
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
	return check.Unless(lostServer(e) != nil,
		check.NotObserved("the sample was over before the server could end%s", e.WhyNoResult(1)))
}

func endKnown(e *evidence.Case) *check.Verdict {
	return check.Unless(e.Session.Ended != nil, check.NotObserved("the trace does not say how the client ended"))
}

var pipeEnds = check.Check{
	ID: "pipe-ends", Rule: "The client neither hangs nor crashes when its server ends during a sample",
	Levels: check.Robust, Requests: 1, Cases: []string{"pipe-end"}, Needs: needsLostServer,
	Cause: "the client does not catch the error or signal of a write to a closed pipe, or it waits for a response forever",
	Fix:   "When the server's output ends, end every pending call with an error. Discard results that nobody reads.",
	Judge: func(e *evidence.Case) check.Verdict {
		s, lost := e.Session, at(lostServer(e), "end of the server")
		const expected = "expected the client to end or restart its server when that ended, found that it "
		switch {
		case s.Ended.Deadline && !s.CalledAfter(s.Order[lost.Ref]):
			return check.Fail(expected+"hung: %s", s.Ending()).At(lost).ShowOutput(s)
		case s.Ended.Deadline:
			return check.NotObserved("the client restarted the server, but hung later: %s", s.Ending()).At(lost)
		case !evidence.EndedByItself(s.Ended):
			return check.Fail(expected+"crashed: %s", s.Crash()).At(lost).ShowOutput(s)
		case s.ServedLater(s.Order[lost.Ref]):
			return check.Pass("the client restarted the server, and went on")
		}
		return check.Pass("the client ended by itself")
	},
}

var restarts = check.Check{
	ID: "restarts", Rule: "The client SHOULD restart a server that ends unexpectedly",
	Levels: check.InModern(report.Should), Requests: 1, Cases: []string{"pipe-end"},
	Statements: []string{"stdio/08"}, Needs: needsLostServer,
	Cause: "the client takes the end of the server as the end of a session, which this revision does not have",
	Fix:   "Start the server again when it is next needed, and repeat pending requests: the server keeps no state.",
	Judge: func(e *evidence.Case) check.Verdict {
		s, lost := e.Session, at(lostServer(e), "end of the server")
		if !evidence.EndedByItself(s.Ended) {
			return check.NotObserved("the client did not end by itself %s: %s", evidence.See("transport/pipe-ends"), s.Ending())
		}
		for i := range s.Trace.Events {
			if ev := &s.Trace.Events[i]; ev.Mark != nil && ev.Mark.Name == trace.MarkConnection && i > s.Order[lost.Ref] {
				return check.Pass("the client restarted the server")
			}
		}
		return check.Fail("expected a restart of the server, found none: %s", s.Ending()).At(lost).ShowOutput(s)
	},
}
