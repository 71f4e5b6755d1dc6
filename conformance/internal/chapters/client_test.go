package chapters_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/judge"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// question tells of the basic question.
func questionOf(t *testing.T, revision server.Revision) *session {
	return tracetest.Begin(t, clientCatalogue, revision, dialect.Native, "basic/question")
}

func TestWhetherTheClientConnects(t *testing.T) {
	initialize := func(params string) func(*session) {
		return func(s *session) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+params+`}`)
		}
	}
	const unused = "the client never used the server; "
	for _, c := range []struct {
		name    string
		tell    func(*session)
		verdict report.Verdict
		message string
		in      []server.Revision
	}{
		{"it does", (*session).Connects, report.Pass, "the client connected and used the server", tracetest.BothEras},
		{"it exits at once", func(*session) {}, report.Fail, unused + "it ended with success", tracetest.BothEras},
		{"it crashes", func(s *session) { s.Ends(trace.Process{ExitCode: 2, Stderr: "no such host\n"}) }, report.Fail,
			unused + "it exited with status 2: no such host", tracetest.BothEras},
		{"it initializes and leaves", func(s *session) {
			initialize(`{"protocolVersion":"2025-11-25"}`)(s)
			s.Frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`)
		}, report.Fail, unused + "it ended with success", tracetest.InA},
		{"it is turned down", func(s *session) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
			s.Frame("", trace.ToClient, 400, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"initialize comes first"}}`)
		}, report.Fail, unused + "the server refused a message of the client with HTTP 400: initialize comes first; " +
			"it ended with success", tracetest.BothEras},
		{"it makes a session up", func(s *session) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
			s.Frame("", trace.ToClient, 404, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"session is unknown"}}`)
		}, report.Fail, unused + "the server refused a message of the client with HTTP 404: session is unknown; " +
			"it ended with success", tracetest.InA},
		{"it opens a stream and hangs up", func(s *session) {
			s.Add("", trace.Event{Frame: &trace.Frame{Dir: trace.FromClient, Stream: "get", Session: tracetest.SessionID,
				Closed: true}})
		}, report.Fail, unused + "it ended with success", tracetest.InA},
		{"it initializes without a version", initialize(`{"capabilities":{}}`), report.Fail, unused + "it ended with success",
			tracetest.InA},
		{"it initializes with what is no object", initialize(`[]`), report.Fail, unused + "it ended with success",
			tracetest.InA},
		{"it takes the revision that it is offered", func(s *session) {
			initialize(`{"protocolVersion":"2025-06-18"}`)(s)
			s.Frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`)
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		}, report.Pass, "the client connected and used the server", tracetest.InA},
		{"it tries the other era first", func(s *session) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`)
			s.Frame("", trace.ToClient, 400, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"initialize comes first"}}`)
			s.Connects()
		}, report.Pass, "the client connected and used the server", tracetest.InA},
		{"it tries the older era first", func(s *session) {
			initialize(`{"protocolVersion":"2025-11-25"}`)(s)
			s.Frame("", trace.ToClient, 400,
				`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"unsupported protocol version"}}`)
			s.Connects()
		}, report.Pass, "the client connected and used the server", tracetest.InB},
		{"it calls a tool and nothing else", func(s *session) {
			s.Calls()
			s.Asks(tracetest.Asking(story.Question))
		}, report.Pass, "the client connected and used the server", tracetest.InB},
		{"the run is interrupted", func(s *session) { s.Ends(trace.Process{Interrupted: true}) }, report.NotObserved,
			"the run was interrupted first", tracetest.BothEras},
		{"the trace was cut", func(s *session) { s.Trace.Whole = false }, report.NotObserved,
			"the trace is incomplete", tracetest.BothEras},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, revision := range c.in {
				s := tracetest.Unconnected(t, clientCatalogue, revision, dialect.Native, "basic/question")
				c.tell(s)
				got := s.Result("client/connects")
				require.Equal(t, c.message, got.Message, revision)
				require.Equal(t, c.verdict, got.Verdict, revision)
				require.Equal(t, strings.Contains(c.message, "model refused"), strings.Contains(got.Fix, "to the model"))
			}
		})
	}
}

