package chapters_test

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// models are those that a client calls in the rounds of the case.
type models [basic.HintRounds]string

// but returns the models with another one in a round.
func (m models) but(round int, model string) models {
	m[round] = model
	return m
}

func (m models) steps(s *session) {
	for i, model := range m {
		p := tracetest.Asking("Which model are you?")
		if basic.Preferred[i] != nil {
			p.ModelPreferences = basic.Preferred[i]
		}
		body := tracetest.With(string(story.JSON(tracetest.AsChat(p))), "model", fmt.Sprintf("%q", model))
		s.Asks(p).Prompt(body, trace.ModelEnd{Status: 200}).Answers(whole)
	}
}

func TestHints(t *testing.T) {
	const mini, big, haiku, opus = "gpt-4o-mini", "gpt-4.1", "claude-3-5-haiku-20241022", "claude-opus-4-1"
	var (
		// By round: nothing, small, large, small first, large first, numbers, small and numbers, parts.
		right  = models{"own", mini, big, mini, big, big, mini, mini}
		one    = models{"own", "own", "own", "own", "own", "own", "own", "own"}
		mapped = models{"own", "fast", "deep", "fast", "deep", "own", "fast", "own"}
		given  = models{"own", mini, big, mini, big, "own", mini, "4o-mini"}
		dated  = models{"claude-sonnet-4-5", haiku, opus, haiku, opus, opus, "claude-3-5-haiku-latest", haiku}
		large  = models{"own", "own", big, big, big, "own", "own", "own"}
	)
	calls := func(name string, m models, verdict report.Verdict, message string) basicTest {
		return openAI(basicRow(name, m.steps, verdict, message))
	}
	basicJudges(t, "hints-respected", "hints",
		calls("the named model", right, report.Pass, ""),
		calls("an equivalent model", mapped, report.Pass, ""),
		calls("only a large model", large, report.Pass, ""),
		calls("always the same model", one, report.Warn, `found "own"`),
		openAI(inapplicable("the only model", func(s *session) {
			s.Add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: harness.OneModel}})
			one.steps(s)
		}, "it has one model")),
	)
	basicJudges(t, "hints-in-order", "hints",
		calls("the first", right, report.Pass, ""),
		calls("an equivalent of the first", mapped, report.Pass, ""),
		calls("the first under the hint's own name", given, report.Pass, ""),
		calls("the first with a date", dated, report.Pass, ""),
		calls("the last", right.but(basic.RoundSmallFirst, big),
			report.Fail, `expected "gpt-4o-mini", by the first hint, found "gpt-4.1"`),
		calls("always the small one", right.but(basic.RoundLargeFirst, mini), report.Fail,
			`expected "gpt-4.1", by the first hint`),
		calls("a third model", right.but(basic.RoundSmallFirst, "own"), report.Warn, "a third model"),
		calls("always the same model", one, report.NotApplicable, "two hints"),
		calls("the small one without hints", right.but(basic.RoundNothing, mini), report.NotApplicable, "two hints"),
	)
	stops := func(status int, wrote string, before ...func(*session)) steps {
		return func(s *session) {
			p := tracetest.Asking("Which model are you?")
			s.Asks(p).Prompt(string(story.JSON(tracetest.AsChat(p))), trace.ModelEnd{Status: status}).Answers(whole)
			s.Asks(p)
			for _, step := range before {
				step(s)
			}
			s.Ends(trace.Process{Stderr: "hints ok\n" + wrote + "\n"})
		}
	}
	refuses := func(with string) steps {
		return func(s *session) {
			p := tracetest.Asking("Which model are you?")
			s.Asks(p).Prompt(string(story.JSON(tracetest.AsChat(p))), trace.ModelEnd{Status: 503}).Answers(whole)
			s.Asks(p).Refuses(-1, with)
		}
	}
	basicJudges(t, "hints-in-order", "hints",
		openAI(legacy(unsupported("it pauses", refuses("the circuit breaker is open"), "asks no model for a while"))),
		openAI(legacy(unsupported("it waits", refuses("no deployment, try again in 5 seconds"), "no model for a while"))),
		openAI(legacy(unobserved("it pauses from the start", func(s *session) {
			s.Asks(tracetest.Asking("Which model are you?")).Refuses(-1, "try again in 5 seconds")
		}, "did not send"))),
		openAI(legacy(unobserved("it says nothing of a pause", refuses("try again"), "did not send"))),
		openAI(modern(unsupported("the client wrote that it limits the requests",
			stops(200, "tool hints: Sampling rate limit exceeded"), `session: "tool hints: Sampling rate limit exceeded"`))),
		openAI(modern(unsupported("it serves so many in a session", stops(200, "the limit of 25 samples was reached"),
			`session: "the limit of 25 samples was reached"`))),
		openAI(modern(unsupported("it has a budget", stops(200, "The sampling budget is used up."), "session: "))),
		openAI(modern(unobserved("the request is too large", stops(200, "the limit of 4096 tokens was exceeded"),
			"did not send"))),
		openAI(modern(unobserved("it may mean the provider's limit", stops(429, "rate limit exceeded"), "did not send"))),
		openAI(modern(unobserved("it wrote of something else", stops(200, "no model"), "did not send"))),
		openAI(modern(unobserved("it reported that the call was completed",
			stops(200, "rate limit exceeded", func(s *session) { s.CallEnds("completed") }), "did not send"))),
	)
	basicJudges(t, "hint-substring", "hints",
		calls("the model that contains the part", right, report.Pass, ""),
		calls("the same with a date", dated, report.Pass, ""),
		calls("the part itself", given, report.Pass, ""),
		calls("another model that contains the part", right.but(basic.RoundParts, "gpt-4o-mini-2024-07-18"), report.Pass, ""),
		calls("no match", right.but(basic.RoundParts, "own"),
			report.Warn, `expected the hint "4o-mini" to match "gpt-4o-mini", found "own"`),
		calls("equivalent models", mapped, report.NotApplicable, ""),
		calls("always the same model", one, report.NotApplicable, ""),
	)
	numbersChoose := right.but(basic.RoundNumbers, "gpt-4o-mini-high").but(basic.RoundSmallAndNumbers, "gpt-4o-mini-high")
	basicJudges(t, "hints-over-numbers", "hints",
		calls("the hint", right, report.Pass, ""),
		calls("the hint under another form of its name", dated, report.Pass, ""),
		calls("the numbers among the models of the hint", numbersChoose, report.Pass, ""),
		calls("the numbers", right.but(basic.RoundSmallAndNumbers, big), report.Warn, `found "gpt-4.1", by the numbers`),
		calls("numbers are not read", given, report.NotApplicable, "numbers alone"),
		calls("hints are not read", one, report.NotApplicable, "hint alone"),
	)
}
