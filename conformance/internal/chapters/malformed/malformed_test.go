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
func after(steps func(*session)) func(*session) {
	return func(s *session) {
		s.Asks(tracetest.Asking("Are you there?")).Answers(tracetest.Saying("Yes."))
		message := story.Object{"content": server.Text("Which colour?")}
		steps(s.Asks(story.Object{"maxTokens": 1000, "messages": []any{message}}).OnPurpose())
	}
}

func refusing(code int) func(*session) {
	return after(func(s *session) { s.Refuses(code, "no role").PassesBarrier() })
}

func ending(p trace.Process) func(*session) {
	return after(func(s *session) { s.Ends(p) })
}

// endingLater is a case that is over when the client ends so.
func endingLater(p trace.Process) func(*session) {
	return after(func(s *session) {
		stillThere(s.Answers(tracetest.Saying("Blue."))).Marks(trace.MarkHandlerEnded, "").Ends(p)
	})
}

// stillThere is another plain question with its answer.
func stillThere(s *session) *session {
	return s.Asks(tracetest.Asking("Are you still there?")).Answers(tracetest.Saying("Yes."))
}

var (
	refused  = refusing(-32602)
	result   = after(func(s *session) { s.Answers(tracetest.Saying("Blue.")).PassesBarrier() })
	ignored  = after(func(s *session) { stillThere(s).PassesBarrier() })
	nothing  = after(func(*session) {})
	onlyThis = after(func(s *session) { s.Refuses(-32602, "no role") })
	crashed  = ending(trace.Process{Panic: "nil pointer"})
)

// crashes is the test of a check that does not judge a client which crashed.
var crashes = tracetest.Test{Name: "it crashes", Steps: crashed, Verdict: report.NotObserved,
	Message: "(see malformed/survives): it panicked: nil pointer"}

const noRole = "a request in which the message has no role"

func TestAClientSurvivesAMalformedRequest(t *testing.T) {
	const id = "missing-role"
	judges(t, "survives", id,
		passes("it refuses", refused, noRole),
		passes("the request is the last", onlyThis, "ended cleanly after "+noRole),
		fails("it crashes", crashed, noRole+": it panicked: nil pointer"),
		fails("it answers and crashes", after(func(s *session) {
			stillThere(s.Answers(tracetest.Saying("Blue."))).Ends(trace.Process{Signal: "killed"})
		}), "it was ended by the signal killed"),
		fails("it hangs", ending(trace.Process{Deadline: true}), "it was still running after 1m0s"),
		unobserved("the run is interrupted", endingLater(trace.Process{Interrupted: true}), "interrupted"),
		unsupported("its time is up", endingLater(trace.Process{Deadline: true, Unfinished: true}), "time was up"),
		passes("it continues and fails at its end",
			func(s *session) { refused(s); s.Ends(trace.Process{ExitCode: 1}) }),
		unobserved("it does not answer the plain question",
			func(s *session) { s.Asks(tracetest.Asking("Are you there?")) }, "no response to request 1"),
	)
	judges(t, "answered", id,
		legacy(passes("it refuses", refused)),
		legacy(fails("no response", ignored, "response to "+noRole)),
		legacy(unobserved("a response may still come", nothing, "one could still have come")),
		legacy(row(crashes.Name, crashed, crashes.Verdict, crashes.Message)),
	)
	judges(t, "alive", id,
		passes("it continues", refused),
		legacy(passes("it continues without a response", ignored)),
		fails("it refuses everything from then on", after(func(s *session) {
			s.Refuses(-32602, "no role").Asks(tracetest.Asking("Are you still there?")).Refuses(-32603, "closed")
		}), noRole),
		crashes,
		unsupported("no request follows", onlyThis, "in the order of tools/list"),
	)
}