func TestAClientThatDropsThePathOfTheURLIsToldSo(t *testing.T) {
	s := tracetest.Unconnected(t, clientCatalogue, server.V20251125, dialect.Native, "basic/question")
	s.Add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkStrangers, Text: "3"}})
	require.Contains(t, s.Result("client/connects").Cause, "without the path of the URL were refused: 3")
}

func TestAClientThatIsTurnedDownIsShownWhy(t *testing.T) {
	s := tracetest.Unconnected(t, clientCatalogue, server.V20260728, dialect.Native, "basic/question")
	s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
	s.Frame(
		"",
		trace.ToClient,
		400,
		`{"jsonrpc":"2.0","error":{"code":-32020,"message":"header Mcp-Method is missing"}}`,
	)
	s.Ends(trace.Process{ExitCode: 1, Stderr: "node:internal:1\n" + strings.Repeat("line\n", 20) +
		"Error: Cannot find module\n" + strings.Repeat("  at there\n", 20) + "the last line\n", Stdout: "hello\n"})
	frames := s.Result("client/connects").Evidence
	require.Len(t, frames, 3)
	require.Equal(t, "HTTP 400", frames[0].Label)
	require.Contains(t, frames[0].Text, "header Mcp-Method is missing")
	require.Equal(t, "stderr", frames[1].Label)
	require.Equal(t, "node:internal:1\nline\n…\nError: Cannot find module\n…\n"+strings.Repeat("  at there\n", 3)+
		"the last line", frames[1].Text)
	require.Equal(t, report.Evidence{Label: "stdout", Text: "hello"}, frames[2])
}

// refusing tells of a client that answers some questions, and then refuses n with each error.
func refusing(n, answered int, errors ...string) func(*session) {
	return func(s *session) {
		for range answered {
			tracetest.Right(s)
		}
		for range n {
			for _, said := range errors {
				s.Asks(tracetest.Asking(story.Question)).Refuses(-1, said)
			}
		}
	}
}

