package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var catalogue = check.Catalogue{Scenario}

type (
	request = server.CreateMessageParams
	history = []tracetest.Turn
)

// lap is one round of a loop: a request and its response. A non-nil edit changes the history that the model receives.
func lap(s *session, ask *request, answer string, edit func(history) history) *request {
	received := *ask
	if edit != nil {
		received.Messages = edit(slices.Clone(ask.Messages))
	}
	s.Asks(ask).Prompts(&received).Answers(answer)
	return ask.After(json.RawMessage(answer), weatherReports)
}

// useOf is a result with one tool use.
func useOf(city string) string {
	return tracetest.Wanting([3]string{"call_" + city, "get_weather", fmt.Sprintf(`{"city":%q}`, city)})
}

// touring is the loop of three cities with its last result. The edit changes the history that the model receives in
// one round, 0 for none.
func touring(end string, round int, edit func(history) history) func(*session) {
	return func(s *session) {
		ask := tracetest.Asking(threeCities.question, story.GetWeather)
		for i, answer := range []string{useOf("Paris"), useOf("London"), useOf("Rome"), end} {
			if i+1 == round {
				ask = lap(s, ask, answer, edit)
			} else {
				ask = lap(s, ask, answer, nil)
			}
		}
	}
}

// afterParis is the second request of the loop of three cities, and what follows it.
func afterParis(then func(s *session, ask *request)) func(*session) {
	return func(s *session) {
		ask := lap(s, tracetest.Asking(threeCities.question, story.GetWeather), useOf("Paris"), nil)
		s.Asks(ask)
		then(s, ask)
	}
}

func TestAHistoryGrowsInTheModelRequests(t *testing.T) {
	end := tracetest.Saying(threeCities.end)
	refusedByModel := func(s *session, ask *request, why string) {
		body := string(dialect.Marshal(tracetest.AsChat(ask)))
		s.Prompt(body, trace.ModelEnd{Status: 400, Refused: why}).Refuses(-32603, "no")
	}
	judges(t, "three-rounds", "three-cities",
		passes("the whole history", touring(end, 0, nil), "after 3 rounds"),
		passes("an added first message", touring(end, 4, func(m history) history {
			return slices.Insert(m, 0, tracetest.Turn{Role: "user", Content: server.Text("You speak for a server of mine.")})
		})),
		fails("the middle is missing",
			touring(end, 4, func(m history) history { return slices.Concat(m[:1], m[5:]) }), "of round 4, found another"),
		fails("everything twice",
			touring(end, 3, func(m history) history { return slices.Concat(m, m) }), "of round 3, found another"),
		fails("the question is missing",
			touring(end, 2, func(m history) history { return m[1:] }), "of round 2, found another"),
		fails("another final text",
			touring(tracetest.Saying("Done."), 0, nil), "final text after 3 rounds, found another result"),
		fails("a tool use for the final text", touring(useOf("Oslo"), 0, nil), "found a tool use"),
		legacy(openAI(fails("the model refuses the history",
			afterParis(func(s *session, ask *request) { refusedByModel(s, ask, "too long") }),
			"history of round 2, it refused: too long"))),
		legacy(openAI(unobserved("the model refuses the question", func(s *session) {
			ask := tracetest.Asking(threeCities.question, story.GetWeather)
			refusedByModel(s.Asks(ask), ask, "no such model")
		}, "no such model"))),
		legacy(inapplicable("the client's limit",
			afterParis(func(s *session, _ *request) { s.Refuses(-32603, "enough").PassesBarrier() }),
			`in round 2: "enough" (code -32603)`)),
		modern(inapplicable("the client's limit, without a response",
			afterParis(func(s *session, _ *request) { s.PassesBarrier() }), "in round 2: "+tracetest.NotFulfilled)),
		unobserved("no tool use to continue from", func(s *session) {
			lap(s, tracetest.Asking(threeCities.question, story.GetWeather), tracetest.Saying("I do not know."), nil)
		}, "did not send sampling request 4"),
	)
}

func TestALoopEndsWithTheToolChoiceNone(t *testing.T) {
	last := func(then func(*session, *request)) func(*session) {
		return func(s *session) {
			ask := tracetest.Asking(twoCities.question, story.GetWeather)
			for _, city := range twoCities.cities {
				ask = lap(s, ask, useOf(city), nil)
			}
			forbidTools(ask)
			then(s, ask)
		}
	}
	answered := func(result string) func(*session) {
		return last(func(s *session, ask *request) { lap(s, ask, result, nil) })
	}
	judges(t, "last-round-none", "told-to-stop",
		passes("a text", answered(tracetest.Saying(twoCities.end)), "after 2 rounds"),
		fails("a tool use", answered(useOf("Rome")), "found a tool use"),
		fails("an empty text", answered(tracetest.Saying("")), "found another result"),
		fails("the model refuses", last(func(s *session, ask *request) {
			s.Asks(ask).Prompt(`{}`, trace.ModelEnd{Status: 400, Refused: "no tools"}).Refuses(-32603, "no").PassesBarrier()
		}), "it refused: no tools"),
		legacy(inapplicable("the client refuses",
			last(func(s *session, ask *request) { s.Asks(ask).Refuses(-32603, "enough").PassesBarrier() }),
			`"enough" (code -32603)`)),
	)
}