func TestAMalformedRequestIsRefused(t *testing.T) {
	i := slices.IndexFunc(malformations, func(m malformation) bool { return m.id == "wrong-role" })
	wrongRole := "a request in which " + malformations[i].says
	judges(t, "error-due", "missing-role",
		legacy(passes("an error", refused, noRole+": error code -32602")),
		modern(passes("not fulfilled", refused, noRole)),
		modern(unsupported("a response may still come", nothing, "one could still have come")),
		warns("a result", result, "expected a refusal of "+noRole),
		modern(warns("an error in place of a result",
			after(func(s *session) { s.Answers(`{"code":-32602,"message":"no role"}`).PassesBarrier() }),
			"found a result without content")),
		legacy(unobserved("no response", ignored, "see malformed/answered")),
		crashes,
	)
	judges(t, "wrong-types", "wrong-role",
		warns("a result", result, wrongRole),
		legacy(passes("an error", refused, wrongRole+": error code -32602")),
	)
	judges(t, "bad-schema", "tool-bad-schema",
		warns("a result", result, `the tool's schema has the type "strin"`),
	)
	judges(t, "error-code", "missing-role",
		legacy(passes("invalid params", refused, "-32602")),
		legacy(passes("invalid request", refusing(-32600), "-32600")),
		legacy(warns("another code", refusing(-32603),
			"expected the error code -32602 or -32600 for "+noRole+", found -32603")),
		legacy(inapplicable("a result", result, "did not refuse")),
		legacy(row(crashes.Name, crashed, crashes.Verdict, crashes.Message)),
	)
}

func TestAMalformedRequestCostsNoModelCall(t *testing.T) {
	unmarked := func(s *session) {
		s.Add("", trace.Event{Request: &trace.ModelRequest{
			Exchange: 9, Dialect: dialect.Native, Method: "POST", Path: "/native", Body: trace.Bytes(`{}`)}})
	}
	judges(t, "no-model-call", "missing-role",
		passes("it refuses", refused),
		warns("a model call", after(func(s *session) {
			s.Prompts(tracetest.Asking("Which colour?")).Refuses(-32602, "no role").PassesBarrier()
		}), noRole),
		passes("the provider refuses",
			after(func(s *session) {
				s.Prompt(`{"messages":[{}]}`, trace.ModelEnd{Status: 400, Refused: "no role"}).Refuses(-32603, "no").PassesBarrier()
			}), "the model refused"),
		unobserved("a model request of no case",
			after(func(s *session) { unmarked(s); s.Refuses(-32602, "no role").PassesBarrier() }),
			"unmarked request"),
		passes("an earlier model request of no case", func(s *session) { unmarked(s); refused(s) }),
		unsupported("a model call may still come", nothing, "could still have come"),
		crashes,
	)
}

func TestSenselessRequestsAreReported(t *testing.T) {
	judges(t, "tolerated", "empty-messages",
		legacy(informs("an error", refused, "empty-messages: refused")),
		modern(informs("not fulfilled", refused, "empty-messages: not fulfilled")),
		informs("a result", result, "empty-messages: answered"),
		about("zero-max-tokens", informs("another limit", after(func(s *session) {
			s.Prompts(tracetest.Asking("Which colour?")).Answers(tracetest.Saying("Blue.")).PassesBarrier()
		}), "answered, with a limit of 1000 tokens")),
		legacy(unobserved("no response", ignored, "see malformed/answered")),
		crashes,
	)
}

func TestACrashIsShownWithTheOutputOfTheClient(t *testing.T) {
	s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "malformed/missing-role")
	ending(trace.Process{ExitCode: 2, Stderr: "panic: nil pointer\nmain.go:7"})(s)
	r := s.Result("malformed/survives")
	require.Equal(t, "params.messages[0]", r.Evidence[0].Path)
	require.Equal(t, "server sent", r.Evidence[0].Label)
	require.JSONEq(t, `{"content":{"type":"text","text":"Which colour?"}}`, r.Evidence[0].Text)
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
