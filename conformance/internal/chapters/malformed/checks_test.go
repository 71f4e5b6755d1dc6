package malformed

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// roleless is what the cases missing-role and wrong-role ask, near enough.
var roleless = story.Object{"maxTokens": 1000, "messages": []any{story.Object{"content": server.Text("Which colour?")}}}

// malformedly begins the story of a malformed case: a plain question and its answer, and then what is wrong.
func malformedly(s *tracetest.Story) *tracetest.Story {
	s.Asks(tracetest.Asking("Are you there?")).Answers(tracetest.Saying("Yes."))
	return s.Asks(roleless).OnPurpose()
}

// after is a story that goes on from there.
func after(tell func(*tracetest.Story)) func(*tracetest.Story) {
	return func(s *tracetest.Story) { malformedly(s); tell(s) }
}

// stillThere are a plain question more and its answer, and the barrier.
func stillThere(s *tracetest.Story) {
	s.Asks(tracetest.Asking("Are you still there?")).Answers(tracetest.Saying("Yes."))
	s.PassesBarrier()
}

func TestWhatAClientDoesWithWhatIsMalformed(t *testing.T) {
	refused := after(func(s *tracetest.Story) { s.Refuses(-32602, "no role").PassesBarrier() })
	answered := after(func(s *tracetest.Story) { s.Answers(tracetest.Saying("Blue.")).PassesBarrier() })
	ignored := after(stillThere)
	crashed := after(func(s *tracetest.Story) { s.Ends(trace.Process{Panic: "nil pointer"}) })
	hung := after(func(s *tracetest.Story) { s.Ends(trace.Process{Deadline: true}) })
	poisoned := after(func(s *tracetest.Story) {
		s.Refuses(-32602, "no role").Asks(tracetest.Asking("Are you still there?")).Refuses(-32603, "closed")
	})
	const id = "missing-role"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "it refuses", Check: "malformed/survives", CaseID: id, Steps: refused, Verdict: report.Pass, Message: "the client went on after a request in which the message has no role"},
		{Name: "it is the last", Check: "malformed/survives", CaseID: id, Steps: after(func(s *tracetest.Story) { s.Refuses(-32602, "no") }), Verdict: report.Pass,
			Message: "the client came to its end in order after a request in which the message has no role"},
		{Name: "it crashes", Check: "malformed/survives", CaseID: id, Steps: crashed, Verdict: report.Fail,
			Message: "the client did not survive a request in which the message has no role: it panicked: nil pointer"},
		{Name: "it answers and then crashes", Check: "malformed/survives", CaseID: id, Verdict: report.Fail, Steps: after(func(s *tracetest.Story) {
			s.Answers(tracetest.Saying("Blue.")).Asks(tracetest.Asking("Are you still there?")).Answers(tracetest.Saying("Yes.")).Ends(trace.Process{Signal: "killed"})
		}), Message: "the client did not survive a request in which the message has no role: it was ended by the signal killed"},
		{Name: "it hangs", Check: "malformed/survives", CaseID: id, Steps: hung, Verdict: report.Fail,
			Message: "the client hung after a request in which the message has no role: it was still running after 1m0s and was ended"},
		{Name: "it goes on and fails at its end, as it always does", Check: "malformed/survives", CaseID: id, Verdict: report.Pass,
			Steps:   after(func(s *tracetest.Story) { s.Refuses(-32602, "no").PassesBarrier().Ends(trace.Process{ExitCode: 1}) }),
			Message: "the client went on after a request in which the message has no role"},
		{Name: "it does not answer a plain question", Check: "malformed/survives", CaseID: id, Verdict: report.NotObserved, Steps: func(s *tracetest.Story) { s.Asks(tracetest.Asking("Are you there?")) },
			Message: "the server did not send sampling request 2: no response to request 1"},

		{Name: "it refuses", Check: "malformed/answered", CaseID: id, In: tracetest.InA, Steps: refused, Verdict: report.Pass, Message: "the request was answered"},
		{Name: "it never answers", Check: "malformed/answered", CaseID: id, In: tracetest.InA, Steps: ignored, Verdict: report.Fail,
			Message: "a request in which the message has no role was never answered, though later ones were: the server waits for ever"},
		{Name: "it may yet answer", Check: "malformed/answered", CaseID: id, In: tracetest.InA, Steps: after(func(*tracetest.Story) {}), Verdict: report.NotObserved,
			Message: "no response came, but one could still have come: no later sampling request was answered, so it could still come"},
		{Name: "it crashes", Check: "malformed/answered", CaseID: id, In: tracetest.InA, Steps: crashed, Verdict: report.NotObserved,
			Message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},

		{Name: "it goes on", Check: "malformed/alive", CaseID: id, Steps: refused, Verdict: report.Pass, Message: "a plain question that was asked later was answered"},
		{Name: "it goes on, and never answers", Check: "malformed/alive", CaseID: id, In: tracetest.InA, Steps: ignored, Verdict: report.Pass, Message: "a plain question that was asked later was answered"},
		{Name: "it is deaf from then on", Check: "malformed/alive", CaseID: id, Steps: poisoned, Verdict: report.Fail,
			Message: "the client answered a plain question before a request in which the message has no role, and none after it"},
		{Name: "it crashes", Check: "malformed/alive", CaseID: id, Steps: crashed, Verdict: report.NotObserved,
			Message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},
		{Name: "nothing more was asked", Check: "malformed/alive", CaseID: id, Steps: after(func(s *tracetest.Story) { s.Refuses(-32602, "no") }), Verdict: report.Unsupported,
			Message: "nothing was asked of the client after the request: it takes one that calls the tools in the order in which they are listed"},

		{Name: "it refuses", Check: "malformed/error-due", CaseID: id, In: tracetest.InA, Steps: refused, Verdict: report.Pass,
			Message: "a request in which the message has no role was refused with the code -32602"},
		{Name: "it does not fulfil", Check: "malformed/error-due", CaseID: id, In: tracetest.InB, Steps: refused, Verdict: report.Pass,
			Message: "a request in which the message has no role was not fulfilled"},
		{Name: "it may yet fulfil", Check: "malformed/error-due", CaseID: id, In: tracetest.InB, Steps: after(func(*tracetest.Story) {}), Verdict: report.Unsupported,
			Message: "no response came, but one could still have come: the client must call the tools in the order of tools/list and answer the last sampling request: no later sampling request was answered, so it could still come"},
		{Name: "it answers", Check: "malformed/error-due", CaseID: id, Steps: answered, Verdict: report.Warn,
			Message: "a request in which the message has no role was answered as if nothing were wrong with it"},
		{Name: "it fulfils with an error", Check: "malformed/error-due", CaseID: id, In: tracetest.InB, Verdict: report.Warn,
			Steps:   after(func(s *tracetest.Story) { s.Answers(`{"code":-32602,"message":"no role"}`).PassesBarrier() }),
			Message: "a request in which the message has no role was answered with something that is no result: in this revision what is refused is not fulfilled"},
		{Name: "it never answers", Check: "malformed/error-due", CaseID: id, In: tracetest.InA, Steps: ignored, Verdict: report.NotObserved,
			Message: "the request was not answered (see malformed/answered)"},
		{Name: "it crashes", Check: "malformed/error-due", CaseID: id, Steps: crashed, Verdict: report.NotObserved,
			Message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},
		{Name: "the type is wrong, and it answers", Check: "malformed/wrong-types", CaseID: "wrong-role", Steps: answered, Verdict: report.Warn,
			Message: "a request in which " + wrongIn("malformed/wrong-role") + " was answered as if nothing were wrong with it"},
		{Name: "the type is wrong, and it refuses", Check: "malformed/wrong-types", CaseID: "wrong-role", In: tracetest.InA, Steps: refused, Verdict: report.Pass,
			Message: "a request in which " + wrongIn("malformed/wrong-role") + " was refused with the code -32602"},
		{Name: "the schema is none, and it answers", Check: "malformed/bad-schema", CaseID: badSchemaCase, Steps: answered, Verdict: report.Warn,
			Message: `a request in which the schema of the tool has the type "strin" was answered as if nothing were wrong with it`},

		{Name: "the code is right", Check: "malformed/error-code", CaseID: id, In: tracetest.InA, Steps: refused, Verdict: report.Pass,
			Message: "a request in which the message has no role was refused with the code -32602"},
		{Name: "the code is the other right one", Check: "malformed/error-code", CaseID: id, In: tracetest.InA, Verdict: report.Pass,
			Steps:   after(func(s *tracetest.Story) { s.Refuses(-32600, "no").PassesBarrier() }),
			Message: "a request in which the message has no role was refused with the code -32600"},
		{Name: "the code is wrong", Check: "malformed/error-code", CaseID: id, In: tracetest.InA, Verdict: report.Warn,
			Steps:   after(func(s *tracetest.Story) { s.Refuses(-32603, "no").PassesBarrier() }),
			Message: "a request in which the message has no role was refused with the code -32603, where -32602 or -32600 says whose fault it is"},
		{Name: "it answers", Check: "malformed/error-code", CaseID: id, In: tracetest.InA, Steps: answered, Verdict: report.NotApplicable,
			Message: "the client did not refuse the request (see malformed/error-due, malformed/wrong-types)"},
		{Name: "it crashes", Check: "malformed/error-code", CaseID: id, In: tracetest.InA, Steps: crashed, Verdict: report.NotObserved,
			Message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},

		{Name: "it refuses", Check: "malformed/no-model-call", CaseID: id, Steps: refused, Verdict: report.Pass, Message: "no call of the model was completed"},
		{Name: "it asks the model", Check: "malformed/no-model-call", CaseID: id, Verdict: report.Warn, Steps: after(func(s *tracetest.Story) {
			s.Prompts(tracetest.Asking("Which colour?")).Refuses(-32602, "no").PassesBarrier()
		}), Message: "the model was asked, and paid, for a request in which the message has no role"},
		{Name: "the provider refuses", Check: "malformed/no-model-call", CaseID: id, Verdict: report.Pass, Steps: after(func(s *tracetest.Story) {
			s.Prompt(`{"messages":[{}]}`, trace.ModelEnd{Status: 400, Refused: "no role"}).Refuses(-32603, "no").PassesBarrier()
		}), Message: "the model refused what it was asked"},
		{Name: "somebody asks the model", Check: "malformed/no-model-call", CaseID: id, Verdict: report.NotObserved, Steps: after(func(s *tracetest.Story) {
			s.Add("", trace.Event{Request: &trace.ModelRequest{Exchange: 9, Dialect: dialect.Native, Method: "POST", Path: "/native", Body: trace.Bytes(`{}`)}})
			s.Refuses(-32602, "no").PassesBarrier()
		}), Message: "the model received a request without the mark of any case, which may be for this one"},
		{Name: "somebody had asked the model before", Check: "malformed/no-model-call", CaseID: id, Verdict: report.Pass, Steps: func(s *tracetest.Story) {
			s.Add("", trace.Event{Request: &trace.ModelRequest{Exchange: 9, Dialect: dialect.Native, Method: "POST", Path: "/native", Body: trace.Bytes(`{}`)}})
			refused(s)
		}, Message: "no call of the model was completed"},
		{Name: "it may yet ask", Check: "malformed/no-model-call", CaseID: id, Verdict: report.NotObserved, Steps: after(func(*tracetest.Story) {}),
			Message: "that the model was not asked cannot be said: no later sampling request was answered, so it could still come"},
		{Name: "it crashes", Check: "malformed/no-model-call", CaseID: id, Steps: crashed, Verdict: report.NotObserved,
			Message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},

		{Name: "it refuses", Check: "malformed/tolerated", CaseID: "empty-messages", In: tracetest.InA, Steps: refused, Verdict: report.Info, Message: "empty-messages: refused"},
		{Name: "it does not fulfil", Check: "malformed/tolerated", CaseID: "empty-messages", In: tracetest.InB, Steps: refused, Verdict: report.Info, Message: "empty-messages: not fulfilled"},
		{Name: "it answers", Check: "malformed/tolerated", CaseID: "empty-messages", Steps: answered, Verdict: report.Info, Message: "empty-messages: answered"},
		{Name: "it clamps", Check: "malformed/tolerated", CaseID: "zero-max-tokens", Verdict: report.Info, Steps: after(func(s *tracetest.Story) {
			s.Prompts(tracetest.Asking("Which colour?")).Answers(tracetest.Saying("Blue.")).PassesBarrier()
		}), Message: "zero-max-tokens: answered, with a limit of 1000 tokens"},
		{Name: "it never answers", Check: "malformed/tolerated", CaseID: "empty-messages", In: tracetest.InA, Steps: ignored, Verdict: report.NotObserved,
			Message: "the request was not answered (see malformed/answered)"},
		{Name: "it crashes", Check: "malformed/tolerated", CaseID: "empty-messages", Steps: crashed, Verdict: report.NotObserved,
			Message: "the client did not survive the request (see malformed/survives): it panicked: nil pointer"},
	})
}

// The report shows the place in the request, and what the client wrote before it died.
func TestACrashIsShownWithWhatTheClientWrote(t *testing.T) {
	s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "malformed/missing-role")
	malformedly(s).Ends(trace.Process{ExitCode: 2, Stderr: "panic: nil pointer\nmain.go:7"})
	r := s.Result("malformed/survives")
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
