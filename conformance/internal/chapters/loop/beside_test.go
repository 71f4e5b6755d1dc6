package loop

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// bothLoops is the story of the two loops. What the model is given, and what the client answers, in a round of one of them goes through the
// edits; nil for those of a right client.
func bothLoops(prompt func(loop, round int, ask *server.CreateMessageParams), answer func(loop, round int, right string) string) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		var asks []*server.CreateMessageParams
		for i, t := range loops {
			asks = append(asks, conversing(s, i+1, t.question, story.GetWeather))
		}
		for round := 1; round <= len(north.cities)+1; round++ {
			s.AsksAll(asks[0], asks[1])
			answers := map[int]string{}
			for i := range asks {
				own := loops[i]
				right := tracetest.Saying(own.end)
				if round <= len(own.cities) {
					right = useOf(own.cities[round-1])
				}
				given := *asks[i]
				given.Messages = slices.Clone(asks[i].Messages)
				if prompt != nil {
					prompt(i, round, &given)
				}
				s.Prompts(&given)
				if answer != nil {
					right = answer(i, round, right)
				}
				answers[i+1] = right
			}
			answersEach(s, 2, answers)
			if round <= len(north.cities) {
				for i := range asks {
					asks[i] = asks[i].After([]byte(answers[i+1]), weatherReports)
				}
			}
		}
	}
}

func TestLoopsDoNotMix(t *testing.T) {
	swapFirst := func(loop, round int, ask *server.CreateMessageParams) {
		if loop == 1 && round == 2 {
			ask.Messages[0] = tracetest.Turn{Role: "user", Content: server.Text(north.question)}
		}
	}
	swapAnswer := func(loop, round int, right string) string {
		if loop == 0 && round == 1 {
			return useOf(south.cities[0])
		}
		return right
	}
	repeat := func(loop, round int, right string) string {
		if loop == 0 && round == 2 {
			return useOf(north.cities[0])
		}
		return right
	}
	elsewhere := func(loop, round int, right string) string {
		if loop == 0 && round == 2 {
			return useOf("Atlantis")
		}
		return right
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "at all", Check: "loop/interleaved", CaseID: "two-loops", Steps: bothLoops(nil, nil), Verdict: report.Pass,
			Message: "each loop had its own answers, and the model its own history of each"},
		{Name: "where one of them repeats itself", Check: "loop/interleaved", CaseID: "two-loops", Steps: bothLoops(nil, repeat), Verdict: report.Pass,
			Message: "each loop had its own answers, and the model its own history of each"},
		{Name: "on the way to the model", Check: "loop/interleaved", CaseID: "two-loops", Steps: bothLoops(swapFirst, nil), Verdict: report.Fail,
			Message: `the model was given "Which harbour in the north is the windier one?" for a request of the other loop`},
		{Name: "on the way back", Check: "loop/interleaved", CaseID: "two-loops", Steps: bothLoops(nil, swapAnswer), Verdict: report.Fail,
			Message: `the answer to one loop's request is of the other loop: it says "Naples"`},
		{Name: "with what was never said", Check: "loop/interleaved", CaseID: "two-loops", Steps: bothLoops(nil, elsewhere), Verdict: report.NotObserved,
			Message: "the answer to one loop's request has words of neither loop, so that it says nothing of both"},
		{Name: "where the second is refused", Check: "loop/interleaved", CaseID: "two-loops", In: tracetest.InA, Verdict: report.NotApplicable,
			Message: `the client does not take both loops at once: "busy" (code -32000)`, Steps: func(s *tracetest.Story) {
				s.AsksAll(conversing(s, 1, north.question, story.GetWeather), conversing(s, 2, south.question, story.GetWeather))
				s.Refuses(-32000, "busy")
				s.Asked--
				s.Answers(useOf("Oslo"))
			}},
		{Name: "where both are left", Check: "loop/interleaved", CaseID: "two-loops", In: tracetest.InB, Verdict: report.NotApplicable,
			Message: "the client does not take both loops at once: it did not fulfil the input request", Steps: func(s *tracetest.Story) {
				s.AsksAll(conversing(s, 1, north.question, story.GetWeather), conversing(s, 2, south.question, story.GetWeather)).PassesBarrier()
			}},
		{Name: "which is not known of those that are not told apart", Check: "loop/interleaved", CaseID: "two-loops", Verdict: report.NotObserved,
			Message: "of which loop sampling request 1 is cannot be read", Steps: func(s *tracetest.Story) {
				s.AsksAll(tracetest.Asking(north.question), tracetest.Asking(south.question))
			}},
		{Name: "of which little is seen", Check: "loop/interleaved", CaseID: "two-loops", Verdict: report.NotObserved,
			Message: "the server did not send sampling request 3: the handler could not continue from the response to request 2", Steps: func(s *tracetest.Story) {
				s.AsksAll(conversing(s, 1, north.question, story.GetWeather), conversing(s, 2, south.question, story.GetWeather))
				answersEach(s, 2, map[int]string{1: useOf("Oslo"), 2: useOf("Naples")})
			}},
	})
}

