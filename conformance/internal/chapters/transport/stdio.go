package transport

import (
	"errors"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// What is about the server's process, which the client launches: a session over HTTP has none, and is asked something simple in its place.
var stdioCases = []harness.Case{
	story.Pondered(harness.Case{ID: "transport/pipe", Stdio: true}, sampleOverPipe),
	story.Pondered(harness.Case{ID: "transport/pipe-end", Stdio: true, Isolated: true}, endThePipe),
}

var stdioChecks = []check.Check{overPipe, stderrIsNoError, pipeEnds, restarts, shutsDown}

// lately are the levels of a rule that the two older revisions do not have in the table, and which is good advice there.
func lately(l report.Level) map[server.Revision]report.Level {
	return map[server.Revision]report.Level{server.V20250326: report.Advice, server.V20250618: report.Advice, server.V20251125: l, server.V20260728: l}
}

// onSeveralLines asks for an answer in which careless code finds the ends of lines: those that JSON escapes, and those that it need not.
const onSeveralLines = "Name a bird.\nOr two,\r\nor\u2028three, or \"\\n\" – 鳥?"

// seen is how long a client may take to see that its server has ended, before the model answers it and there is nobody to read its own answer.
const seen = 300 * time.Millisecond

// sampleOverPipe asks what has line ends in it, and then writes to standard error while the model thinks about the next one. A client that bears that
// answers it, and one more.
func sampleOverPipe(gate *story.Stage) server.Handler {
	return func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask(onSeveralLines)); err != nil || !s.OverStdio() {
			return "done", err
		}
		asked, word, err := story.StartPondering(s, gate)
		defer gate.Open(word)
		if err != nil {
			return nil, err
		}
		for _, line := range []string{"INFO a sample is under way", "ERROR: this is no error – ただのログ", "panic: nor is this"} {
			if err := s.Log(line); errors.Is(err, server.ErrNoStream) {
				break // the client has gone
			} else if err != nil {
				return nil, err
			}
		}
		gate.Open(word)
		if _, err := asked.Answer(); err != nil {
			return nil, err
		}
		return s.Sample(s.Ask("Name a fish."))
	}
}

// endThePipe ends the server, as far as the client can see, while the model thinks about a sample. A client that calls again, having started the server
// again, is answered.
func endThePipe(gate *story.Stage) server.Handler {
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
			return asked.Answer() // there is no sample under way
		default:
		}
		if err := s.HangUp(); err != nil {
			return nil, err
		}
		story.Either(seen, nil, nil)
		gate.Open(word)
		return asked.Answer()
	}
}

// noPipe is what is said of a rule about the pipe where there is none.
func noPipe() check.Verdict {
	return check.NotApplicable("the client speaks over HTTP, and this is about a server that it launches, over stdio")
}

var overPipe = check.Check{
	ID: "stdio", Rule: "over stdio each message is a line of UTF-8, and nothing else goes to the server's standard input", Levels: check.Everywhere(report.Must), Requests: 1,
	Statements: []string{"2025-03-26/transports/stdio", "2025-06-18/transports/stdio", "2025-11-25/transports/05", "2025-11-25/transports/03", "2025-11-25/transports/01",
		"2026-07-28/stdio/03", "2026-07-28/stdio/01", "2026-07-28/transports/01"},
	Cases: []string{"pipe"},
	Cause: "a log line goes to standard output in place of standard error, JSON is written over several lines, or a text with line ends is not escaped",
	Fix:   "write each message as UTF-8 JSON without line breaks, then one line feed, and logs to standard error",
	Judge: func(e *evidence.Case) check.Verdict {
		if !e.Session.OverStdio() {
			return noPipe()
		}
		v := check.OnlyMessages([]*evidence.Session{e.Session})
		if v.Kind == report.Pass && len(e.Rounds[0].Answers) == 0 {
			return check.NotObserved("no answer came that could have line ends in it%s", e.WhyNoResult(1))
		}
		return v
	},
}

// logged is the first line that the server wrote to standard error, where it got that far.
func logged(ev *evidence.Case) *evidence.Place {
	return find(ev, func(e *trace.Event) bool { return e.Mark != nil && e.Mark.Name == trace.MarkStderr }, "standard error")
}

// lostServer is where the server ended on purpose; nil where it did not.
func lostServer(ev *evidence.Case) *evidence.Place {
	return find(ev, func(e *trace.Event) bool {
		return e.Frame != nil && e.Frame.Dir == trace.ToClient && e.Frame.Closed && e.Frame.Hostile
	}, "end of the server")
}

// find returns the first event of the case that is what is looked for; nil where there is none.
func find(ev *evidence.Case, is func(*trace.Event) bool, label string) *evidence.Place {
	for i := range ev.Session.Trace.Events {
		if e := &ev.Session.Trace.Events[i]; e.Case == ev.Case.ID && is(e) {
			return &evidence.Place{Ref: e.Ref(), Label: label}
		}
	}
	return nil
}

