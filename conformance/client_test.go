package conformance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// question tells of the basic question.
func questionOf(t *testing.T, revision server.Revision) *story {
	return begin(t, catalogue, revision, dialect.Native, "basic/question")
}

func TestWhetherTheClientConnects(t *testing.T) {
	initialize := func(params string) func(*story) {
		return func(s *story) {
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+params+`}`)
		}
	}
	const unused = "the client never got as far as using the server; "
	for _, c := range []struct {
		name    string
		tell    func(*story)
		verdict report.Verdict
		message string
		in      []server.Revision
	}{
		{"it does", (*story).connects, report.Pass, "the client connected and was served", bothEras},
		{"it exits at once", func(*story) {}, report.Fail, unused + "it ended with success", bothEras},
		{"it crashes", func(s *story) { s.ends(trace.Process{ExitCode: 2, Stderr: "no such host\n"}) }, report.Fail, unused + "it exited with status 2", bothEras},
		{"it initializes and leaves", func(s *story) {
			initialize(`{"protocolVersion":"2025-11-25"}`)(s)
			s.frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`)
		}, report.Fail, unused + "it ended with success", inA},
		{"it is turned down", func(s *story) {
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
			s.frame("", trace.ToClient, 400, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"initialize comes first"}}`)
		}, report.Fail, unused + "it ended with success", bothEras},
		{"it makes a session up", func(s *story) {
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
			s.frame("", trace.ToClient, 404, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"session is unknown"}}`)
		}, report.Fail, unused + "it ended with success", inA},
		{"it opens a stream and hangs up", func(s *story) {
			s.add("", trace.Event{Frame: &trace.Frame{Dir: trace.FromClient, Stream: "get", Session: sessionID, Closed: true}})
		}, report.Fail, unused + "it ended with success", inA},
		{"it initializes without a version", initialize(`{"capabilities":{}}`), report.Fail, unused + "it ended with success", inA},
		{"it initializes with what is no object", initialize(`[]`), report.Fail, unused + "it ended with success", inA},
		{"it takes the revision that it is offered", func(s *story) {
			initialize(`{"protocolVersion":"2025-06-18"}`)(s)
			s.frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`)
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		}, report.Pass, "the client connected and was served", inA},
		{"it tries the other era first", func(s *story) {
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`)
			s.frame("", trace.ToClient, 400, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"initialize comes first"}}`)
			s.connects()
		}, report.Pass, "the client connected and was served", inA},
		{"it tries the older era first", func(s *story) {
			initialize(`{"protocolVersion":"2025-11-25"}`)(s)
			s.frame("", trace.ToClient, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"unsupported protocol version"}}`)
			s.connects()
		}, report.Pass, "the client connected and was served", inB},
		{"it calls a tool and nothing else", func(s *story) {
			s.calls()
			s.asks(asking(question))
		}, report.Pass, "the client connected and was served", inB},
		{"the run is interrupted", func(s *story) { s.ends(trace.Process{Interrupted: true}) }, report.NotObserved, "the run was interrupted before this could be seen", bothEras},
		{"the trace was cut", func(s *story) { s.trace.Whole = false }, report.NotObserved, "the trace is not whole, so nothing is said of this", bothEras},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, revision := range c.in {
				s := unconnected(t, catalogue, revision, dialect.Native, "basic/question")
				c.tell(s)
				got := s.result("client/connects")
				require.Equal(t, c.message, got.Message, revision)
				require.Equal(t, c.verdict, got.Verdict, revision)
			}
		})
	}
}

func TestAClientThatIsTurnedDownIsShownWhy(t *testing.T) {
	s := unconnected(t, catalogue, server.V20260728, dialect.Native, "basic/question")
	s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
	s.frame("", trace.ToClient, 400, `{"jsonrpc":"2.0","error":{"code":-32020,"message":"header Mcp-Method is missing"}}`)
	s.ends(trace.Process{ExitCode: 1, Stderr: strings.Repeat("line\n", 20) + "the last line\n", Stdout: "hello\n"})
	frames := s.result("client/connects").Evidence
	require.Len(t, frames, 3)
	require.Equal(t, "HTTP 400", frames[0].Label)
	require.Contains(t, frames[0].Text, "header Mcp-Method is missing")
	require.Equal(t, "stderr", frames[1].Label)
	require.Equal(t, strings.Repeat("line\n", outputLines-1)+"the last line", frames[1].Text)
	require.Equal(t, report.Evidence{Label: "stdout", Text: "hello"}, frames[2])
}

func TestWhetherAnythingIsSampled(t *testing.T) {
	for _, c := range []struct {
		name    string
		tell    func(*story)
		verdict report.Verdict
		message string
		in      []server.Revision
	}{
		{"it is", right, report.Pass, "sampling requests were answered", bothEras},
		{"it is not declared", func(s *story) { s.marks(trace.MarkWithheld, "sampling") }, report.Fail, "nothing could be asked of the client, which does not declare sampling", bothEras},
		{"it is never answered", func(s *story) { s.asks(asking(question)) }, report.Fail, "not one sampling request was answered with a result", bothEras},
		{"the model always fails", func(s *story) {
			s.caseID, s.trace.Header.Cases[0].ID = "provider-errors/unauthorized", "provider-errors/unauthorized"
			s.calls().asks(asking(question)).fails(401)
		}, report.NotObserved, "the model failed whenever the client asked it, so that there was nothing to answer with", bothEras},
		{"it is refused", func(s *story) { s.asks(asking(question)).refuses(-1, "no") }, report.Fail, "not one sampling request was answered with a result", inA},
		{"it is declared once that is asked for", func(s *story) {
			s.marks(trace.MarkWithheld, "sampling")
			s.calls()
			right(s)
		}, report.Pass, "sampling requests were answered", inB},
		{"the run is interrupted", func(s *story) { s.asks(asking(question)).ends(trace.Process{Interrupted: true}) }, report.NotObserved, "the run was interrupted before this could be seen", bothEras},
		{"the trace was cut", func(s *story) { s.trace.Whole = false }, report.NotObserved, "the trace is not whole, so nothing is said of this", bothEras},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, revision := range c.in {
				s := questionOf(t, revision)
				c.tell(s)
				got := s.result("client/sampled")
				require.Equal(t, c.message, got.Message, revision)
				require.Equal(t, c.verdict, got.Verdict, revision)
			}
		})
	}
	idle := unconnected(t, catalogue, server.V20251125, dialect.Native, "basic/question")
	idle.connects()
	got := idle.result("client/sampled")
	require.Equal(t, report.NotObserved, got.Verdict)
	require.Equal(t, "the client called no tool, so that nothing was asked of it", got.Message)
}

func TestHowTheClientEnds(t *testing.T) {
	const badly = "the client did not end well: "
	for name, c := range map[string]struct {
		process trace.Process
		verdict report.Verdict
		message string
	}{
		"with success":    {trace.Process{}, report.Pass, "the client ended by itself, with success"},
		"with a status":   {trace.Process{ExitCode: 3}, report.Fail, badly + "it exited with status 3"},
		"by a signal":     {trace.Process{ExitCode: -1, Signal: "segmentation fault"}, report.Fail, badly + "a signal ended it: segmentation fault"},
		"by a panic":      {trace.Process{Panic: "index out of range"}, report.Fail, badly + "it panicked: index out of range"},
		"by an error":     {trace.Process{Err: "EOF"}, report.Fail, badly + "it returned the error: EOF"},
		"by us":           {trace.Process{Deadline: true, Signal: "killed", ExitCode: -1}, report.Fail, badly + "it was still running after 1m0s and was ended"},
		"with a leak":     {trace.Process{Leak: "goroutines were left"}, report.Fail, badly + "goroutines were left"},
		"by whoever gave": {trace.Process{Interrupted: true, Signal: "terminated", ExitCode: -1}, report.NotObserved, "the run was interrupted before this could be seen"},
	} {
		t.Run(name, func(t *testing.T) {
			s := questionOf(t, server.V20251125)
			right(s)
			got := s.ends(c.process).result("client/ends-cleanly")
			require.Equal(t, c.message, got.Message)
			require.Equal(t, c.verdict, got.Verdict)
		})
	}
	cut := questionOf(t, server.V20251125)
	cut.ended = true
	got := cut.result("client/ends-cleanly")
	require.Equal(t, report.Fail, got.Verdict)
	require.Equal(t, badly+"the trace does not say how it ended", got.Message)
}

func TestAClientThatSpeaksNoRevisionOfTheRunFails(t *testing.T) {
	foreign := func(revision server.Revision) *trace.Trace {
		s := unconnected(t, catalogue, revision, dialect.Native, "basic/question")
		s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`)
		return s.ends(trace.Process{ExitCode: 1}).trace
	}
	rs, err := judgeTraces(catalogue, []*trace.Trace{foreign(server.V20251125), foreign(server.V20260728)}, nil)
	require.NoError(t, err)
	require.True(t, rs.Failed(false))
	require.Equal(t, 2, rs.Summary[report.Fail])
	for _, r := range rs.Results {
		if r.Check != connectsID {
			require.Equal(t, report.NotApplicable, r.Verdict, r.ID())
			continue
		}
		require.Equal(t, report.Fail, r.Verdict)
		require.Equal(t, "the client does not speak "+r.Revision+": it tried 2024-11-05; it was judged in no revision at all", r.Message)
		require.NotEmpty(t, r.Fix)
	}

	served := questionOf(t, server.V20251125)
	right(served)
	rs, err = judgeTraces(catalogue, []*trace.Trace{served.ends(trace.Process{}).trace, foreign(server.V20260728)}, nil)
	require.NoError(t, err)
	require.False(t, rs.Failed(false), "one revision is enough")
	for _, r := range rs.Results {
		if r.Revision == "2026-07-28" {
			require.Equal(t, report.NotApplicable, r.Verdict, r.ID())
		}
	}
}