// sixteen are all the questions at once, asked of the model in another order, and answered as the edit has it: with "" not at all.
func sixteen(answer func(n int) string) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		var asks []any
		for n := range atOnce {
			asks = append(asks, conversing(s, n+1, lockerQuestion(n+1)))
		}
		s.AsksAll(asks...)
		for _, ask := range slices.Backward(asks) {
			s.Prompts(ask.(*server.CreateMessageParams))
		}
		answers := map[int]string{}
		for n := 1; n <= atOnce; n++ {
			if text := answer(n); text != "" {
				answers[n] = tracetest.Saying(text)
			}
		}
		if len(answers) > 0 {
			answersEach(s, atOnce, answers)
		}
	}
}

func TestManyRequestsInFlight(t *testing.T) {
	but := func(odd int, text string) func(int) string {
		return func(n int) string {
			if n == odd {
				return text
			}
			return lockerAnswer(n)
		}
	}
	all := sixteen(lockerAnswer)
	none := sixteen(func(int) string { return "" })
	const check = "loop/concurrent"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "are each answered", Check: check, CaseID: "sixteen-at-once", Steps: all, Verdict: report.Pass,
			Message: "of 16 requests in flight 16 were answered, each with its own content, and 0 refused"},
		{Name: "are each answered in the client's own words", Check: check, CaseID: "sixteen-at-once", Steps: sixteen(func(n int) string { return "Well. " + lockerAnswer(n) }),
			Verdict: report.Pass, Message: "of 16 requests in flight 16 were answered, each with its own content, and 0 refused"},
		{Name: "are answered, or refused", Check: check, CaseID: "sixteen-at-once", In: tracetest.InA, Verdict: report.Pass, Message: "of 16 requests in flight 15 were answered, each with its own content, and 1 refused",
			Steps: func(s *tracetest.Story) { sixteen(but(16, ""))(s); s.Refuses(-32000, "busy") }},
		{Name: "are too many, and so left", Check: check, CaseID: "sixteen-at-once", In: tracetest.InB, Verdict: report.Pass, Message: "the client does not fulfil 16 requests at once, and goes on",
			Steps: func(s *tracetest.Story) { none(s); s.PassesBarrier() }},
		{Name: "are answered crosswise", Check: check, CaseID: "sixteen-at-once", Steps: sixteen(but(3, lockerAnswer(5))), Verdict: report.Fail,
			Message: "of 16 requests in flight the answer to one, question 3, is what the model said to another, question 5"},
		{Name: "are answered with something", Check: check, CaseID: "sixteen-at-once", Steps: sixteen(but(3, "Any key.")), Verdict: report.Fail,
			Message: "of 16 requests in flight the answer to one, question 3, is not what the model said to it"},
		{Name: "are answered but for one", Check: check, CaseID: "sixteen-at-once", In: tracetest.InA, Steps: sixteen(but(7, "")), Verdict: report.Fail,
			Message: "of 16 requests in flight nothing came back for 1, the first of them number 7: it is neither answered nor refused"},
		{Name: "are answered but for one", Check: check, CaseID: "sixteen-at-once", In: tracetest.InB, Steps: sixteen(but(7, "")), Verdict: report.Fail,
			Message: "of 16 requests in flight nothing came back for 1, the first of them number 7: the retry has others of the keys, and not its own"},
		{Name: "are answered until the client dies", Check: check, CaseID: "sixteen-at-once", In: tracetest.InA, Verdict: report.Fail,
			Message: "of 16 requests in flight nothing came back for 1, the first of them number 7: it is neither answered nor refused; it panicked: concurrent map writes",
			Steps: func(s *tracetest.Story) {
				sixteen(but(7, ""))(s)
				s.Ends(trace.Process{Panic: "concurrent map writes"})
			}},
		{Name: "are answered, one of them twice", Check: check, CaseID: "sixteen-at-once", In: tracetest.InA, Verdict: report.Fail, Message: "one of 16 requests in flight was answered 2 times",
			Steps: func(s *tracetest.Story) { all(s); s.Answers(tracetest.Saying(lockerAnswer(16))) }},
		{Name: "are answered in two retries, of which another check speaks", Check: check, CaseID: "sixteen-at-once", In: tracetest.InB, Verdict: report.Pass,
			Message: "of 16 requests in flight 16 were answered, each with its own content, and 0 refused", Steps: func(s *tracetest.Story) { all(s); s.Answers(tracetest.Saying(lockerAnswer(16))) }},
		{Name: "are left, which is not settled", Check: check, CaseID: "sixteen-at-once", In: tracetest.InB, Steps: none, Verdict: report.NotObserved,
			Message: "the client answers nothing at all: no response to request 1"},
		{Name: "are not all asked", Check: check, CaseID: "sixteen-at-once", Verdict: report.NotObserved, Message: "the server did not send sampling request 16",
			Steps: func(s *tracetest.Story) {
				s.Asks(conversing(s, 1, lockerQuestion(1))).Answers(tracetest.Saying(lockerAnswer(1)))
			}},
		{Name: "are not told apart", Check: check, CaseID: "sixteen-at-once", Verdict: report.NotObserved, Message: "which of the questions sampling request 1 asks cannot be read",
			Steps: func(s *tracetest.Story) {
				var asks []any
				for range atOnce {
					asks = append(asks, tracetest.Asking("What opens it?"))
				}
				s.AsksAll(asks...)
			}},
		{Name: "are more than the model has answers for", Check: check, CaseID: "sixteen-at-once", In: tracetest.InA, Verdict: report.NotObserved,
			Message: "the model had no answer for one of the requests: no rule", Steps: func(s *tracetest.Story) {
				none(s)
				s.Prompt(string(dialect.Marshal(tracetest.AsChat(conversing(s, 1, lockerQuestion(1))))), trace.ModelEnd{Status: 404, Miss: "no rule"})
				for i := range s.Trace.Events {
					if end := s.Trace.Events[i].End; end != nil {
						end.Status, end.Miss = 404, "no rule"
					}
				}
			}},
		{Name: "cannot be read when they come back", Check: check, CaseID: "sixteen-at-once", In: tracetest.InA, Verdict: report.NotObserved, Message: "the content of the result cannot be decoded (see basic/has-content)",
			Steps: func(s *tracetest.Story) { sixteen(but(1, ""))(s); s.Responds("1001", `"result":{"role":"assistant"}`) }},
	})
}

