package loop

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// conversing is a question of the story's n-th conversation.
func conversing(s *tracetest.Story, n int, question string, tools ...server.Tool) *server.CreateMessageParams {
	return tracetest.Asking(fmt.Sprintf("%s (conversation %s)", question, conversationName(s.Trace.Header.Cases[0].Mark, n)), tools...)
}

// answersEach are the answers to the last n samples, by their number among those; what is not there is not answered.
func answersEach(s *tracetest.Story, n int, results map[int]string) *tracetest.Story {
	responses := map[string]json.RawMessage{}
	for _, i := range slices.Sorted(maps.Keys(results)) {
		responses[fmt.Sprintf("x-%d", s.Samples-n+i)] = json.RawMessage(results[i])
		if !s.Revision.Modern() {
			s.Responds(fmt.Sprint(1000+s.Asked-n+i), `"result":`+results[i])
		}
	}
	if s.Revision.Modern() {
		s.Frame(s.CaseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{%s"name":"x","requestState":"s","inputResponses":%s}}`, s.Meta(), dialect.Marshal(responses)))
	}
	return s
}

// lap is one round of a loop: what is asked, and what the client answers. The model is given what the edit makes of the messages.
func lap(s *tracetest.Story, ask *server.CreateMessageParams, answer string, edit func([]tracetest.Turn) []tracetest.Turn) *server.CreateMessageParams {
	given := *ask
	if edit != nil {
		given.Messages = edit(slices.Clone(ask.Messages))
	}
	s.Asks(ask).Prompts(&given).Answers(answer)
	return ask.After(json.RawMessage(answer), weatherReports)
}

// useOf is an answer with one tool use.
func useOf(city string) string {
	return tracetest.Wanting([3]string{"call_" + city, "get_weather", fmt.Sprintf(`{"city":%q}`, city)})
}

// touring is the loop of three cities; the model is given what the edit makes of the history of one round.
func touring(round int, edit func([]tracetest.Turn) []tracetest.Turn, end string) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		ask := tracetest.Asking(threeCities.question, story.GetWeather)
		for i, city := range threeCities.cities {
			var change func([]tracetest.Turn) []tracetest.Turn
			if i+1 == round {
				change = edit
			}
			ask = lap(s, ask, useOf(city), change)
		}
		if round > len(threeCities.cities) {
			lap(s, ask, end, edit)
		} else {
			lap(s, ask, end, nil)
		}
	}
}

func TestALoopGrows(t *testing.T) {
	const another = " the model was given another history than the server's"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "as the server has it", Check: "loop/three-rounds", CaseID: "three-cities", Steps: touring(0, nil, tracetest.Saying(threeCities.end)),
			Verdict: report.Pass, Message: "the final text came back after 3 rounds"},
		{Name: "under another first word", Check: "loop/three-rounds", CaseID: "three-cities", Verdict: report.Pass, Message: "the final text came back after 3 rounds",
			Steps: touring(4, func(m []tracetest.Turn) []tracetest.Turn {
				return slices.Insert(m, 0, tracetest.Turn{Role: "user", Content: server.Text("You speak for a server of mine.")})
			}, tracetest.Saying(threeCities.end))},
		{Name: "the middle is forgotten", Check: "loop/three-rounds", CaseID: "three-cities", Verdict: report.Fail, Message: "in round 4" + another,
			Steps: touring(4, func(m []tracetest.Turn) []tracetest.Turn { return slices.Concat(m[:1], m[5:]) }, tracetest.Saying(threeCities.end))},
		{Name: "twice", Check: "loop/three-rounds", CaseID: "three-cities", Verdict: report.Fail, Message: "in round 3" + another,
			Steps: touring(3, func(m []tracetest.Turn) []tracetest.Turn { return slices.Concat(m, m) }, tracetest.Saying(threeCities.end))},
		{Name: "without the question", Check: "loop/three-rounds", CaseID: "three-cities", Verdict: report.Fail, Message: "in round 2" + another,
			Steps: touring(2, func(m []tracetest.Turn) []tracetest.Turn { return m[1:] }, tracetest.Saying(threeCities.end))},
		{Name: "the end is another text", Check: "loop/three-rounds", CaseID: "three-cities", Steps: touring(0, nil, tracetest.Saying("Done.")),
			Verdict: report.Fail, Message: "the final text of the loop did not come back"},
		{Name: "it has no end", Check: "loop/three-rounds", CaseID: "three-cities", Steps: touring(0, nil, useOf("Oslo")),
			Verdict: report.Fail, Message: "the loop does not end: a tool use came back in place of the final text"},
		{Name: "the model refuses it", Check: "loop/three-rounds", CaseID: "three-cities", Dialects: tracetest.OpenAI, In: tracetest.InA, Verdict: report.Fail, Message: "the model refused the history of round 2: too long",
			Steps: func(s *tracetest.Story) {
				ask := lap(s, tracetest.Asking(threeCities.question, story.GetWeather), useOf("Paris"), nil)
				s.Asks(ask).Prompt(string(dialect.Marshal(tracetest.AsChat(ask))), trace.ModelEnd{Status: 400, Refused: "too long"}).Refuses(-32603, "no")
			}},
		{Name: "from what the model refuses", Check: "loop/three-rounds", CaseID: "three-cities", Dialects: tracetest.OpenAI, In: tracetest.InA, Verdict: report.NotObserved,
			Message: "the model refused the first request of the loop, which has no history: no such model", Steps: func(s *tracetest.Story) {
				ask := tracetest.Asking(threeCities.question, story.GetWeather)
				s.Asks(ask).Prompt(string(dialect.Marshal(tracetest.AsChat(ask))), trace.ModelEnd{Status: 400, Refused: "no such model"}).Refuses(-32603, "no")
			}},
		{Name: "to the client's limit", Check: "loop/three-rounds", CaseID: "three-cities", In: tracetest.InA, Verdict: report.NotApplicable, Message: `the client ends the loop in round 2: "enough" (code -32603)`,
			Steps: func(s *tracetest.Story) {
				s.Asks(lap(s, tracetest.Asking(threeCities.question, story.GetWeather), useOf("Paris"), nil)).Refuses(-32603, "enough").PassesBarrier()
			}},
		{Name: "to the client's limit, silently", Check: "loop/three-rounds", CaseID: "three-cities", In: tracetest.InB, Verdict: report.NotApplicable,
			Message: "the client ends the loop in round 2: it did not fulfil the input request",
			Steps: func(s *tracetest.Story) {
				s.Asks(lap(s, tracetest.Asking(threeCities.question, story.GetWeather), useOf("Paris"), nil)).PassesBarrier()
			}},
		{Name: "to an answer that nothing follows", Check: "loop/three-rounds", CaseID: "three-cities", Verdict: report.NotObserved,
			Message: "the server did not send sampling request 4: the handler could not continue from the response to request 1",
			Steps: func(s *tracetest.Story) {
				lap(s, tracetest.Asking(threeCities.question, story.GetWeather), tracetest.Saying("I do not know."), nil)
			}},
	})
}

// stopping is a loop whose last request is answered by one more round.
func stopping(last func(*tracetest.Story, *server.CreateMessageParams)) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		ask := tracetest.Asking(twoCities.question, story.GetWeather)
		for _, city := range twoCities.cities {
			ask = lap(s, ask, useOf(city), nil)
		}
		tellToStop(ask)
		last(s, ask)
	}
}

func TestALoopEndsWhereTheServerEndsIt(t *testing.T) {
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "in text", Check: "loop/last-round-none", CaseID: "told-to-stop", Verdict: report.Pass, Message: "the final text came back after 2 rounds",
			Steps: stopping(func(s *tracetest.Story, ask *server.CreateMessageParams) {
				lap(s, ask, tracetest.Saying(twoCities.end), nil)
			})},
		{Name: "in a tool use", Check: "loop/last-round-none", CaseID: "told-to-stop", Verdict: report.Fail, Message: "the loop does not end: a tool use came back in place of the final text",
			Steps: stopping(func(s *tracetest.Story, ask *server.CreateMessageParams) { lap(s, ask, useOf("Rome"), nil) })},
		{Name: "in nothing", Check: "loop/last-round-none", CaseID: "told-to-stop", Verdict: report.Fail, Message: "the final text of the loop did not come back",
			Steps: stopping(func(s *tracetest.Story, ask *server.CreateMessageParams) { lap(s, ask, tracetest.Saying(""), nil) })},
		{Name: "in what the model refuses", Check: "loop/last-round-none", CaseID: "told-to-stop", Verdict: report.Fail, Message: "the model refused what the client made of the last request of a loop: no tools",
			Steps: stopping(func(s *tracetest.Story, ask *server.CreateMessageParams) {
				s.Asks(ask).Prompt(`{}`, trace.ModelEnd{Status: 400, Refused: "no tools"}).Refuses(-32603, "no").PassesBarrier()
			})},
		{Name: "in an error of the client's own", Check: "loop/last-round-none", CaseID: "told-to-stop", In: tracetest.InA, Verdict: report.NotApplicable,
			Message: `the client does not go along to the last request: "enough" (code -32603)`,
			Steps: stopping(func(s *tracetest.Story, ask *server.CreateMessageParams) {
				s.Asks(ask).Refuses(-32603, "enough").PassesBarrier()
			})},
	})
}

// goesAlong is a loop of so many answered rounds, and then what the client does.
func goesAlong(n int, then func(*tracetest.Story, *server.CreateMessageParams)) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		ask := tracetest.Asking("How is the weather everywhere?", story.GetWeather)
		for range n {
			ask = lap(s, ask, useOf("Anywhere"), nil)
		}
		if then != nil {
			then(s, ask)
		}
	}
}

func TestAClientMayStopALoopAndSaysSo(t *testing.T) {
	asked := func(then func(*tracetest.Story)) func(*tracetest.Story, *server.CreateMessageParams) {
		return func(s *tracetest.Story, ask *server.CreateMessageParams) { s.Asks(ask); then(s) }
	}
	refused := asked(func(s *tracetest.Story) { s.Refuses(-32603, "too many rounds").PassesBarrier() })
	silent := asked(func(s *tracetest.Story) { s.PassesBarrier() })
	hung := asked(func(s *tracetest.Story) { s.Ends(trace.Process{Deadline: true}) })
	died := asked(func(s *tracetest.Story) { s.Ends(trace.Process{Panic: "stack overflow"}) })
	gaveUp := asked(func(s *tracetest.Story) {
		s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		s.PassesBarrier()
	})
	another := asked(func(s *tracetest.Story) {
		s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`)
		s.Ends(trace.Process{Deadline: true})
	})
	text := asked(func(s *tracetest.Story) { s.Answers(tracetest.Saying("I give up.")) })
	unreadable := asked(func(s *tracetest.Story) { s.Answers(`{"role":"assistant","model":"m"}`) })
	const says = "the client answers each request of the loop, or says that it does not"
	limit, stops := "loop/iteration-limit", "loop/stops-with-error"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "never", Check: limit, CaseID: "sixty-four-rounds", Dialects: tracetest.Native, Steps: goesAlong(mostRounds, nil), Verdict: report.Info,
			Message: "the client goes along for 64 rounds, which is as far as it is asked"},
		{Name: "never", Check: stops, CaseID: "sixty-four-rounds", Dialects: tracetest.Native, Steps: goesAlong(mostRounds, nil), Verdict: report.Pass, Message: says},
		{Name: "with an error", Check: limit, CaseID: "sixty-four-rounds", In: tracetest.InA, Steps: goesAlong(2, refused), Verdict: report.Info,
			Message: `the client goes along for 2 rounds: "too many rounds" (code -32603)`},
		{Name: "with an error", Check: stops, CaseID: "sixty-four-rounds", In: tracetest.InA, Steps: goesAlong(2, refused), Verdict: report.Pass, Message: says},
		{Name: "with nothing, as it should", Check: limit, CaseID: "sixty-four-rounds", In: tracetest.InB, Steps: goesAlong(2, silent), Verdict: report.Info,
			Message: "the client goes along for 2 rounds: it did not fulfil the input request"},
		{Name: "with nothing, as it should", Check: stops, CaseID: "sixty-four-rounds", In: tracetest.InB, Steps: goesAlong(2, silent), Verdict: report.Pass, Message: says},
		{Name: "with a text", Check: limit, CaseID: "sixty-four-rounds", Steps: goesAlong(2, text), Verdict: report.Info, Message: `the client goes along for 2 rounds: it answers with the text "I give up."`},
		{Name: "with a text", Check: stops, CaseID: "sixty-four-rounds", Steps: goesAlong(2, text), Verdict: report.Pass, Message: says},
		{Name: "by giving up its call", Check: stops, CaseID: "sixty-four-rounds", In: tracetest.InA, Steps: goesAlong(2, gaveUp), Verdict: report.Pass, Message: "the client goes along for 2 rounds, and gives up its call"},
		{Name: "by giving up another call", Check: stops, CaseID: "sixty-four-rounds", In: tracetest.InA, Steps: goesAlong(2, another), Verdict: report.Fail,
			Message: "the client went along for 2 rounds and never answered sampling request 3: it was still running after 1m0s and was ended"},
		{Name: "with nothing, where a word is due", Check: stops, CaseID: "sixty-four-rounds", In: tracetest.InA, Steps: goesAlong(2, silent), Verdict: report.Fail,
			Message: "the client went along for 2 rounds and never answered sampling request 3: it ended with success"},
		{Name: "with nothing, where a word is due", Check: limit, CaseID: "sixty-four-rounds", In: tracetest.InA, Steps: goesAlong(2, silent), Verdict: report.NotObserved,
			Message: "no result for sampling request 3 (see loop/stops-with-error): no response to request 3"},
		{Name: "by hanging", Check: stops, CaseID: "sixty-four-rounds", In: tracetest.InA, Steps: goesAlong(2, hung), Verdict: report.Fail,
			Message: "the client went along for 2 rounds and never answered sampling request 3: it was still running after 1m0s and was ended"},
		{Name: "by hanging", Check: stops, CaseID: "sixty-four-rounds", In: tracetest.InB, Steps: goesAlong(2, hung), Verdict: report.Fail,
			Message: "the client went along for 2 rounds, and did not go on after sampling request 3: it was still running after 1m0s and was ended"},
		{Name: "by dying", Check: stops, CaseID: "sixty-four-rounds", In: tracetest.InB, Steps: goesAlong(2, died), Verdict: report.Fail,
			Message: "the client went along for 2 rounds, and did not go on after sampling request 3: it panicked: stack overflow"},
		{Name: "which is not settled", Check: stops, CaseID: "sixty-four-rounds", In: tracetest.InB, Steps: goesAlong(0, asked(func(*tracetest.Story) {})), Verdict: report.Unsupported,
			Message: "no response came, but one could still have come: the client must call the tools in the order of tools/list and answer the last sampling request: " +
				"no later sampling request was answered, so it could still come"},
		{Name: "before it began", Check: stops, CaseID: "sixty-four-rounds", In: tracetest.InA, Verdict: report.NotObserved,
			Message: `the client answers nothing at all: error response to request 1: "no" (code -32603)`,
			Steps:   goesAlong(0, asked(func(s *tracetest.Story) { s.Refuses(-32603, "no") }))},
		{Name: "with what cannot be read", Check: stops, CaseID: "sixty-four-rounds", Steps: goesAlong(2, unreadable), Verdict: report.NotObserved,
			Message: "the content of the result cannot be decoded (see basic/has-content)"},
		{Name: "for want of an answer of ours", Check: stops, CaseID: "sixty-four-rounds", In: tracetest.InA, Verdict: report.NotObserved, Message: "the model had no answer for sampling request 1",
			Steps: goesAlong(0, asked(func(s *tracetest.Story) {
				s.Prompt(`{}`, trace.ModelEnd{Status: 404, Miss: "no rule"}).Refuses(-32603, "no")
			}))},
		{Name: "for want of a play", Check: limit, CaseID: "sixty-four-rounds", Steps: goesAlong(2, nil), Verdict: report.NotObserved,
			Message: "the server did not send sampling request 3: the handler could not continue from the response to request 2"},
	})
}

