package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// conversing is a question of the story's n-th conversation.
func (s *story) conversing(n int, question string, tools ...server.Tool) *server.CreateMessageParams {
	return asking(fmt.Sprintf("%s (conversation %s)", question, conversationName(s.trace.Header.Cases[0].Mark, n)), tools...)
}

// asksAll are sampling requests that are in flight together.
func (s *story) asksAll(params ...any) *story {
	if !s.revision.Modern() {
		for _, p := range params {
			s.asks(p)
		}
		return s
	}
	requests := object{}
	for _, p := range params {
		s.samples++
		requests[s.key()] = object{"method": "sampling/createMessage", "params": p}
	}
	s.frame(s.caseID, trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s","inputRequests":%s}}`, dialect.Marshal(requests)))
	return s
}

// answersEach are the answers to the last n samples, by their number among those; what is not there is not answered.
func (s *story) answersEach(n int, results map[int]string) *story {
	responses := map[string]json.RawMessage{}
	for _, i := range slices.Sorted(maps.Keys(results)) {
		responses[fmt.Sprintf("x-%d", s.samples-n+i)] = json.RawMessage(results[i])
		if !s.revision.Modern() {
			s.responds(fmt.Sprint(1000+s.asked-n+i), `"result":`+results[i])
		}
	}
	if s.revision.Modern() {
		s.frame(s.caseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{%s"name":"x","requestState":"s","inputResponses":%s}}`, s.meta(), dialect.Marshal(responses)))
	}
	return s
}

// lap is one round of a loop: what is asked, and what the client answers. The model is given what the edit makes of the messages.
func (s *story) lap(ask *server.CreateMessageParams, answer string, edit func([]turn) []turn) *server.CreateMessageParams {
	given := *ask
	if edit != nil {
		given.Messages = edit(slices.Clone(ask.Messages))
	}
	s.asks(ask).prompts(&given).answers(answer)
	return ask.After(json.RawMessage(answer), weatherReports)
}

// useOf is an answer with one tool use.
func useOf(city string) string {
	return wanting([3]string{"call_" + city, "get_weather", fmt.Sprintf(`{"city":%q}`, city)})
}

// touring is the loop of three cities; the model is given what the edit makes of the history of one round.
func touring(round int, edit func([]turn) []turn, end string) func(*story) {
	return func(s *story) {
		ask := asking(threeCities.question, getWeather)
		for i, city := range threeCities.cities {
			var change func([]turn) []turn
			if i+1 == round {
				change = edit
			}
			ask = s.lap(ask, useOf(city), change)
		}
		if round > len(threeCities.cities) {
			s.lap(ask, end, edit)
		} else {
			s.lap(ask, end, nil)
		}
	}
}

func TestALoopGrows(t *testing.T) {
	const another = " the model was given another history than the server's"
	hold(t, catalogue, []telling{
		{name: "as the server has it", check: "loop/three-rounds", caseID: "three-cities", tell: touring(0, nil, saying(threeCities.end)),
			verdict: report.Pass, message: "the final text came back after 3 rounds"},
		{name: "under another first word", check: "loop/three-rounds", caseID: "three-cities", verdict: report.Pass, message: "the final text came back after 3 rounds",
			tell: touring(4, func(m []turn) []turn {
				return slices.Insert(m, 0, turn{Role: "user", Content: server.Text("You speak for a server of mine.")})
			}, saying(threeCities.end))},
		{name: "the middle is forgotten", check: "loop/three-rounds", caseID: "three-cities", verdict: report.Fail, message: "in round 4" + another,
			tell: touring(4, func(m []turn) []turn { return slices.Concat(m[:1], m[5:]) }, saying(threeCities.end))},
		{name: "twice", check: "loop/three-rounds", caseID: "three-cities", verdict: report.Fail, message: "in round 3" + another,
			tell: touring(3, func(m []turn) []turn { return slices.Concat(m, m) }, saying(threeCities.end))},
		{name: "without the question", check: "loop/three-rounds", caseID: "three-cities", verdict: report.Fail, message: "in round 2" + another,
			tell: touring(2, func(m []turn) []turn { return m[1:] }, saying(threeCities.end))},
		{name: "the end is another text", check: "loop/three-rounds", caseID: "three-cities", tell: touring(0, nil, saying("Done.")),
			verdict: report.Fail, message: "the final text of the loop did not come back"},
		{name: "it has no end", check: "loop/three-rounds", caseID: "three-cities", tell: touring(0, nil, useOf("Oslo")),
			verdict: report.Fail, message: "the loop does not end: a tool use came back in place of the final text"},
		{name: "the model refuses it", check: "loop/three-rounds", caseID: "three-cities", dialects: openAI, in: inA, verdict: report.Fail, message: "the model refused the history of round 2: too long",
			tell: func(s *story) {
				ask := s.lap(asking(threeCities.question, getWeather), useOf("Paris"), nil)
				s.asks(ask).prompt(string(dialect.Marshal(asChat(ask))), trace.ModelEnd{Status: 400, Refused: "too long"}).refuses(-32603, "no")
			}},
		{name: "from what the model refuses", check: "loop/three-rounds", caseID: "three-cities", dialects: openAI, in: inA, verdict: report.NotObserved,
			message: "the model refused the first request of the loop, which has no history: no such model", tell: func(s *story) {
				ask := asking(threeCities.question, getWeather)
				s.asks(ask).prompt(string(dialect.Marshal(asChat(ask))), trace.ModelEnd{Status: 400, Refused: "no such model"}).refuses(-32603, "no")
			}},
		{name: "to the client's limit", check: "loop/three-rounds", caseID: "three-cities", in: inA, verdict: report.NotApplicable, message: `the client ends the loop in round 2: "enough" (code -32603)`,
			tell: func(s *story) {
				s.asks(s.lap(asking(threeCities.question, getWeather), useOf("Paris"), nil)).refuses(-32603, "enough").passesBarrier()
			}},
		{name: "to the client's limit, silently", check: "loop/three-rounds", caseID: "three-cities", in: inB, verdict: report.NotApplicable,
			message: "the client ends the loop in round 2: it did not fulfil the input request",
			tell: func(s *story) {
				s.asks(s.lap(asking(threeCities.question, getWeather), useOf("Paris"), nil)).passesBarrier()
			}},
		{name: "to an answer that nothing follows", check: "loop/three-rounds", caseID: "three-cities", verdict: report.NotObserved,
			message: "the play did not get as far as sampling request 4: the answer to request 1 could not be gone on from",
			tell:    func(s *story) { s.lap(asking(threeCities.question, getWeather), saying("I do not know."), nil) }},
	})
}

// stopping is a loop whose last request is answered by one more round.
func stopping(last func(*story, *server.CreateMessageParams)) func(*story) {
	return func(s *story) {
		ask := asking(twoCities.question, getWeather)
		for _, city := range twoCities.cities {
			ask = s.lap(ask, useOf(city), nil)
		}
		tellToStop(ask)
		last(s, ask)
	}
}

func TestALoopEndsWhereTheServerEndsIt(t *testing.T) {
	hold(t, catalogue, []telling{
		{name: "in text", check: "loop/last-round-none", caseID: "told-to-stop", verdict: report.Pass, message: "the final text came back after 2 rounds",
			tell: stopping(func(s *story, ask *server.CreateMessageParams) { s.lap(ask, saying(twoCities.end), nil) })},
		{name: "in a tool use", check: "loop/last-round-none", caseID: "told-to-stop", verdict: report.Fail, message: "the loop does not end: a tool use came back in place of the final text",
			tell: stopping(func(s *story, ask *server.CreateMessageParams) { s.lap(ask, useOf("Rome"), nil) })},
		{name: "in nothing", check: "loop/last-round-none", caseID: "told-to-stop", verdict: report.Fail, message: "the final text of the loop did not come back",
			tell: stopping(func(s *story, ask *server.CreateMessageParams) { s.lap(ask, saying(""), nil) })},
		{name: "in what the model refuses", check: "loop/last-round-none", caseID: "told-to-stop", verdict: report.Fail, message: "the model refused what the client made of the last request of a loop: no tools",
			tell: stopping(func(s *story, ask *server.CreateMessageParams) {
				s.asks(ask).prompt(`{}`, trace.ModelEnd{Status: 400, Refused: "no tools"}).refuses(-32603, "no").passesBarrier()
			})},
		{name: "in an error of the client's own", check: "loop/last-round-none", caseID: "told-to-stop", in: inA, verdict: report.NotApplicable,
			message: `the client does not go along to the last request: "enough" (code -32603)`,
			tell: stopping(func(s *story, ask *server.CreateMessageParams) {
				s.asks(ask).refuses(-32603, "enough").passesBarrier()
			})},
	})
}

// goesAlong is a loop of so many answered rounds, and then what the client does.
func goesAlong(n int, then func(*story, *server.CreateMessageParams)) func(*story) {
	return func(s *story) {
		ask := asking("How is the weather everywhere?", getWeather)
		for range n {
			ask = s.lap(ask, useOf("Anywhere"), nil)
		}
		if then != nil {
			then(s, ask)
		}
	}
}

func TestAClientMayStopALoopAndSaysSo(t *testing.T) {
	asked := func(then func(*story)) func(*story, *server.CreateMessageParams) {
		return func(s *story, ask *server.CreateMessageParams) { s.asks(ask); then(s) }
	}
	refused := asked(func(s *story) { s.refuses(-32603, "too many rounds").passesBarrier() })
	silent := asked(func(s *story) { s.passesBarrier() })
	hung := asked(func(s *story) { s.ends(trace.Process{Deadline: true}) })
	died := asked(func(s *story) { s.ends(trace.Process{Panic: "stack overflow"}) })
	gaveUp := asked(func(s *story) {
		s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		s.passesBarrier()
	})
	another := asked(func(s *story) {
		s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`)
		s.ends(trace.Process{Deadline: true})
	})
	text := asked(func(s *story) { s.answers(saying("I give up.")) })
	unreadable := asked(func(s *story) { s.answers(`{"role":"assistant","model":"m"}`) })
	const says = "the client answers each request of the loop, or says that it does not"
	limit, stops := "loop/iteration-limit", "loop/stops-with-error"
	hold(t, catalogue, []telling{
		{name: "never", check: limit, caseID: "sixty-four-rounds", dialects: native, tell: goesAlong(mostRounds, nil), verdict: report.Info,
			message: "the client goes along for 64 rounds, which is as far as it is asked"},
		{name: "never", check: stops, caseID: "sixty-four-rounds", dialects: native, tell: goesAlong(mostRounds, nil), verdict: report.Pass, message: says},
		{name: "with an error", check: limit, caseID: "sixty-four-rounds", in: inA, tell: goesAlong(2, refused), verdict: report.Info,
			message: `the client goes along for 2 rounds: "too many rounds" (code -32603)`},
		{name: "with an error", check: stops, caseID: "sixty-four-rounds", in: inA, tell: goesAlong(2, refused), verdict: report.Pass, message: says},
		{name: "with nothing, as it should", check: limit, caseID: "sixty-four-rounds", in: inB, tell: goesAlong(2, silent), verdict: report.Info,
			message: "the client goes along for 2 rounds: it did not fulfil the input request"},
		{name: "with nothing, as it should", check: stops, caseID: "sixty-four-rounds", in: inB, tell: goesAlong(2, silent), verdict: report.Pass, message: says},
		{name: "with a text", check: limit, caseID: "sixty-four-rounds", tell: goesAlong(2, text), verdict: report.Info, message: `the client goes along for 2 rounds: it answers with the text "I give up."`},
		{name: "with a text", check: stops, caseID: "sixty-four-rounds", tell: goesAlong(2, text), verdict: report.Pass, message: says},
		{name: "by giving up its call", check: stops, caseID: "sixty-four-rounds", in: inA, tell: goesAlong(2, gaveUp), verdict: report.Pass, message: "the client goes along for 2 rounds, and gives up its call"},
		{name: "by giving up another call", check: stops, caseID: "sixty-four-rounds", in: inA, tell: goesAlong(2, another), verdict: report.Fail,
			message: "the client went along for 2 rounds and never answered sampling request 3: it was still running after 1m0s and was ended"},
		{name: "with nothing, where a word is due", check: stops, caseID: "sixty-four-rounds", in: inA, tell: goesAlong(2, silent), verdict: report.Fail,
			message: "the client went along for 2 rounds and never answered sampling request 3: it ended with success"},
		{name: "with nothing, where a word is due", check: limit, caseID: "sixty-four-rounds", in: inA, tell: goesAlong(2, silent), verdict: report.NotObserved,
			message: "sampling request 3 was not answered (see loop/stops-with-error): no answer came for request 3"},
		{name: "by hanging", check: stops, caseID: "sixty-four-rounds", in: inA, tell: goesAlong(2, hung), verdict: report.Fail,
			message: "the client went along for 2 rounds and never answered sampling request 3: it was still running after 1m0s and was ended"},
		{name: "by hanging", check: stops, caseID: "sixty-four-rounds", in: inB, tell: goesAlong(2, hung), verdict: report.Fail,
			message: "the client went along for 2 rounds, and did not go on after sampling request 3: it was still running after 1m0s and was ended"},
		{name: "by dying", check: stops, caseID: "sixty-four-rounds", in: inB, tell: goesAlong(2, died), verdict: report.Fail,
			message: "the client went along for 2 rounds, and did not go on after sampling request 3: it panicked: stack overflow"},
		{name: "which is not settled", check: stops, caseID: "sixty-four-rounds", in: inB, tell: goesAlong(0, asked(func(*story) {})), verdict: report.Unsupported,
			message: "no answer came, and it is not settled that none would have: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: " +
				"no later sample was answered, so that it may only not have come yet"},
		{name: "before it began", check: stops, caseID: "sixty-four-rounds", in: inA, verdict: report.NotObserved,
			message: `the client answers nothing at all: request 1 was answered by the error "no" (code -32603)`,
			tell:    goesAlong(0, asked(func(s *story) { s.refuses(-32603, "no") }))},
		{name: "with what cannot be read", check: stops, caseID: "sixty-four-rounds", tell: goesAlong(2, unreadable), verdict: report.NotObserved,
			message: "the answer's content cannot be read (see basic/has-content)"},
		{name: "for want of an answer of ours", check: stops, caseID: "sixty-four-rounds", in: inA, verdict: report.NotObserved, message: "the model had no answer for sampling request 1",
			tell: goesAlong(0, asked(func(s *story) {
				s.prompt(`{}`, trace.ModelEnd{Status: 404, Miss: "no rule"}).refuses(-32603, "no")
			}))},
		{name: "for want of a play", check: limit, caseID: "sixty-four-rounds", tell: goesAlong(2, nil), verdict: report.NotObserved,
			message: "the play did not get as far as sampling request 3: the answer to request 2 could not be gone on from"},
	})
}

