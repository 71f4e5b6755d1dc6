package chapters_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/loop"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// conversing is a question of the story's nth conversation.
func conversing(s *session, n int, question string, tools ...server.Tool) *loopRequest {
	name := loop.ConversationName(s.Trace.Header.Cases[0].Mark, n)
	return tracetest.Asking(fmt.Sprintf("%s (conversation %s)", question, name), tools...)
}

// answersEach responds to the last n requests, by their number among those. A missing number gets no response.
func answersEach(s *session, n int, results map[int]string) {
	responses := map[string]json.RawMessage{}
	for _, i := range slices.Sorted(maps.Keys(results)) {
		responses[fmt.Sprintf("x-%d", s.Samples-n+i)] = json.RawMessage(results[i])
		if !s.Revision.Modern() {
			s.Responds(fmt.Sprint(1000+s.Asked-n+i), `"result":`+results[i])
		}
	}
	if s.Revision.Modern() {
		s.Retries(`,"inputResponses":` + string(jsonvalue.Marshal(responses)))
	}
}

// bothQuestions are the first requests of the two loops.
func bothQuestions(s *session) (asks []*loopRequest) {
	for i, t := range loop.Loops {
		asks = append(asks, conversing(s, i+1, t.Question, story.GetWeather))
	}
	s.AsksAll(asks[0], asks[1])
	return asks
}

// bothLoops is the story of the two loops. Non-nil functions change what the model receives, and what the client
// returns, for a loop (from 0) in a round (from 1).
func bothLoops(
	prompt func(loop, round int, ask *loopRequest), answer func(loop, round int, right string) string,
) func(*session) {
	return func(s *session) {
		asks := bothQuestions(s)
		for round := 1; ; round++ {
			answers := map[int]string{}
			for i, own := range loop.Loops {
				result := tracetest.Saying(own.End)
				if round < loop.LoopRounds {
					result = useOf(own.Cities[round-1])
				}
				if answer != nil {
					result = answer(i, round, result)
				}
				answers[i+1] = result
				received := *asks[i]
				received.Messages = slices.Clone(asks[i].Messages)
				if prompt != nil {
					prompt(i, round, &received)
				}
				s.Prompts(&received)
			}
			answersEach(s, len(loop.Loops), answers)
			if round == loop.LoopRounds {
				return
			}
			for i := range asks {
				asks[i] = asks[i].After([]byte(answers[i+1]), loop.WeatherReports)
			}
			s.AsksAll(asks[0], asks[1])
		}
	}
}

func TestTwoLoopsDoNotMix(t *testing.T) {
	north, south := loop.Loops[0], loop.Loops[1]
	otherQuestion := func(loop, round int, ask *loopRequest) {
		if loop == 1 && round == 2 {
			ask.Messages[0] = tracetest.Turn{Role: "user", Content: server.Text(north.Question)}
		}
	}
	northReturns := func(inRound int, city string) func(*session) {
		return bothLoops(nil, func(loop, round int, right string) string {
			if loop == 0 && round == inRound {
				return useOf(city)
			}
			return right
		})
	}
	loopJudges(t, "interleaved", "two-loops",
		passes("they do not", bothLoops(nil, nil)),
		passes("one repeats itself", northReturns(2, "Oslo")),
		fails("a question of the other loop",
			bothLoops(otherQuestion, nil), fmt.Sprintf("in the model request, found %q", north.Question)),
		fails("a result of the other loop", northReturns(1, south.Cities[0]), `in the result, found "Naples"`),
		unobserved("a result of neither loop", northReturns(2, "Atlantis"), "no text of either loop"),
		legacy(inapplicable("the second is refused", func(s *session) {
			bothQuestions(s)
			s.Refuses(-32000, "busy")
			s.Asked--
			s.Answers(useOf("Oslo"))
		}, `"busy" (code -32000)`)),
		modern(inapplicable("both are unfulfilled",
			func(s *session) { bothQuestions(s); s.PassesBarrier() }, tracetest.NotFulfilled)),
		unobserved("unknown conversations", func(s *session) {
			s.AsksAll(tracetest.Asking(north.Question), tracetest.Asking(south.Question))
		}, "request 1 does not say its conversation"),
		fails("a result without the model", func(s *session) {
			s.Prompts(bothQuestions(s)[0])
			answersEach(s, 2, map[int]string{1: useOf("Oslo"), 2: useOf("Naples")})
		}, "for sampling request 2, found a result without one"),
		unobserved("one round only", func(s *session) {
			for _, ask := range bothQuestions(s) {
				s.Prompts(ask)
			}
			answersEach(s, 2, map[int]string{1: useOf("Oslo"), 2: useOf("Naples")})
		}, "did not send sampling request 3"),
	)
}