func TestNothingIsKeptForAnotherRequest(t *testing.T) {
	two := func(prompt func(*tracetest.Story, *server.CreateMessageParams)) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			ask := conversing(s, 1, lonely.question, story.GetWeather)
			lap(s, lap(s, ask, useOf("Reykjavik"), nil), tracetest.Saying(lonely.end), nil)
			colour := conversing(s, 2, "Name a colour.")
			s.Asks(colour)
			prompt(s, colour)
			s.Answers(tracetest.Saying("Teal."))
		}
	}
	before := func(text string) func(*tracetest.Story) {
		return two(func(s *tracetest.Story, colour *server.CreateMessageParams) {
			given := *colour
			given.Messages = append([]tracetest.Turn{{Role: "user", Content: server.Text(text)}}, colour.Messages...)
			s.Prompts(&given)
		})
	}
	mark := conversationName((&harness.Case{ID: "loop/two-questions"}).Mark(), 1)
	levelOf := func(revision server.Revision) report.Level { return stateless.Levels[revision] }
	require.Equal(t, []report.Level{report.Advice, report.Should}, []report.Level{levelOf(server.V20251125), levelOf(server.V20260728)})
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "nothing", Check: "loop/stateless", CaseID: "two-questions", Steps: two(func(s *tracetest.Story, colour *server.CreateMessageParams) { s.Prompts(colour) }),
			Verdict: report.Pass, Message: "the model was given nothing of the requests before it"},
		{Name: "words of the client's own", Check: "loop/stateless", CaseID: "two-questions", Steps: before("You speak for a server of mine."),
			Verdict: report.Pass, Message: "the model was given nothing of the requests before it"},
		{Name: "a question", Check: "loop/stateless", CaseID: "two-questions", Steps: before("Before this: " + lonely.question),
			Verdict: report.Warn, Message: `the model was given "Will my sister need her umbrella?", which is of another request`},
		{Name: "a result", Check: "loop/stateless", CaseID: "two-questions", Steps: before("You know of sleet and gusts."),
			Verdict: report.Warn, Message: `the model was given "sleet and gusts", which is of another request`},
		{Name: "what the model said", Check: "loop/stateless", CaseID: "two-questions", Steps: before(lonely.end),
			Verdict: report.Warn, Message: `the model was given "She had better take it along.", which is of another request`},
		{Name: "a system prompt", Check: "loop/stateless", CaseID: "two-questions", Steps: before("(conversation " + mark + ")"),
			Verdict: report.Warn, Message: "the model was given something of another request (conversation " + mark + ", of loop/two-questions)"},
		{Name: "which nobody was asked", Check: "loop/stateless", CaseID: "two-questions", Steps: two(func(*tracetest.Story, *server.CreateMessageParams) {}),
			Verdict: report.NotObserved, Message: "the model received no request for sampling request 3: none had the mark of the case"},
	})
}