func TestWhetherAnythingIsSampled(t *testing.T) {
	for _, c := range []struct {
		name    string
		tell    func(*session)
		verdict report.Verdict
		message string
		in      []server.Revision
	}{
		{"it is", tracetest.Right, report.Pass, "the client answered sampling requests with results", tracetest.BothEras},
		{"it is not declared", func(s *session) { s.Marks(trace.MarkWithheld, "sampling") }, report.Fail,
			"expected the client to declare sampling, found the capabilities {\"sampling\":{\"tools\":{}}}: " +
				"no sampling request could be sent", tracetest.BothEras},
		{"other requests are not declared", func(s *session) {
			s.Marks(trace.MarkWithheld, "sampling.tools")
			s.Asks(tracetest.Asking(story.Question))
		}, report.Fail, "expected a result for at least one sampling request, found none: no response to request 1",
			tracetest.BothEras},
		{"it is never answered", func(s *session) { s.Asks(tracetest.Asking(story.Question)) }, report.Fail,
			"expected a result for at least one sampling request, found none: no response to request 1", tracetest.BothEras},
		{"the model always fails", func(s *session) {
			s.CaseID, s.Trace.Header.Cases[0].ID = "provider-errors/unauthorized", "provider-errors/unauthorized"
			s.Calls().Asks(tracetest.Asking(story.Question)).Fails(401)
		}, report.NotObserved, "the model failed on purpose for every sampling request, so there was nothing to " +
			"answer with", tracetest.BothEras},
		{"the model could not read the request", func(s *session) {
			s.Asks(tracetest.Asking(story.Question))
			s.Add("", trace.Event{End: &trace.ModelEnd{Exchange: 9, Status: 413, Refused: "too large"}})
			s.Refuses(-1, "no")
			s.Add("", trace.Event{End: &trace.ModelEnd{Exchange: 10, Status: 415, Refused: "later"}})
		}, report.Fail, "expected a result for at least one sampling request, found none: error response to request 1: " +
			"\"no\" (code -1); the model refused its request: too large", tracetest.InA},
		{"it is refused", func(s *session) { s.Asks(tracetest.Asking(story.Question)).Refuses(-1, "no") },
			report.Fail, "expected a result for at least one sampling request, found none: error response to request 1: " +
				"\"no\" (code -1)", tracetest.InA},
		{"the response is refused", func(s *session) {
			s.Asks(tracetest.Asking(story.Question))
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1001,"result":{}}`)
			s.Frame("", trace.ToClient, 415, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"no JSON"}}`)
		}, report.Fail, "expected a result for at least one sampling request, found none: no response to request 1; " +
			"the server refused a message of the client with HTTP 415: no JSON", tracetest.InA},
		{"a message of another session is refused", func(s *session) {
			s.Asks(tracetest.Asking(story.Question))
			s.Add("", trace.Event{Frame: &trace.Frame{Dir: trace.ToClient, HTTP: &trace.HTTP{Status: 404}, Session: "another",
				Raw: trace.Bytes(`{"jsonrpc":"2.0","error":{"code":-32600,"message":"it has ended"}}`)}})
		}, report.Fail, "expected a result for at least one sampling request, found none: no response to request 1",
			tracetest.InA},
		{"the client asks for the revisions beside", func(s *session) {
			s.Asks(tracetest.Asking(story.Question))
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`)
			s.Frame("", trace.ToClient, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"too new"}}`)
		}, report.Fail, "expected a result for at least one sampling request, found none: no response to request 1",
			tracetest.InA},
		{"nearly all are refused with one error", refusing(24, 6, "no"), report.Fail, "expected results for plain " +
			"questions, found the same error for 24 of 30: error response to request 7: \"no\" (code -1)", tracetest.InA},
		{"the most frequent error counts", refusing(20, 1, "no", "why", "why"), report.Fail, "expected results for " +
			"plain questions, found the same error for 40 of 61: error response to request 3: \"why\" (code -1)",
			tracetest.InA},
		{"one in four is answered", refusing(23, 6, "no"), report.Pass, "the client answered sampling requests with results",
			tracetest.InA},
		{"few are refused", refusing(19, 1, "no"), report.Pass, "the client answered sampling requests with results",
			tracetest.InA},
		{"the errors differ", refusing(19, 1, "no", "why"), report.Pass, "the client answered sampling requests with " +
			"results", tracetest.InA},
		{"the client limits its requests", refusing(40, 1, "too many requests per minute"), report.Pass,
			"the client answered sampling requests with results", tracetest.InA},
		{"other requests are refused", func(s *session) {
			tracetest.Right(s)
			for range 40 {
				s.Asks(tracetest.Asking(story.Question, story.GetWeather)).Refuses(-1, "no")
			}
		}, report.Pass, "the client answered sampling requests with results", tracetest.InA},
		{"images are refused", func(s *session) {
			tracetest.Right(s)
			for range 40 {
				ask := tracetest.Asking(story.Question)
				ask.Messages[0].Content = server.Image("image/png", story.WeatherMap)
				s.Asks(ask).Refuses(-1, "no")
			}
		}, report.Pass, "the client answered sampling requests with results", tracetest.InA},
		{"all are refused", refusing(40, 0, "no"), report.Fail, "expected a result for at least one sampling request, " +
			"found none: error response to request 1: \"no\" (code -1)", tracetest.InA},
		{"the user declines", func(s *session) {
			s.Trace.Header.Decision = harness.Decline
			refusing(40, 1, "no")(s)
		}, report.NotApplicable, "in every session the harness asked the client to declare no sampling or the user to " +
			"decline, or the server was not for sampling", tracetest.InA},
		{"the model fails", func(s *session) {
			tracetest.Right(s)
			for range 40 {
				s.Asks(tracetest.Asking(story.Question)).Fails(500).Refuses(-1, "no")
			}
		}, report.Pass, "the client answered sampling requests with results", tracetest.InA},
		{"it is declared once that is asked for", func(s *session) {
			s.Marks(trace.MarkWithheld, "sampling")
			s.Calls()
			tracetest.Right(s)
		}, report.Pass, "the client answered sampling requests with results", tracetest.InB},
		{"the run is interrupted", func(s *session) {
			s.Asks(tracetest.Asking(story.Question)).Ends(trace.Process{Interrupted: true})
		}, report.NotObserved, "the run was interrupted first", tracetest.BothEras},
		{"the trace was cut", func(s *session) { s.Trace.Whole = false }, report.NotObserved,
			"the trace is incomplete", tracetest.BothEras},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, revision := range c.in {
				s := questionOf(t, revision)
				c.tell(s)
				got := s.Result("client/sampled")
				require.Equal(t, c.message, got.Message, revision)
				require.Equal(t, c.verdict, got.Verdict, revision)
				ignored := revision == server.V20251125 && strings.HasSuffix(c.message, "no response to request 1")
				require.Equal(t, ignored, strings.Contains(got.Fix, "as they come"), "%s: %s", revision, got.Fix)
			}
		})
	}
	idle := tracetest.Unconnected(t, clientCatalogue, server.V20251125, dialect.Native, "basic/question")
	idle.Connects()
	got := idle.Result("client/sampled")
	require.Equal(t, report.NotObserved, got.Verdict)
	require.Equal(t, "the client called no tool, so the server sent no sampling request", got.Message)
}