var stderrIsNoError = check.Check{
	ID: "stderr", Rule: "what the server writes to standard error is no error", Levels: lately(report.Should), Requests: 1, Statements: []string{"2025-11-25/transports/04", "2026-07-28/stdio/02"}, Cases: []string{"pipe"},
	Cause: "whatever comes on standard error is raised as an error, or nobody reads it until the server cannot write any more",
	Fix:   "pass it on, keep it, or drop it, and go on",
	Judge: func(e *evidence.Case) check.Verdict {
		at := logged(e)
		switch {
		case !e.Session.OverStdio():
			return noPipe()
		case at == nil:
			return check.NotObserved("the server did not get as far as writing to standard error%s", e.WhyNoResult(len(e.Rounds)))
		}
		for _, r := range e.Rounds[1:] {
			if r.CassetteMiss() != "" {
				return check.NotObserved("no result for sampling request %d%s", r.N, e.WhyNoResult(r.N))
			}
			if r.Result() == nil {
				return check.ShowOutput(e.Session, check.Fail("the server wrote to standard error while a sample was under way, and no result for sampling request %d%s", r.N, e.WhyNoResult(r.N)).
					Show(*at, "%s", e.Session.Trace.Find(at.Ref).Mark.Text).Show(r.Asked, ""))
			}
		}
		if v := check.Survived(e, *at, "the client did not go on after the server had written to standard error"); v != nil {
			return *v
		}
		return check.Pass("the client went on")
	},
}

var pipeEnds = check.Check{
	ID: "pipe-ends", Rule: "a client whose server ends while a sample is under way neither hangs nor crashes", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"pipe-end"},
	Cause: "the answer is written to a pipe that nobody reads, and the error or signal that comes of it is not caught; or the call waits for an answer that cannot come any more",
	Fix:   "end every call that is under way when the server's output ends, with an error that says so, and drop answers that there is nobody to read",
	Judge: func(e *evidence.Case) check.Verdict {
		v, at := withoutServer(e)
		if v != nil {
			return *v
		}
		s := e.Session
		switch {
		case s.Ended != nil && s.Ended.Deadline && !s.CalledAfter(s.Order[at.Ref]):
			return check.ShowOutput(s, check.Fail("the server ended while a sample was under way, and the client hung: %s", s.Ending()).Show(*at, ""))
		case s.Ended != nil && s.Ended.Deadline:
			return check.NotObserved("the client started the server again, and did not come to its end for another reason: %s", s.Ending()).Show(*at, "")
		case !evidence.EndedByItself(s.Ended):
			return check.ShowOutput(s, check.Fail("the server ended while a sample was under way, and the client crashed: %s", s.Crash()).Show(*at, ""))
		case s.ServedLater(s.Order[at.Ref]):
			return check.Pass("the client started the server again, and went on")
		}
		return check.Pass("the client came to its end by itself")
	},
}

// withoutServer returns where the server ended while a sample was under way, or the verdict for a session in which it did not.
func withoutServer(ev *evidence.Case) (*check.Verdict, *evidence.Place) {
	at := lostServer(ev)
	var v check.Verdict
	switch {
	case !ev.Session.OverStdio():
		v = noPipe()
	case at == nil:
		v = check.NotObserved("the sample was over before the server could end%s", ev.WhyNoResult(1))
	case ev.Session.Ended == nil:
		v = check.NotObserved("the trace does not say how the client ended")
	default:
		return nil, at
	}
	return &v, nil
}

var restarts = check.Check{
	ID: "restarts", Rule: "a server that ends unexpectedly is started again", Levels: check.InModern(report.Should), Requests: 1, Statements: []string{"2026-07-28/stdio/08"},
	Cases: []string{"pipe-end"},
	Cause: "the end of the server is taken for the end of the session, which this revision does not have",
	Fix:   "launch the server again when it is needed next, and make again what was under way: it remembers nothing that would be lost",
	Judge: func(e *evidence.Case) check.Verdict {
		v, at := withoutServer(e)
		s := e.Session
		switch {
		case v != nil:
			return *v
		case s.Ended.Deadline || !evidence.EndedByItself(s.Ended):
			return check.NotObserved("the client did not come to its end by itself (see transport/pipe-ends): %s", s.Ending())
		case launchedAfter(s, s.Order[at.Ref]):
			return check.Pass("the client started the server again")
		}
		return check.ShowOutput(s, check.Fail("the server ended, and the client did not start it again: %s", s.Ending()).Show(*at, ""))
	},
}

// launchedAfter reports whether the client launched the server after a place in the trace.
func launchedAfter(s *evidence.Session, place int) bool {
	for i := range s.Trace.Events {
		if e := &s.Trace.Events[i]; e.Mark != nil && e.Mark.Name == trace.MarkConnection && s.Order[e.Ref()] > place {
			return true
		}
	}
	return false
}

var shutsDown = check.Check{
	ID: "shuts-down", Rule: "a client that needs its server no more ends the server's input first", Levels: lately(report.Should), Cases: []string{"pipe"},
	Statements: []string{"2025-11-25/lifecycle/shutdown", "2026-07-28/stdio/07"},
	Cause:      "the process of the server is killed, so that it can neither finish nor tidy up",
	Fix:        "close the server's standard input, wait for its end, and end its process only when that does not come in time",
	Judge: func(e *evidence.Case) check.Verdict {
		s := e.Session
		switch {
		case !s.OverStdio():
			return noPipe()
		case s.Ended == nil || !s.Ended.Clean():
			return check.NotApplicable("the client did not come to its end in order (see client/ends-cleanly): %s", s.Ending())
		}
		for i := range s.Trace.Events {
			if ev := &s.Trace.Events[i]; ev.Mark != nil && ev.Mark.Name == trace.MarkKilled {
				return check.Fail("the client ended the process of its server before it had ended its input").Show(evidence.Place{Ref: ev.Ref(), Label: "end of the server"}, "%s", ev.Mark.Text)
			}
		}
		return check.Pass("the server's input ended first")
	},
}