// reply is what the model says in a dialect.
func reply(of, text string) string {
	if of == dialect.Native {
		return tracetest.Saying(text)
	}
	said := story.Object{"message": story.Object{"role": "assistant", "content": text}, "finish_reason": "stop"}
	return string(story.JSON(story.Object{"choices": []any{said}}))
}

// lockers are all questions in flight, which the model receives in reverse order, and the client's texts; no response
// for "".
func lockers(answer func(n int) string) func(*session) {
	return func(s *session) {
		var asks []any
		for n := range loop.AtOnce {
			asks = append(asks, conversing(s, n+1, loop.LockerQuestion(n+1)))
		}
		s.AsksAll(asks...)
		for i, ask := range slices.Backward(asks) {
			s.Prompts(ask.(*loopRequest)).Says(reply(s.Dialect, loop.LockerAnswer(i+1)))
		}
		answers := map[int]string{}
		for n := 1; n <= loop.AtOnce; n++ {
			if text := answer(n); text != "" {
				answers[n] = tracetest.Saying(text)
			}
		}
		if len(answers) > 0 {
			answersEach(s, loop.AtOnce, answers)
		}
	}
}

// byItself is a client that returns a text for each question and asks the model only some of them.
func byItself(answer func(n int) string, asked ...int) func(*session) {
	return func(s *session) {
		var asks []any
		for n := range loop.AtOnce {
			asks = append(asks, conversing(s, n+1, loop.LockerQuestion(n+1)))
		}
		s.AsksAll(asks...)
		for _, n := range asked {
			s.Prompts(asks[n-1].(*loopRequest)).Says(reply(s.Dialect, loop.LockerAnswer(n)))
		}
		answers := map[int]string{}
		for n := 1; n <= loop.AtOnce; n++ {
			answers[n] = tracetest.Saying(answer(n))
		}
		answersEach(s, loop.AtOnce, answers)
	}
}

// lockersBut are the lockers with another text for one of them, and what follows.
func lockersBut(odd int, text string, then ...func(*session)) func(*session) {
	return func(s *session) {
		lockers(func(n int) string {
			if n == odd {
				return text
			}
			return loop.LockerAnswer(n)
		})(s)
		for _, step := range then {
			step(s)
		}
	}
}

func TestManyRequestsInFlightGetTheirOwnResults(t *testing.T) {
	none := lockers(func(int) string { return "" })
	twice := lockersBut(0, "", func(s *session) { s.Answers(tracetest.Saying(loop.LockerAnswer(16))) })
	const all = "16 of 16 requests in flight got their own result, 0 an error"
	loopJudges(t, "concurrent", "sixteen-at-once",
		passes("all", lockers(loop.LockerAnswer), all),
		passes("texts around them", lockers(func(n int) string { return "Well. " + loop.LockerAnswer(n) }), all),
		legacy(passes("one error", lockersBut(16, "", func(s *session) { s.Refuses(-32000, "busy") }),
			"15 of 16 requests in flight got their own result, 1 an error")),
		modern(passes("all unfulfilled",
			func(s *session) { none(s); s.PassesBarrier() }, "does not fulfil 16 requests")),
		fails("one of another question",
			lockersBut(3, loop.LockerAnswer(5)), "question 3 of 16 in flight, found the one to question 5"),
		fails("one of no question", lockersBut(3, "Any key."), "question 3 of 16 in flight, found another text"),
		legacy(fails("one is missing", lockersBut(7, ""), "1 are missing, first that to request 7: no result and no error")),
		modern(fails("one is missing",
			lockersBut(7, ""), "1 are missing, first that to request 7: the retry has other keys")),
		legacy(fails("the client dies",
			lockersBut(7, "", func(s *session) { s.Ends(trace.Process{Panic: "concurrent map writes"}) }),
			"it panicked: concurrent map writes")),
		legacy(fails("one twice", twice, "found 2 to one")),
		modern(passes("one twice, which another check judges", twice, all)),
		modern(unobserved("a response may still come", none, "no response to request 1")),
		passes("all by the client itself", byItself(loop.LockerAnswer), all),
		fails("one by the client itself for another question", byItself(func(n int) string {
			if n == 3 {
				return loop.LockerAnswer(5)
			}
			return loop.LockerAnswer(n)
		}, 5), "question 3 of 16 in flight, found the one to question 5"),
		unobserved("one question only", func(s *session) {
			ask := conversing(s, 1, loop.LockerQuestion(1))
			s.Asks(ask).Prompts(ask).Answers(tracetest.Saying(loop.LockerAnswer(1)))
		}, "did not send sampling request 2"),
		unobserved("unknown conversations", func(s *session) {
			s.AsksAll(slices.Repeat([]any{tracetest.Asking("What opens it?")}, loop.AtOnce)...)
		}, "request 1 does not say its conversation"),
		legacy(unobserved("the model has no answer", func(s *session) {
			none(s)
			s.Prompt(string(jsonvalue.Marshal(conversing(s, 1, loop.LockerQuestion(1)))), trace.ModelEnd{})
			for i := range s.Trace.Events {
				if end := s.Trace.Events[i].End; end != nil {
					end.Status, end.Unmatched = 404, "no rule"
				}
			}
		}, "no rule")),
		legacy(unobserved("an unreadable result",
			lockersBut(1, "", func(s *session) { s.Responds("1001", `"result":{"role":"assistant"}`) }),
			tracetest.NoContent)),
	)
}