func TestNothingIsKeptForAnotherRequest(t *testing.T) {
	two := func(prompt func(*story, *server.CreateMessageParams)) func(*story) {
		return func(s *story) {
			ask := s.conversing(1, lonely.question, getWeather)
			s.lap(s.lap(ask, useOf("Reykjavik"), nil), saying(lonely.end), nil)
			colour := s.conversing(2, "Name a colour.")
			s.asks(colour)
			prompt(s, colour)
			s.answers(saying("Teal."))
		}
	}
	before := func(text string) func(*story) {
		return two(func(s *story, colour *server.CreateMessageParams) {
			given := *colour
			given.Messages = append([]turn{{Role: "user", Content: server.Text(text)}}, colour.Messages...)
			s.prompts(&given)
		})
	}
	mark := conversationName((&harness.Case{ID: "loop/two-questions"}).Mark(), 1)
	levelOf := func(revision server.Revision) report.Level { return stateless.Levels[revision] }
	require.Equal(t, []report.Level{report.Advice, report.Should}, []report.Level{levelOf(server.V20251125), levelOf(server.V20260728)})
	hold(t, catalogue, []telling{
		{name: "nothing", check: "loop/stateless", caseID: "two-questions", tell: two(func(s *story, colour *server.CreateMessageParams) { s.prompts(colour) }),
			verdict: report.Pass, message: "the model was given nothing of the requests before it"},
		{name: "words of the client's own", check: "loop/stateless", caseID: "two-questions", tell: before("You speak for a server of mine."),
			verdict: report.Pass, message: "the model was given nothing of the requests before it"},
		{name: "a question", check: "loop/stateless", caseID: "two-questions", tell: before("Before this: " + lonely.question),
			verdict: report.Warn, message: `the model was given "Will my sister need her umbrella?", which is of another request`},
		{name: "a result", check: "loop/stateless", caseID: "two-questions", tell: before("You know of sleet and gusts."),
			verdict: report.Warn, message: `the model was given "sleet and gusts", which is of another request`},
		{name: "what the model said", check: "loop/stateless", caseID: "two-questions", tell: before(lonely.end),
			verdict: report.Warn, message: `the model was given "She had better take it along.", which is of another request`},
		{name: "a system prompt", check: "loop/stateless", caseID: "two-questions", tell: before("(conversation " + mark + ")"),
			verdict: report.Warn, message: "the model was given something of another request (conversation " + mark + ", of loop/two-questions)"},
		{name: "which nobody was asked", check: "loop/stateless", caseID: "two-questions", tell: two(func(*story, *server.CreateMessageParams) {}),
			verdict: report.NotObserved, message: "the model was never asked for sampling request 3: nothing reached the fake model under the case's mark"},
	})
}
