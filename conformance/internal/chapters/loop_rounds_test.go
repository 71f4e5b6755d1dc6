package chapters_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/loop"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var loopCatalogue = check.Catalogue{loop.Scenario}

type (
	loopRequest = server.CreateMessageParams
	history     = []tracetest.Turn
)

// lap is one round of a loop: a request and its response.
func lap(s *session, ask *loopRequest, answer string) *loopRequest {
	s.Asks(ask).Prompts(ask).Answers(answer)
	return ask.After(json.RawMessage(answer), loop.WeatherReports)
}

// useOf is a result with one tool use.
func useOf(city string) string {
	return tracetest.Wanting([3]string{"call_" + city, "get_weather", fmt.Sprintf(`{"city":%q}`, city)})
}

// touring is the loop of three cities with its last result; "" for none yet.
func touring(end string) func(*session) {
	return func(s *session) {
		ask := tracetest.Asking(loop.ThreeCities.Question, story.GetWeather)
		for _, city := range loop.ThreeCities.Cities {
			ask = lap(s, ask, useOf(city))
		}
		s.Asks(ask).Prompts(ask)
		if end != "" {
			s.Answers(end)
		}
	}
}

// afterParis is the second request of the loop of three cities, and what follows it.
func afterParis(then func(s *session, ask *loopRequest)) func(*session) {
	return func(s *session) {
		ask := lap(s, tracetest.Asking(loop.ThreeCities.Question, story.GetWeather), useOf("Paris"))
		s.Asks(ask)
		then(s, ask)
	}
}

func TestALoopAsksTheModelUntilItsFinalText(t *testing.T) {
	end := tracetest.Saying(loop.ThreeCities.End)
	refusedByModel := func(s *session, ask *loopRequest, why string) {
		body := string(jsonvalue.Marshal(tracetest.AsChat(ask)))
		s.Prompt(body, trace.ModelEnd{Status: 400, Refused: why}).Refuses(-32603, "no")
	}
	loopJudges(t, "three-rounds", "three-cities",
		passes("the final text", touring(end), "after 3 rounds"),
		fails("no text", touring(tracetest.Saying("")), "final text after 3 rounds, found another result"),
		fails("a tool use for the final text", touring(useOf("Oslo")), "found a tool use"),
		native(unobserved("a tool use that the model wants", func(s *session) {
			touring("")(s)
			s.Says(useOf("Oslo")).Answers(useOf("Oslo"))
		}, "see always/model-was-given")),
		fails("no request to the model", afterParis(func(s *session, _ *loopRequest) { s.Answers(useOf("London")) }),
			"for sampling request 2, found a result without one"),
		inapplicable("no request to the model in any round", func(s *session) {
			s.Asks(tracetest.Asking(loop.ThreeCities.Question, story.GetWeather)).Answers(end)
		}, "answers by itself"),
		legacy(openAI(fails("the model refuses the history",
			afterParis(func(s *session, ask *loopRequest) { refusedByModel(s, ask, "too long") }),
			"history of round 2, it refused: too long"))),
		legacy(openAI(unobserved("the model refuses the question", func(s *session) {
			ask := tracetest.Asking(loop.ThreeCities.Question, story.GetWeather)
			refusedByModel(s.Asks(ask), ask, "no such model")
		}, "no such model"))),
		legacy(inapplicable("the client's limit",
			afterParis(func(s *session, _ *loopRequest) { s.Refuses(-32603, "enough").PassesBarrier() }),
			`in round 2: "enough" (code -32603)`)),
		modern(inapplicable("the client's limit, without a response",
			afterParis(func(s *session, _ *loopRequest) { s.PassesBarrier() }), "in round 2: "+tracetest.NotFulfilled)),
		unobserved("no tool use to continue from", func(s *session) {
			lap(s, tracetest.Asking(loop.ThreeCities.Question, story.GetWeather), tracetest.Saying("I do not know."))
		}, "did not send sampling request 4"),
	)
}

func TestALoopEndsWithTheToolChoiceNone(t *testing.T) {
	last := func(then func(*session, *loopRequest)) func(*session) {
		return func(s *session) {
			ask := tracetest.Asking(loop.TwoCities.Question, story.GetWeather)
			for _, city := range loop.TwoCities.Cities {
				ask = lap(s, ask, useOf(city))
			}
			ask.ToolChoice = &server.ToolChoice{Mode: dialect.ChoiceNone}
			then(s, ask)
		}
	}
	answered := func(result string) func(*session) {
		return last(func(s *session, ask *loopRequest) { lap(s, ask, result) })
	}
	loopJudges(t, "last-round-none", "told-to-stop",
		passes("a text", answered(tracetest.Saying(loop.TwoCities.End)), "after 2 rounds"),
		fails("a tool use", answered(useOf("Rome")), "found a tool use"),
		fails("an empty text", answered(tracetest.Saying("")), "found another result"),
		fails("the model refuses", last(func(s *session, ask *loopRequest) {
			s.Asks(ask).Prompt(`{}`, trace.ModelEnd{Status: 400, Refused: "no tools"}).Refuses(-32603, "no").PassesBarrier()
		}), "it refused: no tools"),
		legacy(inapplicable("the client refuses",
			last(func(s *session, ask *loopRequest) { s.Asks(ask).Refuses(-32603, "enough").PassesBarrier() }),
			`"enough" (code -32603)`)),
	)
}
