package chapters_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/malformed"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	frames "github.com/mcp-conform/mcp-conform/internal/malformed"
)

var malformedCatalogue = check.Catalogue{malformed.Scenario}

// malformedAfter is a plain question with its answer, a request without a role, and what follows.
func malformedAfter(steps func(*session)) func(*session) {
	return func(s *session) {
		s.Asks(tracetest.Asking("Are you there?")).Answers(tracetest.Saying("Yes."))
		message := story.Object{"content": server.Text("Which colour?")}
		steps(s.Asks(story.Object{"maxTokens": 1000, "messages": []any{message}}).OnPurpose())
	}
}

func malformedRefusing(code int) func(*session) {
	return malformedAfter(func(s *session) { s.Refuses(code, "no role").PassesBarrier() })
}

func malformedEnding(p trace.Process) func(*session) {
	return malformedAfter(func(s *session) { s.Ends(p) })
}

// endingLater is a case that is over when the client ends so.
func endingLater(p trace.Process) func(*session) {
	return malformedAfter(func(s *session) {
		stillThere(s.Answers(tracetest.Saying("Blue."))).Marks(trace.MarkHandlerEnded, "").Ends(p)
	})
}

// stillThere is another plain question with its answer.
func stillThere(s *session) *session {
	return s.Asks(tracetest.Asking("Are you still there?")).Answers(tracetest.Saying("Yes."))
}

var (
	malformedRefused = malformedRefusing(-32602)
	malformedResult  = malformedAfter(func(s *session) { s.Answers(tracetest.Saying("Blue.")).PassesBarrier() })
	malformedIgnored = malformedAfter(func(s *session) { stillThere(s).PassesBarrier() })
	malformedNothing = malformedAfter(func(*session) {})
	onlyThis         = malformedAfter(func(s *session) { s.Refuses(-32602, "no role") })
	crashed          = malformedEnding(trace.Process{Panic: "nil pointer"})
)

// crashes is the test of a check that does not judge a client which crashed.
var crashes = tracetest.Test{Name: "it crashes", Steps: crashed, Verdict: report.NotObserved,
	Message: "(see malformed/survives): it panicked: nil pointer"}

const noRole = "a request in which the message has no role"

func TestAClientSurvivesAMalformedRequest(t *testing.T) {
	const id = "missing-role"
	malformedJudges(t, "survives", id,
		passes("it refuses", malformedRefused, noRole),
		passes("the request is the last", onlyThis, "ended cleanly after "+noRole),
		fails("it crashes", crashed, noRole+": it panicked: nil pointer"),
		fails("it answers and crashes", malformedAfter(func(s *session) {
			stillThere(s.Answers(tracetest.Saying("Blue."))).Ends(trace.Process{Signal: "killed"})
		}), "it was ended by the signal killed"),
		fails("it hangs", malformedEnding(trace.Process{Deadline: true}),
			"to continue or end after "+noRole+", found that it hung: it was still running after 1m0s"),
		unobserved("the run is interrupted", endingLater(trace.Process{Interrupted: true}), "interrupted"),
		unsupported("its time is up", endingLater(trace.Process{Deadline: true, Unfinished: true}), "time was up"),
		passes("it continues and fails at its end",
			func(s *session) { malformedRefused(s); s.Ends(trace.Process{ExitCode: 1}) }),
		unobserved("it does not answer the plain question",
			func(s *session) { s.Asks(tracetest.Asking("Are you there?")) }, "no response to request 1"),
	)
	malformedJudges(
		t,
		"survives",
		"corpus-01",
		fails(
			"it crashes of a generated request",
			crashed,
			"a request in which messages[0] is wrong (missing property 'role')",
		),
	)
	for name, says := range map[string]string{
		"corpus-08": "survive a request in which maxTokens is 1e400, which the schema allows: it panicked",
		"corpus-09": "survive a request in which messages[1] is null: it panicked",
	} {
		malformedJudges(t, "survives", name, fails("it crashes of what was generated", func(s *session) {
			n, err := strconv.Atoi(strings.TrimPrefix(name, "corpus-"))
			require.NoError(t, err)
			f := frames.Generate(string(server.V20251125), malformed.CorpusSeed, n-1)
			s.Asks(tracetest.Asking("Are you there?")).Answers(tracetest.Saying("Yes."))
			s.Asks(malformed.Addressed(f.Params, name)).OnPurpose().Ends(trace.Process{Panic: "nil pointer"})
		}, says))
	}
	malformedJudges(t, "answered", id,
		legacy(passes("it refuses", malformedRefused)),
		legacy(fails("no response", malformedIgnored, "response to "+noRole)),
		legacy(unobserved("a response may still come", malformedNothing, "one could still have come")),
		legacy(malformedRow(crashes.Name, crashed, crashes.Verdict, crashes.Message)),
	)
	malformedJudges(t, "alive", id,
		passes("it continues", malformedRefused),
		legacy(passes("it continues without a response", malformedIgnored)),
		fails("it refuses everything from then on", malformedAfter(func(s *session) {
			s.Refuses(-32602, "no role").Asks(tracetest.Asking("Are you still there?")).Refuses(-32603, "closed")
		}), noRole),
		crashes,
		unsupported("no request follows", onlyThis, "in the order of tools/list"),
	)
}