func TestHowTheClientEnds(t *testing.T) {
	const badly = "the client did not end cleanly: "
	for name, c := range map[string]struct {
		process trace.Process
		verdict report.Verdict
		message string
	}{
		"with success":  {trace.Process{}, report.Pass, "the client ended by itself, with success"},
		"with a status": {trace.Process{ExitCode: 3}, report.Fail, badly + "it exited with status 3"},
		"by a signal": {trace.Process{ExitCode: -1, Signal: "segmentation fault"}, report.Fail, badly +
			"it was ended by the signal segmentation fault"},
		"by a panic": {trace.Process{Panic: "index out of range"}, report.Fail, badly +
			"it panicked: index out of range"},
		"by an error": {trace.Process{Err: "EOF"}, report.Fail, badly + "it returned the error: EOF"},
		"by us": {trace.Process{Deadline: true, Signal: "killed", ExitCode: -1}, report.Fail, badly +
			"it was still running after 1m0s and was ended"},
		"too slow": {trace.Process{Deadline: true, Unfinished: true, Signal: "killed", ExitCode: -1},
			report.Unsupported, "the client needs more time: set a limit such as 6m0s (--timeout, " +
				"conformance.Timeout), or select fewer scenarios; it was still making progress after 9ms, when " +
				"its time was up"},
		"with a leak": {trace.Process{Leak: "goroutines were left"}, report.Fail, badly + "goroutines were left"},
		"by whoever gave": {trace.Process{Interrupted: true, Signal: "terminated", ExitCode: -1}, report.NotObserved,
			"the run was interrupted first"},
	} {
		t.Run(name, func(t *testing.T) {
			s := questionOf(t, server.V20251125)
			tracetest.Right(s)
			got := s.Ends(c.process).Result("client/ends-cleanly")
			require.Equal(t, c.message, got.Message)
			require.Equal(t, c.verdict, got.Verdict)
		})
	}
	slow := questionOf(t, server.V20251125)
	slow.Asks(tracetest.Asking(tracetest.WhenOpen))
	for range 3 {
		slow.Fails(503).Later(time.Second << slow.Models)
	}
	backsOff := slow.Ends(trace.Process{Deadline: true}).Result("client/ends-cleanly")
	require.Contains(t, backsOff.Message, "after longer and longer waits, when its time was up after 1m0s")
	require.Equal(t, report.Unsupported, backsOff.Verdict)
	waits := questionOf(t, server.V20251125)
	waits.Asks(tracetest.Asking("?")).Later(30 * time.Second).CallEnds(harness.Failed)
	waits.Ends(trace.Process{Deadline: true, Unfinished: true})
	require.Contains(t, waits.Result("client/ends-cleanly").Message, "the client needs more time, or a shorter limit of "+
		"its own: it ended its call for basic/question after 30s: set a limit such as")
	crashed := questionOf(t, server.V20251125)
	tracetest.Right(crashed)
	crashed.Ends(trace.Process{ExitCode: 3})
	both, err := judge.Traces(clientCatalogue, []*trace.Trace{waits.Trace, crashed.Trace}, nil)
	require.NoError(t, err)
	at := slices.IndexFunc(both.Results, func(r report.Result) bool { return r.ID() == "client/ends-cleanly" })
	require.Equal(t, report.Fail, both.Results[at].Verdict)
	require.Regexp(t, "^"+badly+"it exited with status 3.*; in another session the client needs more time, or a shorter "+
		"limit of its own: it ended its call for basic/question after 30s", both.Results[at].Message)
	for calls, verdict := range map[int]report.Verdict{2: report.NotObserved, 3: report.Fail} {
		ignores := questionOf(t, server.V20251125)
		for i := range calls {
			if i > 0 {
				ignores.CaseID, ignores.Call = fmt.Sprint("basic/ids", i), 0
				ignores.Trace.Header.Cases = append(ignores.Trace.Header.Cases, trace.Case{ID: ignores.CaseID})
				ignores.Calls()
			}
			ignores.Asks(tracetest.Asking("?")).Later(15 * time.Second).CallEnds(harness.Failed)
		}
		ignores.Ends(trace.Process{Deadline: true, Unfinished: true})
		require.Equal(t, verdict, ignores.Result("client/sampled").Verdict, "%d calls", calls)
	}
	dies := questionOf(t, server.V20251125).PassesBarrier()
	for i := range dies.Trace.Header.Cases {
		dies.Trace.Header.Cases[i].Replayed = true
	}
	died := dies.Ends(trace.Process{ExitCode: 1}).Result("client/ends-cleanly").Message
	require.Contains(t, died, "; the other 1 of the session's 2 cases are judged in sessions of their own")
	hangs := questionOf(t, server.V20251125)
	hangs.Asks(tracetest.Asking(tracetest.WhenOpen))
	shown := hangs.Ends(trace.Process{Deadline: true}).Result("client/ends-cleanly").Evidence
	require.Len(t, shown, 1)
	require.Equal(t, "server sent last", shown[0].Label)
	silent := questionOf(t, server.V20251125)
	silent.Asks(tracetest.Asking(tracetest.WhenOpen)).Prompts(tracetest.Asking(tracetest.WhenOpen)).Says("At ten.")
	mute := silent.Ends(trace.Process{Deadline: true}).Result("client/ends-cleanly")
	require.Contains(t, mute.Message, "; it did not respond to sampling request 1, although the model had answered")
	require.Contains(t, mute.Fix, "Respond to every sampling request")
	closed := questionOf(t, server.V20251125)
	closed.Asks(tracetest.Asking(tracetest.WhenOpen))
	disconnects(time.Second)(closed)
	stuck := closed.Ends(trace.Process{Deadline: true}).Result("client/ends-cleanly")
	require.Contains(
		t,
		stuck.Message,
		"it was still running after 1m0s and was ended; the server closed its stream, and no "+
			"GET with Last-Event-ID asked for the rest (see transport/reconnects)",
	)
	require.Contains(t, stuck.Fix, "Last-Event-ID")
	const model = "the model refused a request of the client that belongs to no sampling request: expected max_tokens; "
	s := questionOf(t, server.V20251125)
	tracetest.Right(s)
	s.Add("", trace.Event{Request: &trace.ModelRequest{Exchange: 99, Dialect: dialect.OpenAIChat}})
	s.Add("", trace.Event{End: &trace.ModelEnd{Exchange: 99, Status: 400, Refused: "expected max_tokens"}})
	own := s.Ends(tracetest.Died).Result("client/ends-cleanly")
	require.Equal(t, model+"it exited with status 1", own.Message)
	require.Equal(t, report.NotObserved, own.Verdict)
	early := questionOf(t, server.V20251125)
	tracetest.Right(early)
	early.Trace.Header.Cases = append(early.Trace.Header.Cases, trace.Case{ID: "basic/next", Tool: "basic-next"},
		trace.Case{ID: "basic/prompt", Tool: "p", Carrier: "prompts/get"})
	early.Marks(trace.MarkHandlerEnded, "")
	one := early.Ends(trace.Process{}).Result("client/ends-cleanly")
	require.Equal(t, report.Fail, one.Verdict)
	require.Contains(
		t,
		one.Message,
		"expected calls of all 3 tools of the session before the client ends with success, found 2",
	)
	atTheEnd := questionOf(t, server.V20251125)
	tracetest.Right(atTheEnd)
	atTheEnd.Marks(trace.MarkHandlerEnded, "")
	atTheEnd.Trace.Header.Cases = append(atTheEnd.Trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: "barrier"})
	atTheEnd.CaseID, atTheEnd.Call = harness.BarrierID, 0
	atTheEnd.Calls()
	require.Equal(t, badly+"it exited with status 1, after basic/question",
		atTheEnd.Ends(tracetest.Died).Result("client/ends-cleanly").Message, "users do not know the barrier")
	cut := questionOf(t, server.V20251125)
	cut.Ended = true
	got := cut.Result("client/ends-cleanly")
	require.Equal(t, report.Fail, got.Verdict)
	require.Equal(t, badly+"the trace does not say how it ended", got.Message)
}