// A model request names its conversation, so that it belongs to the right one of many requests in flight.
func TestModelRequestsBelongToTheirOwnRounds(t *testing.T) {
	retried := func(s *session) {
		var asks []any
		for n := range loop.AtOnce {
			asks = append(asks, conversing(s, n+1, loop.LockerQuestion(n+1)))
		}
		s.AsksAll(asks...)
		answers := map[int]string{}
		for i, ask := range slices.Backward(asks) {
			s.Prompt(string(jsonvalue.Marshal(ask)), trace.ModelEnd{Status: 500})
			answers[i+1] = tracetest.Saying(loop.LockerAnswer(i + 1))
		}
		for _, ask := range asks {
			s.Prompts(ask.(*loopRequest))
		}
		answersEach(s, loop.AtOnce, answers)
	}
	for _, revision := range tracetest.BothEras {
		for name, steps := range map[string]func(*session){
			"in reverse order": lockers(loop.LockerAnswer), "after a failed first try": retried,
			"one without a response": lockersBut(9, ""),
		} {
			s := tracetest.Begin(t, loopCatalogue, revision, dialect.Native, "loop/sixteen-at-once")
			steps(s)
			for _, r := range evidence.Decode(s.Trace).Case("loop/sixteen-at-once").Rounds {
				require.NotEmpty(t, r.Model, "%s, %s: round %d", revision, name, r.N)
				for _, x := range r.Model {
					own := fmt.Sprintf("n%d)", loop.ConversationOf(r, s.Trace.Header.Cases[0].Mark))
					require.True(t, x.Says(own), "%s, %s: round %d has a request of another", revision, name, r.N)
				}
			}
		}
	}
}

func TestTheModelReceivesNothingOfEarlierRequests(t *testing.T) {
	two := func(prompt func(*session, *loopRequest)) func(*session) {
		return func(s *session) {
			ask := conversing(s, 1, loop.Umbrella.Question, story.GetWeather)
			lap(s, lap(s, ask, useOf("Reykjavik")), tracetest.Saying(loop.Umbrella.End))
			colour := conversing(s, 2, "Name a colour.")
			prompt(s.Asks(colour), colour)
			s.Answers(tracetest.Saying("Teal."))
		}
	}
	preceded := func(text string) func(*session) {
		return two(func(s *session, colour *loopRequest) {
			received := *colour
			received.Messages = append(history{{Role: "user", Content: server.Text(text)}}, colour.Messages...)
			s.Prompts(&received)
		})
	}
	mark := loop.ConversationName((&harness.Case{ID: "loop/two-questions"}).Mark(), 1)
	require.Equal(t, report.Advice, loop.Stateless.Levels[server.V20251125])
	require.Equal(t, report.Should, loop.Stateless.Levels[server.V20260728])
	loopJudges(t, "stateless", "two-questions",
		passes("it does not", two(func(s *session, colour *loopRequest) { s.Prompts(colour) })),
		passes("the client's own text", preceded("You speak for a server of mine.")),
		warns("a question", preceded("Before this: "+loop.Umbrella.Question), loop.Umbrella.Question),
		warns("a tool result", preceded("You know of sleet and gusts."), `"sleet and gusts"`),
		warns("the model's text", preceded(loop.Umbrella.End), loop.Umbrella.End),
		warns("a system prompt", preceded("(conversation "+mark+")"), "conversation "+mark+" of loop/two-questions"),
		unobserved("no model request",
			two(func(*session, *loopRequest) {}), "received no request for sampling request 3"),
	)
}
