package transport

import (
	"errors"

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
var pipe = story.Pondered(harness.Case{ID: "transport/pipe", Stdio: true}, func(gate *story.Stage) server.Handler {
	return func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask(manyLines)); err != nil || !s.OverStdio() {
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
})

// adviceBefore returns a level for the newest revisions. Older ones do not have the rule: there it is advice.
func adviceBefore(l report.Level) map[server.Revision]report.Level {
	return map[server.Revision]report.Level{
		server.V20250326: report.Advice, server.V20250618: report.Advice, server.V20251125: l, server.V20260728: l}
}

var overPipe = check.Check{
	ID: "stdio", Rule: "Over stdio, the client MUST write each message as one line of UTF-8, and nothing else",
	Levels: check.Everywhere(report.Must), Requests: 1, Cases: []string{"pipe"}, Needs: []check.Need{overStdio},
	Statements: []string{"2025-03-26/transports/stdio", "2025-06-18/transports/stdio", "2025-11-25/transports/05",
		"2025-11-25/transports/03", "2025-11-25/transports/01", "2026-07-28/stdio/03", "2026-07-28/stdio/01",
		"2026-07-28/transports/01"},
	Cause: "the client logs to standard output, writes JSON on several lines, or does not escape line ends in texts",
	Fix:   "Write each message as UTF-8 JSON without line breaks, then one line feed. Write logs to standard error.",
	Judge: func(e *evidence.Case) check.Verdict {
		v := check.OnlyMessages([]*evidence.Session{e.Session})
		if v.Kind == report.Pass && len(e.Rounds[0].Answers) == 0 {
			return check.NotObserved("no response to the question with line ends%s", e.WhyNoResult(1))
		}
		return v
	},
}

var stderrIsNoError = check.Check{
	ID: "stderr", Rule: "The client SHOULD NOT take the server's output on standard error as an error",
	Levels: adviceBefore(report.Should), Requests: 1, Cases: []string{"pipe"},
	Statements: []string{"2025-11-25/transports/04", "2026-07-28/stdio/02"}, Needs: []check.Need{overStdio, logged},
	Cause: "the client raises an error for any output on standard error, or does not read it until the server blocks",
	Fix:   "Forward, store or discard the output, and go on.",
	Judge: func(e *evidence.Case) check.Verdict {
		const after = "after output on standard error"
		wrote := mark(e, trace.MarkStderr)
		place := at(wrote, "standard error")
		for _, r := range e.Rounds[1:] {
			if r.CassetteMiss() != "" {
				return check.NotObserved("no result for sampling request %d%s", r.N, e.WhyNoResult(r.N))
			}
			if r.Result() == nil {
				v := check.Fail("expected a result for sampling request %d %s, found none%s", r.N, after, e.WhyNoResult(r.N))
				return check.ShowOutput(e.Session, v.Show(place, "%s", wrote.Mark.Text).Show(r.Asked, ""))
			}
		}
		if v := check.Survived(e, place, "the client did not go on "+after); v != nil {
			return *v
		}
		return check.Pass("the client went on")
	},
}

func logged(e *evidence.Case) *check.Verdict {
	if mark(e, trace.MarkStderr) != nil {
		return nil
	}
	return instead(check.NotObserved("the server did not write to standard error%s", e.WhyNoResult(len(e.Rounds))))
}

var shutsDown = check.Check{
	ID: "shuts-down", Rule: "The client SHOULD close the server's input before it ends the server",
	Levels: adviceBefore(report.Should), Cases: []string{"pipe"},
	Statements: []string{"2025-11-25/lifecycle/shutdown", "2026-07-28/stdio/07"},
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
