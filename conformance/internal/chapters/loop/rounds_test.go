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
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var catalogue = check.Catalogue{Scenario}

type (
	request = server.CreateMessageParams
	history = []tracetest.Turn
)

// lap is one round of a loop: a request and its response. A non-nil edit changes the history that the model receives.
func lap(s *tracetest.Story, ask *request, answer string, edit func(history) history) *request {
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
func touring(end string, round int, edit func(history) history) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
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
func afterParis(then func(s *tracetest.Story, ask *request)) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		ask := lap(s, tracetest.Asking(threeCities.question, story.GetWeather), useOf("Paris"), nil)
		s.Asks(ask)
		then(s, ask)
	}
}

func TestAHistoryGrowsInTheModelRequests(t *testing.T) {
	end := tracetest.Saying(threeCities.end)
	refusedByModel := func(s *tracetest.Story, ask *request, why string) {
		body := string(dialect.Marshal(tracetest.AsChat(ask)))
		s.Prompt(body, trace.ModelEnd{Status: 400, Refused: why}).Refuses(-32603, "no")
	}
	tracetest.RunCheck(t, catalogue, "loop/three-rounds", "three-cities", []tracetest.Test{
		{Name: "the whole history", Steps: touring(end, 0, nil), Verdict: report.Pass, Message: "after 3 rounds"},
		{Name: "an added first message", Verdict: report.Pass, Steps: touring(end, 4, func(m history) history {
			return slices.Insert(m, 0, tracetest.Turn{Role: "user", Content: server.Text("You speak for a server of mine.")})
		})},
		{Name: "the middle is missing", Verdict: report.Fail, Message: "of round 4, found another",
			Steps: touring(end, 4, func(m history) history { return slices.Concat(m[:1], m[5:]) })},
		{Name: "everything twice", Verdict: report.Fail, Message: "of round 3, found another",
			Steps: touring(end, 3, func(m history) history { return slices.Concat(m, m) })},
		{Name: "the question is missing", Verdict: report.Fail, Message: "of round 2, found another",
			Steps: touring(end, 2, func(m history) history { return m[1:] })},
		{Name: "another final text", Steps: touring(tracetest.Saying("Done."), 0, nil), Verdict: report.Fail,
			Message: "final text after 3 rounds, found another result"},
		{Name: "a tool use for the final text", Steps: touring(useOf("Oslo"), 0, nil), Verdict: report.Fail,
			Message: "found a tool use"},
		{Name: "the model refuses the history", Dialects: tracetest.OpenAI, In: tracetest.InA, Verdict: report.Fail,
			Message: "history of round 2, it refused: too long",
			Steps:   afterParis(func(s *tracetest.Story, ask *request) { refusedByModel(s, ask, "too long") })},
		{Name: "the model refuses the question", Dialects: tracetest.OpenAI, In: tracetest.InA, Verdict: report.NotObserved,
			Message: "no such model", Steps: func(s *tracetest.Story) {
				ask := tracetest.Asking(threeCities.question, story.GetWeather)
				refusedByModel(s.Asks(ask), ask, "no such model")
			}},
		{Name: "the client's limit", In: tracetest.InA, Verdict: report.NotApplicable,
			Message: `in round 2: "enough" (code -32603)`,
			Steps:   afterParis(func(s *tracetest.Story, _ *request) { s.Refuses(-32603, "enough").PassesBarrier() })},
		{Name: "the client's limit, without a response", In: tracetest.InB, Verdict: report.NotApplicable,
			Message: "in round 2: " + tracetest.NotFulfilled,
			Steps:   afterParis(func(s *tracetest.Story, _ *request) { s.PassesBarrier() })},
		{Name: "no tool use to continue from", Verdict: report.NotObserved, Message: "did not send sampling request 4",
			Steps: func(s *tracetest.Story) {
				lap(s, tracetest.Asking(threeCities.question, story.GetWeather), tracetest.Saying("I do not know."), nil)
			}},
	})
}

func TestALoopEndsWithTheToolChoiceNone(t *testing.T) {
	last := func(then func(*tracetest.Story, *request)) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			ask := tracetest.Asking(twoCities.question, story.GetWeather)
			for _, city := range twoCities.cities {
				ask = lap(s, ask, useOf(city), nil)
			}
			forbidTools(ask)
			then(s, ask)
		}
	}
	answered := func(result string) func(*tracetest.Story) {
		return last(func(s *tracetest.Story, ask *request) { lap(s, ask, result, nil) })
	}
	tracetest.RunCheck(t, catalogue, "loop/last-round-none", "told-to-stop", []tracetest.Test{
		{Name: "a text", Steps: answered(tracetest.Saying(twoCities.end)), Verdict: report.Pass, Message: "after 2 rounds"},
		{Name: "a tool use", Steps: answered(useOf("Rome")), Verdict: report.Fail, Message: "found a tool use"},
		{Name: "an empty text", Steps: answered(tracetest.Saying("")), Verdict: report.Fail,
			Message: "found another result"},
		{Name: "the model refuses", Verdict: report.Fail, Message: "it refused: no tools",
			Steps: last(func(s *tracetest.Story, ask *request) {
				s.Asks(ask).Prompt(`{}`, trace.ModelEnd{Status: 400, Refused: "no tools"}).Refuses(-32603, "no").PassesBarrier()
			})},
		{Name: "the client refuses", In: tracetest.InA, Verdict: report.NotApplicable, Message: `"enough" (code -32603)`,
			Steps: last(func(s *tracetest.Story, ask *request) { s.Asks(ask).Refuses(-32603, "enough").PassesBarrier() })},
	})
}
