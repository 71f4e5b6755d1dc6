package malformed

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var catalogue = check.Catalogue{Scenario}

// after is a plain question with its answer, a request without a role, and what follows.
func after(steps func(*tracetest.Story)) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		s.Asks(tracetest.Asking("Are you there?")).Answers(tracetest.Saying("Yes."))
		message := story.Object{"content": server.Text("Which colour?")}
		steps(s.Asks(story.Object{"maxTokens": 1000, "messages": []any{message}}).OnPurpose())
	}
}

func refusing(code int) func(*tracetest.Story) {
	return after(func(s *tracetest.Story) { s.Refuses(code, "no role").PassesBarrier() })
}

func ending(p trace.Process) func(*tracetest.Story) {
	return after(func(s *tracetest.Story) { s.Ends(p) })
}

// stillThere is another plain question with its answer.
func stillThere(s *tracetest.Story) *tracetest.Story {
	return s.Asks(tracetest.Asking("Are you still there?")).Answers(tracetest.Saying("Yes."))
}

var (
	refused  = refusing(-32602)
	result   = after(func(s *tracetest.Story) { s.Answers(tracetest.Saying("Blue.")).PassesBarrier() })
	ignored  = after(func(s *tracetest.Story) { stillThere(s).PassesBarrier() })
	nothing  = after(func(*tracetest.Story) {})
	onlyThis = after(func(s *tracetest.Story) { s.Refuses(-32602, "no role") })
	crashed  = ending(trace.Process{Panic: "nil pointer"})
)

// crashes is the test of a check that does not judge a client which crashed.
var crashes = tracetest.Test{Name: "it crashes", Steps: crashed, Verdict: report.NotObserved,
	Message: "(see malformed/survives): it panicked: nil pointer"}

const noRole = "a request in which the message has no role"

func TestAClientSurvivesAMalformedRequest(t *testing.T) {
	const id = "missing-role"
	tracetest.RunCheck(t, catalogue, "malformed/survives", id, []tracetest.Test{
		{Name: "it refuses", Steps: refused, Verdict: report.Pass, Message: noRole},
		{Name: "the request is the last", Steps: onlyThis, Verdict: report.Pass, Message: "ended cleanly after " + noRole},
		{Name: "it crashes", Steps: crashed, Verdict: report.Fail, Message: noRole + ": it panicked: nil pointer"},
		{Name: "it answers and crashes", Verdict: report.Fail, Message: "it was ended by the signal killed",
			Steps: after(func(s *tracetest.Story) {
				stillThere(s.Answers(tracetest.Saying("Blue."))).Ends(trace.Process{Signal: "killed"})
			})},
		{Name: "it hangs", Steps: ending(trace.Process{Deadline: true}), Verdict: report.Fail,
			Message: "it was still running after 1m0s"},
		{Name: "it continues and fails at its end", Verdict: report.Pass,
			Steps: func(s *tracetest.Story) { refused(s); s.Ends(trace.Process{ExitCode: 1}) }},
		{Name: "it does not answer the plain question", Verdict: report.NotObserved, Message: "no response to request 1",
			Steps: func(s *tracetest.Story) { s.Asks(tracetest.Asking("Are you there?")) }},
	})
	tracetest.RunCheck(t, catalogue, "malformed/answered", id, []tracetest.Test{
		{Name: "it refuses", In: tracetest.InA, Steps: refused, Verdict: report.Pass},
		{Name: "no response", In: tracetest.InA, Steps: ignored, Verdict: report.Fail, Message: "response to " + noRole},
		{Name: "a response may still come", In: tracetest.InA, Steps: nothing, Verdict: report.NotObserved,
			Message: "one could still have come"},
		{Name: crashes.Name, In: tracetest.InA, Steps: crashed, Verdict: crashes.Verdict, Message: crashes.Message},
	})
	tracetest.RunCheck(t, catalogue, "malformed/alive", id, []tracetest.Test{
		{Name: "it continues", Steps: refused, Verdict: report.Pass},
		{Name: "it continues without a response", In: tracetest.InA, Steps: ignored, Verdict: report.Pass},
		{Name: "it refuses everything from then on", Verdict: report.Fail, Message: noRole,
			Steps: after(func(s *tracetest.Story) {
				s.Refuses(-32602, "no role").Asks(tracetest.Asking("Are you still there?")).Refuses(-32603, "closed")
			})},
		crashes,
		{Name: "no request follows", Steps: onlyThis, Verdict: report.Unsupported, Message: "in the order of tools/list"},
	})
}

