package chapters_test

import (
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAClientRespondsOnEveryStream(t *testing.T) {
	const onCall = "on the stream of the call"
	transportRun(t, "post-stream", tracetest.InA, []transportTest{
		{"on-post-stream", "a result", report.Pass, onCall, []step{fish, answered, barrier}},
		{"on-post-stream", "a refusal", report.Pass, onCall, []step{fish, transportRefused(-32603), barrier}},
		{"on-post-stream", "method not found", report.Fail, onCall + ", found error -32601",
			[]step{fish, transportRefused(-32601), barrier}},
		{"on-post-stream", "no response", report.Fail, onCall + ", found none", []step{fish, barrier}},
		{"on-post-stream", "no response to anything", report.NotObserved, "basic/answered", []step{fish}},
		{"on-post-stream", "the client dies", report.NotObserved, "it exited with status 1", []step{fish, transportDies}},
	})
	transportRun(t, "get-stream", tracetest.InA, []transportTest{
		{"on-get-stream", "no stream", report.NotApplicable, "", []step{barrier}},
		{"on-get-stream", "no response", report.Fail, "opened with GET, found none", []step{fish, barrier}},
		{"on-get-stream", "a result", report.Pass, "opened with GET", []step{fish, answered, barrier}},
	})
}

func TestAClientReadsOnAfterANotice(t *testing.T) {
	const check, after = "after-notice", "after a notice that the tools have changed"
	transportRun(t, "tools-changed", tracetest.InA, []transportTest{
		{check, "two results", report.Pass, after, []step{fish, answered, fish, answered, barrier}},
		{check, "method not found", report.Fail, after + ", found error -32601",
			[]step{fish, answered, fish, transportRefused(-32601), barrier}},
		{check, "no response", report.Fail, after + ", found none", []step{fish, answered, fish, barrier}},
		{check, "no response to anything later", report.Fail, after + ", found none: it was still running",
			[]step{fish, answered, fish, transportHangs}},
		{check, "no response before", report.NotObserved, "basic/answered", []step{fish, fish, transportHangs}},
		{check, "the client dies", report.Fail, "it exited with status 1", []step{fish, answered, fish, transportDies}},
		{check, "the client ends early", report.Unsupported, "so it could still come",
			[]step{fish, answered, fish, transportEnds}},
	})
}

func TestAClientAcceptsPlainJSON(t *testing.T) {
	plainly := func(s *session) {
		s.Frame(s.CaseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
	}
	turnedDown := func(s *session) {
		s.Frame(s.CaseID, trace.ToClient, 400, `{"jsonrpc":"2.0","id":8,"error":{"code":-32020,"message":"no"}}`)
	}
	transportRun(t, "plain", tracetest.InA, []transportTest{
		{"accepts-json", "the client goes on", report.Pass, "", []step{plainly, barrier}},
		{"accepts-json", "the client reports a failed call", report.Fail, "failed call",
			[]step{plainly, reports("failed"), barrier}},
		{"accepts-json", "the client dies", report.Fail, "it exited with status 1", []step{plainly, transportDies}},
	})
	transportRun(t, "plain", tracetest.InB, []transportTest{
		{"accepts-json", "a retry", report.Pass, "", []step{fish, answered, barrier}},
		{"accepts-json", "no retry", report.Fail, "expected a retry", []step{fish, barrier}},
		{"accepts-json", "a failed call in place of a retry", report.Fail,
			"failed call: no response to request 1",
			[]step{fish, reports("failed"), barrier}},
		{"accepts-json", "a failed call after a retry", report.Fail, "reports a failed call",
			[]step{fish, answered, reports("failed"), barrier}},
		{"accepts-json", "a refused retry", report.NotObserved, "HTTP 400", []step{fish, answered, turnedDown}},
	})
}

func TestIDsOfTheServerAreItsOwn(t *testing.T) {
	transportRun(t, "same-id", tracetest.InA, []transportTest{
		{"id-collision", "a response, and a completed call", report.Pass, "",
			[]step{fish, answered, reports("completed"), barrier}},
		{"id-collision", "no response", report.Fail, "pending call, found none", []step{fish, reports("failed"), barrier}},
		{"id-collision", "a failed call", report.Fail, "reports a failed call",
			[]step{fish, answered, reports("failed"), barrier}},
	})
	twice := func(s *session) {
		s.Asks(tracetest.Fish)
		s.Frame(s.CaseID, trace.ToClient, 0, string(last(s).Raw))
		s.OnPurpose()
	}
	wren := tracetest.Asking("And this?")
	asksWren, toModelWren := func(s *session) { s.Asks(wren) }, func(s *session) { s.Prompts(wren) }
	transportRun(t, "repeated", tracetest.InA, []transportTest{
		{"duplicate-request", "one result", report.Pass, "", []step{twice, transportResult("1001"), fish, answered, barrier}},
		{"duplicate-request", "a result and an error", report.Pass, "",
			[]step{twice, transportResult("1001"), failure("1001"), fish, answered, barrier}},
		{"duplicate-request", "two results", report.Warn, "found 2",
			[]step{twice, transportResult("1001"), transportResult("1001"), fish, answered, barrier}},
		{"duplicate-request", "two requests to the model for one", report.Warn, "found 2",
			[]step{twice, toModel, toModel, transportResult("1001"), asksWren, toModelWren, answered, barrier}},
		{"duplicate-request", "two requests to the model for every request", report.Pass, "",
			[]step{twice, toModel, toModel, transportResult("1001"), asksWren, toModelWren, toModelWren, answered, barrier}},
		{"duplicate-request", "no response", report.Fail, "came twice, found none", []step{twice, barrier}},
		{"duplicate-request", "no response to the next request", report.Fail, "after the repeated one, found none",
			[]step{twice, transportResult("1001"), fish, barrier}},
	})
}

func TestAClientResumesTheStreamOfItsCall(t *testing.T) {
	const retry = 1200 * time.Millisecond
	ponders := func(s *session) { s.Asks(tracetest.Pondering) }
	thinks := func(s *session) { s.Thinks(tracetest.Pondering) }
	open := inOrder(ponders, numbered("post-1/2"), thinks, disconnects(retry))
	again := inOrder(comesBack(retry, "post-1/1"), ponders, resent, numbered("post-1/2"))
	whole := []step{open, comesBack(retry, "post-1/3"), fish, answered, transportResult("1001"), barrier}
	absent := []step{open, barrier}
	transportRun(t, "disconnect", tracetest.InA, []transportTest{
		{"reconnects", "resumed", report.Pass, "", whole},
		{"retry-honoured", "resumed", report.Pass, "", whole},
		{"always/one-response", "resumed", report.Pass, "", whole},
		{"reconnects", "no GET", report.Warn, "found none", absent},
		{"reconnects", "the client dies", report.Warn, "it exited with status 1", []step{open, transportDies}},
		{"retry-honoured", "no GET", report.NotApplicable, "transport/reconnects", absent},
		{"reconnects", "another stream", report.Warn, "a GET without it", []step{open, transportRequest("", "GET", nil),
			barrier}},
		{"reconnects", "an event before the last message", report.Warn, "a message came again", []step{open, again, barrier}},
		{"reconnects", "an event before the last, without a message", report.Pass, "",
			[]step{open, comesBack(retry, "post-1/2"), fish, answered, barrier}},
		{"reconnects", "a later break of the network", report.Pass, "", []step{open, comesBack(retry, "post-1/3"), fish,
			numbered("post-1/4"), comesBack(retry, "post-1/3"), fish, resent, numbered("post-1/4"), transportResult("1002"),
			barrier}},
		{"reconnects", "no response", report.Warn, "on the resumed stream, found none",
			[]step{open, comesBack(retry, "post-1/3"), fish, barrier}},
		{"reconnects", "no stream", report.NotObserved, "had no stream", []step{barrier}},
		{"retry-honoured", "an early timer", report.Pass, "",
			[]step{open, comesBack(retry-40*time.Millisecond, "post-1/3"), barrier}},
		{"retry-honoured", "at once", report.Fail, "1.2s", []step{open, comesBack(0, "post-1/3"), barrier}},
		{"retry-honoured", "after a second", report.Fail, "1.2s", []step{open, comesBack(time.Second, "post-1/3"), barrier}},
		{"always/one-response", "two responses", report.Fail, "",
			[]step{open, again, transportResult("1001"), transportResult("1001"), barrier}},
	})
}

func TestAClientStartsANewSessionAfterALostOne(t *testing.T) {
	gone := func(id string) step {
		return receives(404, `{"jsonrpc":"2.0",`+id+`"error":{"code":-32600,"message":"gone"}}`)
	}
	ended, listens := ends(trace.MarkSessionEnded), inOrder(transportRequest("", "GET", nil), gone(""))
	calls := inOrder(sends(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"barrier"}}`), gone(`"id":9,`))
	lost := inOrder(fish, answered, ended, calls)
	anew := initializes(tracetest.Everything, nil)
	transportRun(t, "lost-session", tracetest.InA, []transportTest{
		{"session-lost", "a new session", report.Pass, "", []step{lost, anew, barrier}},
		{"handlers-survive", "a new session", report.Pass, "", []step{lost, anew, barrier}},
		{"session-lost", "no new session", report.Fail, "found none", []step{lost}},
		{"handlers-survive", "no new session", report.NotApplicable, "transport/session-lost", []step{lost}},
		{"session-lost", "the old id", report.Fail, "the id of the old session",
			[]step{lost, initializes(tracetest.Everything, map[string]string{"Mcp-Session-Id": tracetest.SessionID}), barrier}},
		{"session-lost", "only a DELETE", report.Unsupported, "every tool",
			[]step{fish, answered, ended, transportRequest("", "DELETE", nil), gone("")}},
		{"session-lost", "only a GET after the last call", report.Unsupported, "every tool",
			[]step{barrier, fish, answered, ended, listens}},
		{"session-lost", "only a GET, with calls left", report.Fail, "found none",
			[]step{addsCases, fish, answered, ended, listens}},
		{"session-lost", "a GET and a request after the last call", report.Fail, "found none",
			[]step{barrier, fish, answered, ended, listens, calls}},
		{"session-lost", "no end of the session", report.NotObserved, "", []step{fish}},
		{"handlers-survive", "no capability", report.Fail, "sampling capability",
			[]step{lost, initializes(`{}`, nil), barrier}},
		{"handlers-survive", "an error", report.Fail, "(code -32601)", []step{lost, anew, fish, transportRefused(-32601)}},
		{"handlers-survive", "an error in both sessions", report.NotObserved, "first session: error response to request 1",
			[]step{fish, transportRefused(-32601), ended, calls, anew, fish, transportRefused(-32601)}},
		{"handlers-survive", "no call", report.Unsupported, "", []step{lost, anew}},
	})
}

func TestAClientRespondsToEachRequestOfABatch(t *testing.T) {
	asked := func(s *session) {
		s.Marks(trace.MarkBatch, "3 messages in one event").AsksAll(tracetest.Fish, tracetest.Fish, tracetest.Fish)
	}
	callsBarrier := func(s *session) {
		s.CaseID = harness.BarrierID
		s.Calls()
	}
	transportRun(t, "together", []server.Revision{server.V20250326}, []transportTest{
		{"batch", "a response to each", report.Pass, "",
			[]step{asked, transportResult("1003"), transportResult("1001"), failure("1002"), barrier}},
		{"batch", "no response", report.Fail, "request 1 of a batch, found none", []step{asked, barrier}},
		{"batch", "a response to the first", report.Fail, "request 2 of a batch, found none",
			[]step{asked, transportResult("1001"), barrier}},
		{"batch", "the client dies", report.Fail, "it exited with status 1", []step{asked, transportDies}},
		{"batch", "the client hangs", report.Fail, "still running after 1m0s", []step{asked, transportHangs}},
		{"batch", "the client hangs in another call", report.NotObserved, "still running after 1m0s",
			[]step{asked, addsCases, callsBarrier, transportHangs}},
		{"batch", "no batch", report.NotObserved, "did not send the batch", []step{fish, barrier}},
	})
}
