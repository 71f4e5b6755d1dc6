package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// roleless is what the cases missing-role and wrong-role ask, near enough.
var roleless = object{"maxTokens": 1000, "messages": []any{object{"content": server.Text("Which colour?")}}}

// malformedly begins the story of a malformed case: a plain question and its answer, and then what is wrong.
func malformedly(s *story) *story {
	s.asks(asking("Are you there?")).answers(saying("Yes."))
	return s.asks(roleless).onPurpose()
}

// after is a story that goes on from there.
func after(tell func(*story)) func(*story) { return func(s *story) { malformedly(s); tell(s) } }

// stillThere are a plain question more and its answer, and the barrier.
func stillThere(s *story) {
	s.asks(asking("Are you still there?")).answers(saying("Yes."))
	s.passesBarrier()
}

func TestWhatAClientDoesWithWhatIsMalformed(t *testing.T) {
	refused := after(func(s *story) { s.refuses(-32602, "no role").passesBarrier() })
	answered := after(func(s *story) { s.answers(saying("Blue.")).passesBarrier() })
	ignored := after(stillThere)
	crashed := after(func(s *story) { s.ends(trace.Process{Panic: "nil pointer"}) })
	hung := after(func(s *story) { s.ends(trace.Process{Deadline: true}) })
	poisoned := after(func(s *story) {
		s.refuses(-32602, "no role").asks(asking("Are you still there?")).refuses(-32603, "closed")
	})
	const id = "missing-role"
	hold(t, catalogue, []telling{
		{name: "it refuses", check: "malformed/survives", caseID: id, tell: refused, verdict: report.Pass, message: "the client went on after a request in which the message has no role"},
		{name: "it is the last", check: "malformed/survives", caseID: id, tell: after(func(s *story) { s.refuses(-32602, "no") }), verdict: report.Pass,
			message: "the client came to its end in order after a request in which the message has no role"},
		{name: "it crashes", check: "malformed/survives", caseID: id, tell: crashed, verdict: report.Fail,
			message: "the client did not survive a request in which the message has no role: it panicked: nil pointer"},
		{name: "it answers and then crashes", check: "malformed/survives", caseID: id, verdict: report.Fail, tell: after(func(s *story) {
			s.answers(saying("Blue.")).asks(asking("Are you still there?")).answers(saying("Yes.")).ends(trace.Process{Signal: "killed"})
		}), message: "the client did not survive a request in which the message has no role: a signal ended it: killed"},
		{name: "it hangs", check: "malformed/survives", caseID: id, tell: hung, verdict: report.Fail,
			message: "the client hung after a request in which the message has no role: it was still running after 1m0s and was ended"},
		{name: "it goes on and fails at its end, as it always does", check: "malformed/survives", caseID: id, verdict: report.Pass,
			tell:    after(func(s *story) { s.refuses(-32602, "no").passesBarrier().ends(trace.Process{ExitCode: 1}) }),
			message: "the client went on after a request in which the message has no role"},
		{name: "it does not answer a plain question", check: "malformed/survives", caseID: id, verdict: report.NotObserved, tell: func(s *story) { s.asks(asking("Are you there?")) },
			message: "the play did not get as far as sampling request 2: no answer came for request 1"},

		{name: "it refuses", check: "malformed/answered", caseID: id, in: inA, tell: refused, verdict: report.Pass, message: "the request was answered"},
		{name: "it never answers", check: "malformed/answered", caseID: id, in: inA, tell: ignored, verdict: report.Fail,
			message: "a request in which the message has no role was never answered, though later ones were: the server waits for ever"},
		{name: "it may yet answer", check: "malformed/answered", caseID: id, in: inA, tell: after(func(*story) {}), verdict: report.NotObserved,
			message: "no answer came, and it is not settled that none would have: no later sample was answered, so that it may only not have come yet"},
		{name: "it crashes", check: "malformed/answered", caseID: id, in: inA, tell: crashed, verdict: report.NotObserved,
			message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},

		{name: "it goes on", check: "malformed/alive", caseID: id, tell: refused, verdict: report.Pass, message: "a plain question that was asked later was answered"},
		{name: "it goes on, and never answers", check: "malformed/alive", caseID: id, in: inA, tell: ignored, verdict: report.Pass, message: "a plain question that was asked later was answered"},
		{name: "it is deaf from then on", check: "malformed/alive", caseID: id, tell: poisoned, verdict: report.Fail,
			message: "the client answered a plain question before a request in which the message has no role, and none after it"},
		{name: "it crashes", check: "malformed/alive", caseID: id, tell: crashed, verdict: report.NotObserved,
			message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},
		{name: "nothing more was asked", check: "malformed/alive", caseID: id, tell: after(func(s *story) { s.refuses(-32602, "no") }), verdict: report.Unsupported,
			message: "nothing was asked of the client after the request: it takes one that calls the tools in the order in which they are listed"},

		{name: "it refuses", check: "malformed/error-due", caseID: id, in: inA, tell: refused, verdict: report.Pass,
			message: "a request in which the message has no role was refused with the code -32602"},
		{name: "it does not fulfil", check: "malformed/error-due", caseID: id, in: inB, tell: refused, verdict: report.Pass,
			message: "a request in which the message has no role was not fulfilled"},
		{name: "it may yet fulfil", check: "malformed/error-due", caseID: id, in: inB, tell: after(func(*story) {}), verdict: report.Unsupported,
			message: "no answer came, and it is not settled that none would have: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: no later sample was answered, so that it may only not have come yet"},
		{name: "it answers", check: "malformed/error-due", caseID: id, tell: answered, verdict: report.Warn,
			message: "a request in which the message has no role was answered as if nothing were wrong with it"},
		{name: "it fulfils with an error", check: "malformed/error-due", caseID: id, in: inB, verdict: report.Warn,
			tell:    after(func(s *story) { s.answers(`{"code":-32602,"message":"no role"}`).passesBarrier() }),
			message: "a request in which the message has no role was answered with something that is no result: in this revision what is refused is not fulfilled"},
		{name: "it never answers", check: "malformed/error-due", caseID: id, in: inA, tell: ignored, verdict: report.NotObserved,
			message: "the request was not answered (see malformed/answered)"},
		{name: "it crashes", check: "malformed/error-due", caseID: id, tell: crashed, verdict: report.NotObserved,
			message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},
		{name: "the type is wrong, and it answers", check: "malformed/wrong-types", caseID: "wrong-role", tell: answered, verdict: report.Warn,
			message: "a request in which " + wrongIn("malformed/wrong-role") + " was answered as if nothing were wrong with it"},
		{name: "the type is wrong, and it refuses", check: "malformed/wrong-types", caseID: "wrong-role", in: inA, tell: refused, verdict: report.Pass,
			message: "a request in which " + wrongIn("malformed/wrong-role") + " was refused with the code -32602"},
		{name: "the schema is none, and it answers", check: "malformed/bad-schema", caseID: badSchemaCase, tell: answered, verdict: report.Warn,
			message: `a request in which the schema of the tool has the type "strin" was answered as if nothing were wrong with it`},

		{name: "the code is right", check: "malformed/error-code", caseID: id, in: inA, tell: refused, verdict: report.Pass,
			message: "a request in which the message has no role was refused with the code -32602"},
		{name: "the code is the other right one", check: "malformed/error-code", caseID: id, in: inA, verdict: report.Pass,
			tell:    after(func(s *story) { s.refuses(-32600, "no").passesBarrier() }),
			message: "a request in which the message has no role was refused with the code -32600"},
		{name: "the code is wrong", check: "malformed/error-code", caseID: id, in: inA, verdict: report.Warn,
			tell:    after(func(s *story) { s.refuses(-32603, "no").passesBarrier() }),
			message: "a request in which the message has no role was refused with the code -32603, where -32602 or -32600 says whose fault it is"},
		{name: "it answers", check: "malformed/error-code", caseID: id, in: inA, tell: answered, verdict: report.NotApplicable,
			message: "the client did not refuse the request (see malformed/error-due, malformed/wrong-types)"},
		{name: "it crashes", check: "malformed/error-code", caseID: id, in: inA, tell: crashed, verdict: report.NotObserved,
			message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},

		{name: "it refuses", check: "malformed/no-model-call", caseID: id, tell: refused, verdict: report.Pass, message: "the model was not asked"},
		{name: "it asks the model", check: "malformed/no-model-call", caseID: id, verdict: report.Warn, tell: after(func(s *story) {
			s.prompts(asking("Which colour?")).refuses(-32602, "no").passesBarrier()
		}), message: "the model was asked, and paid, for a request in which the message has no role"},
		{name: "the provider refuses", check: "malformed/no-model-call", caseID: id, verdict: report.Pass, tell: after(func(s *story) {
			s.prompt(`{"messages":[{}]}`, trace.ModelEnd{Status: 400, Refused: "no role"}).refuses(-32603, "no").passesBarrier()
		}), message: "the model refused what it was asked"},
		{name: "somebody asks the model", check: "malformed/no-model-call", caseID: id, verdict: report.NotObserved, tell: after(func(s *story) {
			s.add("", trace.Event{Request: &trace.ModelRequest{Exchange: 9, Dialect: dialect.Native, Method: "POST", Path: "/native", Body: trace.Bytes(`{}`)}})
			s.refuses(-32602, "no").passesBarrier()
		}), message: "the model was asked something that has the mark of no conversation, so that it may have been this"},
		{name: "somebody had asked the model before", check: "malformed/no-model-call", caseID: id, verdict: report.Pass, tell: func(s *story) {
			s.add("", trace.Event{Request: &trace.ModelRequest{Exchange: 9, Dialect: dialect.Native, Method: "POST", Path: "/native", Body: trace.Bytes(`{}`)}})
			refused(s)
		}, message: "the model was not asked"},
		{name: "it may yet ask", check: "malformed/no-model-call", caseID: id, verdict: report.NotObserved, tell: after(func(*story) {}),
			message: "that the model was not asked cannot be said: no later sample was answered, so that it may only not have come yet"},
		{name: "it crashes", check: "malformed/no-model-call", caseID: id, tell: crashed, verdict: report.NotObserved,
			message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},

		{name: "it refuses", check: "malformed/tolerated", caseID: "empty-messages", in: inA, tell: refused, verdict: report.Info, message: "empty-messages: refused"},
		{name: "it does not fulfil", check: "malformed/tolerated", caseID: "empty-messages", in: inB, tell: refused, verdict: report.Info, message: "empty-messages: not fulfilled"},
		{name: "it answers", check: "malformed/tolerated", caseID: "empty-messages", tell: answered, verdict: report.Info, message: "empty-messages: answered"},
		{name: "it clamps", check: "malformed/tolerated", caseID: "zero-max-tokens", verdict: report.Info, tell: after(func(s *story) {
			s.prompts(asking("Which colour?")).answers(saying("Blue.")).passesBarrier()
		}), message: "zero-max-tokens: answered, with a limit of 1000 tokens"},
		{name: "it never answers", check: "malformed/tolerated", caseID: "empty-messages", in: inA, tell: ignored, verdict: report.NotObserved,
			message: "the request was not answered (see malformed/answered)"},
		{name: "it crashes", check: "malformed/tolerated", caseID: "empty-messages", tell: crashed, verdict: report.NotObserved,
			message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},
	})
}