func TestAMalformedRequestIsRefused(t *testing.T) {
	i := slices.IndexFunc(malformations, func(m malformation) bool { return m.id == "wrong-role" })
	wrongRole := "a request in which " + malformations[i].says
	tracetest.RunCheck(t, catalogue, "malformed/error-due", "missing-role", []tracetest.Test{
		{Name: "an error", In: tracetest.InA, Steps: refused, Verdict: report.Pass,
			Message: noRole + " with the code -32602"},
		{Name: "not fulfilled", In: tracetest.InB, Steps: refused, Verdict: report.Pass, Message: noRole},
		{Name: "a response may still come", In: tracetest.InB, Steps: nothing, Verdict: report.Unsupported,
			Message: "one could still have come"},
		{Name: "a result", Steps: result, Verdict: report.Warn, Message: noRole + ", found a result"},
		{Name: "an error in place of a result", In: tracetest.InB, Verdict: report.Warn,
			Message: "a response that is not a result",
			Steps:   after(func(s *tracetest.Story) { s.Answers(`{"code":-32602,"message":"no role"}`).PassesBarrier() })},
		{Name: "no response", In: tracetest.InA, Steps: ignored, Verdict: report.NotObserved,
			Message: "see malformed/answered"},
		crashes,
	})
	tracetest.RunCheck(t, catalogue, "malformed/wrong-types", "wrong-role", []tracetest.Test{
		{Name: "a result", Steps: result, Verdict: report.Warn, Message: wrongRole},
		{Name: "an error", In: tracetest.InA, Steps: refused, Verdict: report.Pass,
			Message: wrongRole + " with the code -32602"},
	})
	tracetest.RunCheck(t, catalogue, "malformed/bad-schema", "tool-bad-schema", []tracetest.Test{
		{Name: "a result", Steps: result, Verdict: report.Warn, Message: `the tool's schema has the type "strin"`},
	})
	tracetest.RunCheck(t, catalogue, "malformed/error-code", "missing-role", []tracetest.Test{
		{Name: "invalid params", In: tracetest.InA, Steps: refused, Verdict: report.Pass, Message: "-32602"},
		{Name: "invalid request", In: tracetest.InA, Steps: refusing(-32600), Verdict: report.Pass, Message: "-32600"},
		{Name: "another code", In: tracetest.InA, Steps: refusing(-32603), Verdict: report.Warn,
			Message: noRole + ", found -32603"},
		{Name: "a result", In: tracetest.InA, Steps: result, Verdict: report.NotApplicable, Message: "did not refuse"},
		{Name: crashes.Name, In: tracetest.InA, Steps: crashed, Verdict: crashes.Verdict, Message: crashes.Message},
	})
}

func TestAMalformedRequestCostsNoModelCall(t *testing.T) {
	unmarked := func(s *tracetest.Story) {
		s.Add("", trace.Event{Request: &trace.ModelRequest{
			Exchange: 9, Dialect: dialect.Native, Method: "POST", Path: "/native", Body: trace.Bytes(`{}`)}})
	}
	tracetest.RunCheck(t, catalogue, "malformed/no-model-call", "missing-role", []tracetest.Test{
		{Name: "it refuses", Steps: refused, Verdict: report.Pass},
		{Name: "a model call", Verdict: report.Warn, Message: noRole, Steps: after(func(s *tracetest.Story) {
			s.Prompts(tracetest.Asking("Which colour?")).Refuses(-32602, "no role").PassesBarrier()
		})},
		{Name: "the provider refuses", Verdict: report.Pass, Message: "the model refused",
			Steps: after(func(s *tracetest.Story) {
				s.Prompt(`{"messages":[{}]}`, trace.ModelEnd{Status: 400, Refused: "no role"}).Refuses(-32603, "no").PassesBarrier()
			})},
		{Name: "a model request of no case", Verdict: report.NotObserved, Message: "without the mark of any case",
			Steps: after(func(s *tracetest.Story) { unmarked(s); s.Refuses(-32602, "no role").PassesBarrier() })},
		{Name: "an earlier model request of no case", Verdict: report.Pass,
			Steps: func(s *tracetest.Story) { unmarked(s); refused(s) }},
		{Name: "a model call may still come", Steps: nothing, Verdict: report.NotObserved,
			Message: "could still have come"},
		crashes,
	})
}

func TestSenselessRequestsAreReported(t *testing.T) {
	tracetest.RunCheck(t, catalogue, "malformed/tolerated", "empty-messages", []tracetest.Test{
		{Name: "an error", In: tracetest.InA, Steps: refused, Verdict: report.Info, Message: "empty-messages: refused"},
		{Name: "not fulfilled", In: tracetest.InB, Steps: refused, Verdict: report.Info,
			Message: "empty-messages: not fulfilled"},
		{Name: "a result", Steps: result, Verdict: report.Info, Message: "empty-messages: answered"},
		{Name: "another limit", CaseID: "zero-max-tokens", Verdict: report.Info,
			Message: "answered, with a limit of 1000 tokens",
			Steps: after(func(s *tracetest.Story) {
				s.Prompts(tracetest.Asking("Which colour?")).Answers(tracetest.Saying("Blue.")).PassesBarrier()
			})},
		{Name: "no response", In: tracetest.InA, Steps: ignored, Verdict: report.NotObserved,
			Message: "see malformed/answered"},
		crashes,
	})
}

func TestACrashIsShownWithTheOutputOfTheClient(t *testing.T) {
	s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "malformed/missing-role")
	ending(trace.Process{ExitCode: 2, Stderr: "panic: nil pointer\nmain.go:7"})(s)
	r := s.Result("malformed/survives")
	require.Equal(t, "params.messages[0]", r.Evidence[0].Path)
	require.Equal(t, "server sent", r.Evidence[0].Label)
	require.Contains(t, r.Evidence[0].Text, `"messages":[{"content"`)
	require.Equal(t, "panic: nil pointer\nmain.go:7", r.Evidence[len(r.Evidence)-1].Text)
}

func TestTheMalformationsOfTheCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range malformations {
		require.False(t, seen[m.id], "%s is there twice", m.id)
		seen[m.id] = true
		require.NotEmpty(t, m.says, m.id)
	}
	for _, id := range []string{"unknown-role", "system-role", "missing-role", "missing-messages", "null-message",
		"null-content", "unknown-content-type", "content-string", "bad-base64", "missing-max-tokens", "unknown-tool-choice",
		"null-tool",
		"tool-without-schema", "empty-messages", "zero-max-tokens", "negative-max-tokens", "huge-max-tokens",
		"fractional-max-tokens", "duplicate-tool-names", "tool-bad-schema", "deep-nesting", "long-string"} {
		require.True(t, seen[id], "%s of the catalogue is missing", id)
	}
	require.Equal(t, "a request in which a part of the frame is wrong", request(&evidence.Case{}))
}