func TestAMalformedRequestIsRefused(t *testing.T) {
	i := slices.IndexFunc(malformed.Malformations, func(m malformed.Malformation) bool { return m.ID == "wrong-role" })
	wrongRole := "a request in which " + malformed.Malformations[i].Says
	malformedJudges(t, "error-due", "missing-role",
		legacy(passes("an error", malformedRefused, noRole+": error code -32602")),
		modern(passes("not fulfilled", malformedRefused, noRole)),
		modern(unsupported("a response may still come", malformedNothing, "one could still have come")),
		warns("a result", malformedResult, "expected a refusal of "+noRole),
		modern(warns("an error in place of a result",
			malformedAfter(func(s *session) { s.Answers(`{"code":-32602,"message":"no role"}`).PassesBarrier() }),
			"found a result without content")),
		legacy(unobserved("no response", malformedIgnored, "see malformed/answered")),
		crashes,
	)
	malformedJudges(t, "wrong-types", "wrong-role",
		warns("a result", malformedResult, wrongRole),
		legacy(passes("an error", malformedRefused, wrongRole+": error code -32602")),
	)
	malformedJudges(t, "bad-schema", "tool-bad-schema",
		warns("a result", malformedResult, `the tool's schema has the type "strin"`),
	)
	malformedJudges(t, "error-code", "missing-role",
		legacy(passes("invalid params", malformedRefused, "-32602")),
		legacy(passes("invalid request", malformedRefusing(-32600), "-32600")),
		legacy(warns("another code", malformedRefusing(-32603),
			"expected the error code -32602 or -32600 for "+noRole+", found -32603")),
		legacy(inapplicable("a result", malformedResult, "did not refuse")),
		legacy(malformedRow(crashes.Name, crashed, crashes.Verdict, crashes.Message)),
	)
}

func TestAMalformedRequestCostsNoModelCall(t *testing.T) {
	unmarked := func(s *session) {
		s.Add("", trace.Event{Request: &trace.ModelRequest{
			Exchange: 9, Dialect: dialect.Native, Method: "POST", Path: "/native", Body: trace.Bytes(`{}`)}})
	}
	malformedJudges(t, "no-model-call", "missing-role",
		passes("it refuses", malformedRefused),
		warns("a model call", malformedAfter(func(s *session) {
			s.Prompts(tracetest.Asking("Which colour?")).Refuses(-32602, "no role").PassesBarrier()
		}), noRole),
		passes("the provider refuses",
			malformedAfter(func(s *session) {
				s.Prompt(`{"messages":[{}]}`, trace.ModelEnd{Status: 400, Refused: "no role"}).
					Refuses(-32603, "no").
					PassesBarrier()
			}), "the model refused"),
		unobserved("a model request of no case",
			malformedAfter(func(s *session) { unmarked(s); s.Refuses(-32602, "no role").PassesBarrier() }),
			"unmarked request"),
		passes("an earlier model request of no case", func(s *session) { unmarked(s); malformedRefused(s) }),
		unobserved("a model call may still come", malformedNothing, "could still have come"),
		crashes,
	)
}

func TestSenselessRequestsAreReported(t *testing.T) {
	malformedJudges(t, "tolerated", "empty-messages",
		legacy(informs("an error", malformedRefused, "empty-messages: refused")),
		modern(informs("not fulfilled", malformedRefused, "empty-messages: not fulfilled")),
		informs("a result", malformedResult, "empty-messages: answered"),
		about("zero-max-tokens", informs("another limit", malformedAfter(func(s *session) {
			s.Prompts(tracetest.Asking("Which colour?")).Answers(tracetest.Saying("Blue.")).PassesBarrier()
		}), "answered, with a limit of 1000 tokens")),
		legacy(unobserved("no response", malformedIgnored, "see malformed/answered")),
		crashes,
	)
}

func TestACrashIsShownWithTheOutputOfTheClient(t *testing.T) {
	s := tracetest.Begin(t, malformedCatalogue, server.V20251125, dialect.Native, "malformed/missing-role")
	malformedEnding(trace.Process{ExitCode: 2, Stderr: "panic: nil pointer\nmain.go:7"})(s)
	r := s.Result("malformed/survives")
	require.Equal(t, "params.messages[0]", r.Evidence[0].Path)
	require.Equal(t, "server sent", r.Evidence[0].Label)
	require.JSONEq(t, `{"content":{"type":"text","text":"Which colour?"}}`, r.Evidence[0].Text)
	require.Equal(t, "panic: nil pointer\nmain.go:7", r.Evidence[len(r.Evidence)-1].Text)
}

func TestTheMalformationsOfTheCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range malformed.Malformations {
		require.False(t, seen[m.ID], "%s is there twice", m.ID)
		seen[m.ID] = true
		require.NotEmpty(t, m.Says, m.ID)
	}
	for _, id := range []string{"unknown-role", "system-role", "missing-role", "missing-messages", "null-message",
		"null-content", "unknown-content-type", "content-string", "bad-base64", "missing-max-tokens", "unknown-tool-choice",
		"null-tool",
		"tool-without-schema", "empty-messages", "zero-max-tokens", "negative-max-tokens", "huge-max-tokens",
		"fractional-max-tokens", "duplicate-tool-names", "tool-bad-schema", "deep-nesting", "long-string"} {
		require.True(t, seen[id], "%s of the catalogue is missing", id)
	}
}