// The model's wire says of which conversation a request is, so that it is known which of many in flight it was made for.
func TestModelRequestsOfManyInFlightBelongToTheirOwn(t *testing.T) {
	for _, revision := range tracetest.BothEras {
		for name, tell := range map[string]func(*tracetest.Story){
			"in another order": sixteen(lockerAnswer),
			"each with a first try that failed": func(s *tracetest.Story) {
				var asks []any
				for n := range atOnce {
					asks = append(asks, conversing(s, n+1, lockerQuestion(n+1)))
				}
				s.AsksAll(asks...)
				answers := map[int]string{}
				for i, ask := range slices.Backward(asks) {
					s.Prompt(string(dialect.Marshal(ask)), trace.ModelEnd{Status: 500})
					answers[i+1] = tracetest.Saying(lockerAnswer(i + 1))
				}
				for _, ask := range asks {
					s.Prompts(ask.(*server.CreateMessageParams))
				}
				answersEach(s, atOnce, answers)
			},
			"and one is refused, which the model was asked for all the same": func(s *tracetest.Story) {
				sixteen(func(n int) string {
					if n == 9 {
						return ""
					}
					return lockerAnswer(n)
				})(s)
			},
		} {
			s := tracetest.Begin(t, catalogue, revision, dialect.Native, "loop/sixteen-at-once")
			tell(s)
			for _, r := range evidence.Decode(s.Trace).Case("loop/sixteen-at-once").Rounds {
				require.NotEmpty(t, r.Model, "%s, %s: round %d", revision, name, r.N)
				for _, x := range r.Model {
					require.True(t, x.Says(fmt.Sprintf("n%d)", numberOf(r, s.Trace.Header.Cases[0].Mark))), "%s, %s: round %d has a request that is another's", revision, name, r.N)
				}
			}
		}
	}
}