func TestAClientThatSpeaksNoRevisionOfTheRunFails(t *testing.T) {
	foreign := func(revision server.Revision) *trace.Trace {
		s := tracetest.Unconnected(t, clientCatalogue, revision, dialect.Native, "basic/question")
		s.Frame("", trace.FromClient, 0,
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`)
		return s.Ends(trace.Process{ExitCode: 1}).Trace
	}
	rs, err := judge.Traces(clientCatalogue, []*trace.Trace{foreign(server.V20251125), foreign(server.V20260728)}, nil)
	require.NoError(t, err)
	require.True(t, rs.Failed(false))
	require.Equal(t, 2, rs.Summary[report.Fail])
	require.Empty(t, rs.Notes)
	for _, r := range rs.Results {
		if r.Check != "connects" {
			require.Equal(t, report.NotApplicable, r.Verdict, r.ID())
			continue
		}
		require.Equal(t, report.Fail, r.Verdict)
		require.Equal(t, "the client does not speak "+r.Revision+": it tried 2024-11-05; it was not judged in any revision",
			r.Message)
		require.NotEmpty(t, r.Fix)
	}

	served := questionOf(t, server.V20251125)
	tracetest.Right(served)
	rs, err = judge.Traces(clientCatalogue, []*trace.Trace{served.Ends(trace.Process{}).Trace,
		foreign(server.V20260728)}, nil)
	require.NoError(t, err)
	require.False(t, rs.Failed(false), "one revision is enough")
	require.Equal(t, []string{"the client does not speak 2026-07-28: it tried 2024-11-05, " +
		"so nothing was judged; --revision 2026-07-28 makes that a failure"}, rs.Notes)
	for _, r := range rs.Results {
		if r.Revision == "2026-07-28" {
			require.Equal(t, report.NotApplicable, r.Verdict, r.ID())
		}
	}
}
