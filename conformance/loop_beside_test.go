package conformance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// bothLoops is the story of the two loops. What the model is given, and what the client answers, in a round of one of them goes through the
// edits; nil for those of a right client.
func bothLoops(prompt func(loop, round int, ask *server.CreateMessageParams), answer func(loop, round int, right string) string) func(*story) {
	return func(s *story) {
		var asks []*server.CreateMessageParams
		for i, t := range loops {
			asks = append(asks, s.conversing(i+1, t.question, getWeather))
		}
		for round := 1; round <= len(north.cities)+1; round++ {
			s.asksAll(asks[0], asks[1])
			answers := map[int]string{}
			for i := range asks {
				own := loops[i]
				right := saying(own.end)
				if round <= len(own.cities) {
					right = useOf(own.cities[round-1])
				}
				given := *asks[i]
				given.Messages = slices.Clone(asks[i].Messages)
				if prompt != nil {
					prompt(i, round, &given)
				}
				s.prompts(&given)
				if answer != nil {
					right = answer(i, round, right)
				}
				answers[i+1] = right
			}
			s.answersEach(2, answers)
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
			ask.Messages[0] = turn{Role: "user", Content: server.Text(north.question)}
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
	hold(t, catalogue, []telling{
		{name: "at all", check: "loop/interleaved", caseID: "two-loops", tell: bothLoops(nil, nil), verdict: report.Pass,
			message: "each loop had its own answers, and the model its own history of each"},
		{name: "where one of them repeats itself", check: "loop/interleaved", caseID: "two-loops", tell: bothLoops(nil, repeat), verdict: report.Pass,
			message: "each loop had its own answers, and the model its own history of each"},
		{name: "on the way to the model", check: "loop/interleaved", caseID: "two-loops", tell: bothLoops(swapFirst, nil), verdict: report.Fail,
			message: `the model was given "Which harbour in the north is the windier one?" for a request of the other loop`},
		{name: "on the way back", check: "loop/interleaved", caseID: "two-loops", tell: bothLoops(nil, swapAnswer), verdict: report.Fail,
			message: `the answer to one loop's request is of the other loop: it says "Naples"`},
		{name: "with what was never said", check: "loop/interleaved", caseID: "two-loops", tell: bothLoops(nil, elsewhere), verdict: report.NotObserved,
			message: "the answer to one loop's request has words of neither loop, so that it says nothing of both"},
		{name: "where the second is refused", check: "loop/interleaved", caseID: "two-loops", in: inA, verdict: report.NotApplicable,
			message: `the client does not take both loops at once: "busy" (code -32000)`, tell: func(s *story) {
				s.asksAll(s.conversing(1, north.question, getWeather), s.conversing(2, south.question, getWeather))
				s.refuses(-32000, "busy")
				s.asked--
				s.answers(useOf("Oslo"))
			}},
		{name: "where both are left", check: "loop/interleaved", caseID: "two-loops", in: inB, verdict: report.NotApplicable,
			message: "the client does not take both loops at once: it did not fulfil the input request", tell: func(s *story) {
				s.asksAll(s.conversing(1, north.question, getWeather), s.conversing(2, south.question, getWeather)).passesBarrier()
			}},
		{name: "which is not known of those that are not told apart", check: "loop/interleaved", caseID: "two-loops", verdict: report.NotObserved,
			message: "of which loop sampling request 1 is cannot be read", tell: func(s *story) { s.asksAll(asking(north.question), asking(south.question)) }},
		{name: "of which little is seen", check: "loop/interleaved", caseID: "two-loops", verdict: report.NotObserved,
			message: "the play did not get as far as sampling request 3: the answer to request 2 could not be gone on from", tell: func(s *story) {
				s.asksAll(s.conversing(1, north.question, getWeather), s.conversing(2, south.question, getWeather))
				s.answersEach(2, map[int]string{1: useOf("Oslo"), 2: useOf("Naples")})
			}},
	})
}

// sixteen are all the questions at once, asked of the model in another order, and answered as the edit has it: with "" not at all.
func sixteen(answer func(n int) string) func(*story) {
	return func(s *story) {
		var asks []any
		for n := range atOnce {
			asks = append(asks, s.conversing(n+1, lockerQuestion(n+1)))
		}
		s.asksAll(asks...)
		for _, ask := range slices.Backward(asks) {
			s.prompts(ask.(*server.CreateMessageParams))
		}
		answers := map[int]string{}
		for n := 1; n <= atOnce; n++ {
			if text := answer(n); text != "" {
				answers[n] = saying(text)
			}
		}
		if len(answers) > 0 {
			s.answersEach(atOnce, answers)
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
	hold(t, catalogue, []telling{
		{name: "are each answered", check: check, caseID: "sixteen-at-once", tell: all, verdict: report.Pass,
			message: "of 16 requests in flight 16 were answered, each with its own content, and 0 refused"},
		{name: "are each answered in the client's own words", check: check, caseID: "sixteen-at-once", tell: sixteen(func(n int) string { return "Well. " + lockerAnswer(n) }),
			verdict: report.Pass, message: "of 16 requests in flight 16 were answered, each with its own content, and 0 refused"},
		{name: "are answered, or refused", check: check, caseID: "sixteen-at-once", in: inA, verdict: report.Pass, message: "of 16 requests in flight 15 were answered, each with its own content, and 1 refused",
			tell: func(s *story) { sixteen(but(16, ""))(s); s.refuses(-32000, "busy") }},
		{name: "are too many, and so left", check: check, caseID: "sixteen-at-once", in: inB, verdict: report.Pass, message: "the client does not fulfil 16 requests at once, and goes on",
			tell: func(s *story) { none(s); s.passesBarrier() }},
		{name: "are answered crosswise", check: check, caseID: "sixteen-at-once", tell: sixteen(but(3, lockerAnswer(5))), verdict: report.Fail,
			message: "of 16 requests in flight the answer to one, question 3, is what the model said to another, question 5"},
		{name: "are answered with something", check: check, caseID: "sixteen-at-once", tell: sixteen(but(3, "Any key.")), verdict: report.Fail,
			message: "of 16 requests in flight the answer to one, question 3, is not what the model said to it"},
		{name: "are answered but for one", check: check, caseID: "sixteen-at-once", in: inA, tell: sixteen(but(7, "")), verdict: report.Fail,
			message: "of 16 requests in flight nothing came back for 1, the first of them number 7: it is neither answered nor refused"},
		{name: "are answered but for one", check: check, caseID: "sixteen-at-once", in: inB, tell: sixteen(but(7, "")), verdict: report.Fail,
			message: "of 16 requests in flight nothing came back for 1, the first of them number 7: the retry has others of the keys, and not its own"},
		{name: "are answered until the client dies", check: check, caseID: "sixteen-at-once", in: inA, verdict: report.Fail,
			message: "of 16 requests in flight nothing came back for 1, the first of them number 7: it is neither answered nor refused; it panicked: concurrent map writes",
			tell:    func(s *story) { sixteen(but(7, ""))(s); s.ends(trace.Process{Panic: "concurrent map writes"}) }},
		{name: "are answered, one of them twice", check: check, caseID: "sixteen-at-once", in: inA, verdict: report.Fail, message: "one of 16 requests in flight was answered 2 times",
			tell: func(s *story) { all(s); s.answers(saying(lockerAnswer(16))) }},
		{name: "are answered in two retries, of which another check speaks", check: check, caseID: "sixteen-at-once", in: inB, verdict: report.Pass,
			message: "of 16 requests in flight 16 were answered, each with its own content, and 0 refused", tell: func(s *story) { all(s); s.answers(saying(lockerAnswer(16))) }},
		{name: "are left, which is not settled", check: check, caseID: "sixteen-at-once", in: inB, tell: none, verdict: report.NotObserved,
			message: "the client answers nothing at all: no answer came for request 1"},
		{name: "are not all asked", check: check, caseID: "sixteen-at-once", verdict: report.NotObserved, message: "the play did not get as far as sampling request 16",
			tell: func(s *story) { s.asks(s.conversing(1, lockerQuestion(1))).answers(saying(lockerAnswer(1))) }},
		{name: "are not told apart", check: check, caseID: "sixteen-at-once", verdict: report.NotObserved, message: "which of the questions sampling request 1 asks cannot be read",
			tell: func(s *story) {
				var asks []any
				for range atOnce {
					asks = append(asks, asking("What opens it?"))
				}
				s.asksAll(asks...)
			}},
		{name: "are more than the model has answers for", check: check, caseID: "sixteen-at-once", in: inA, verdict: report.NotObserved,
			message: "the model had no answer for one of the requests: no rule", tell: func(s *story) {
				none(s)
				s.prompt(string(dialect.Marshal(asChat(s.conversing(1, lockerQuestion(1))))), trace.ModelEnd{Status: 404, Miss: "no rule"})
				for i := range s.trace.Events {
					if end := s.trace.Events[i].End; end != nil {
						end.Status, end.Miss = 404, "no rule"
					}
				}
			}},
		{name: "cannot be read when they come back", check: check, caseID: "sixteen-at-once", in: inA, verdict: report.NotObserved, message: "the answer's content cannot be read (see basic/has-content)",
			tell: func(s *story) { sixteen(but(1, ""))(s); s.responds("1001", `"result":{"role":"assistant"}`) }},
	})
}

// The model's wire says of which conversation a request is, so that it is known which of many in flight it was made for.
func TestModelRequestsOfManyInFlightBelongToTheirOwn(t *testing.T) {
	for _, revision := range bothEras {
		for name, tell := range map[string]func(*story){
			"in another order": sixteen(lockerAnswer),
			"each with a first try that failed": func(s *story) {
				var asks []any
				for n := range atOnce {
					asks = append(asks, s.conversing(n+1, lockerQuestion(n+1)))
				}
				s.asksAll(asks...)
				answers := map[int]string{}
				for i, ask := range slices.Backward(asks) {
					s.prompt(string(dialect.Marshal(ask)), trace.ModelEnd{Status: 500})
					answers[i+1] = saying(lockerAnswer(i + 1))
				}
				for _, ask := range asks {
					s.prompts(ask.(*server.CreateMessageParams))
				}
				s.answersEach(atOnce, answers)
			},
			"and one is refused, which the model was asked for all the same": func(s *story) {
				sixteen(func(n int) string {
					if n == 9 {
						return ""
					}
					return lockerAnswer(n)
				})(s)
			},
		} {
			s := begin(t, catalogue, revision, dialect.Native, "loop/sixteen-at-once")
			tell(s)
			for _, r := range Decode(s.trace).Case("loop/sixteen-at-once").Rounds {
				require.NotEmpty(t, r.Model, "%s, %s: round %d", revision, name, r.N)
				for _, x := range r.Model {
					require.True(t, x.says(fmt.Sprintf("n%d)", r.numberOf(s.trace.Header.Cases[0].Mark))), "%s, %s: round %d has a request that is another's", revision, name, r.N)
				}
			}
		}
	}
}