// The report shows the place in the request, and what the client wrote before it died.
func TestACrashIsShownWithWhatTheClientWrote(t *testing.T) {
	s := begin(t, catalogue, server.V20251125, dialect.Native, "malformed/missing-role")
	malformedly(s).ends(trace.Process{ExitCode: 2, Stderr: "panic: nil pointer\nmain.go:7"})
	r := s.result("malformed/survives")
	require.Equal(t, "params.messages[0]", r.Evidence[0].Path)
	require.Equal(t, "server sent", r.Evidence[0].Label)
	require.Contains(t, r.Evidence[0].Text, `"messages":[{"content"`)
	require.Equal(t, "panic: nil pointer\nmain.go:7", r.Evidence[len(r.Evidence)-1].Text)
}

func TestMalformationsAreWhatTheySay(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range malformations {
		require.False(t, seen[m.id], "%s is there twice", m.id)
		seen[m.id] = true
		require.NotEmpty(t, m.says, m.id)
	}
	for _, id := range []string{"unknown-role", "system-role", "missing-role", "missing-messages", "null-message", "null-content", "unknown-content-type", "content-string",
		"bad-base64", "missing-max-tokens", "unknown-tool-choice", "null-tool", "tool-without-schema", "empty-messages", "zero-max-tokens", "negative-max-tokens",
		"huge-max-tokens", "fractional-max-tokens", "duplicate-tool-names", "tool-bad-schema", "deep-nesting", "long-string"} {
		require.True(t, seen[id], "%s of the catalogue is missing", id)
	}
	require.Equal(t, "something is wrong that was made from a seed", wrongIn("malformed/fuzz-0001"))
}
