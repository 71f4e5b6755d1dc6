package conformance

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// decides is a client that says that its person decides as the run wants it.
func (s *story) decides() *story {
	s.add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: harness.Decisions}})
	return s
}

// passesQuietBarrier is the call of the barrier where the person declines, in which nothing is asked.
func (s *story) passesQuietBarrier() *story {
	before, call := s.caseID, s.call
	s.caseID, s.call = harness.BarrierID, 0
	s.trace.Header.Cases = append(s.trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
	s.calls()
	s.marks(trace.MarkHandlerEnded, "")
	s.caseID, s.call = before, call
	return s
}

// retries is the client's call again, with input responses as they are written.
func (s *story) retries(responses string) *story {
	s.frame(s.caseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{`+s.meta()+`"name":"x","requestState":"s"`+responses+`}}`)
	return s
}

const (
	nobodyKnown  = `it is not known whether anybody was asked: it takes a client whose person decides as it is told to (decision in MCP_CONFORMANCE_CONTEXT, Env.Decision), and that says so ({"mcp-conform":"supports","feature":"decisions"}, Env.Announce)`
	notSettled   = "no answer came, and it is not settled that none would have: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: no later sample was answered, so that it may only not have come yet"
	errorIsDue   = "the client neither refused nor answered what the person had declined: an error is due"
	neither      = "the client neither refused nor answered what the person had declined (see consent/declined)"
	givenAllSame = "the person declined, and the server was given an answer all the same"
)

func TestWhatThePersonDeclines(t *testing.T) {
	river := asking("Which river flows through Vienna?")
	const code, call, madeUp, mrtr = "consent/declined-code", "consent/no-model-call", "consent/no-made-up-answer", "consent/declined-mrtr"
	refused := func(code int) func(*story) {
		return func(s *story) { s.decides().asks(river).refuses(code, "no").passesQuietBarrier() }
	}
	silent := func(s *story) { s.decides().asks(river).passesQuietBarrier() }
	overruled := func(s *story) {
		s.decides().asks(river).prompts(river).answers(saying("The Danube.")).passesQuietBarrier()
	}
	invented := func(s *story) { s.decides().asks(river).answers(saying("The user declined.")).passesQuietBarrier() }
	unasked := func(s *story) { s.asks(river).prompts(river).answers(saying("The Danube.")).passesQuietBarrier() }
	withError := func(s *story) {
		s.decides().asks(river).answers(`{"error":{"code":-1,"message":"declined"}}`).passesQuietBarrier()
	}
	withNone := func(none string) func(*story) {
		return func(s *story) { s.decides().asks(river).answers(none).passesQuietBarrier() }
	}
	hold(t, catalogue, []telling{
		{name: "is refused", check: "consent/declined", caseID: "request", tell: refused(-1), in: inA, verdict: report.Pass, message: "the client refused what the person had declined, with the code -1"},
		{name: "is refused in other words", check: "consent/declined", caseID: "request", tell: refused(-32603), in: inA, verdict: report.Pass, message: "the client refused what the person had declined, with the code -32603"},
		{name: "is not heard of again", check: "consent/declined", caseID: "request", tell: silent, in: inB, verdict: report.Pass, message: "the client refused what the person had declined: its call was not sent again"},
		{name: "is left unanswered", check: "consent/declined", caseID: "request", tell: silent, in: inA, verdict: report.Warn, message: errorIsDue},
		{name: "is answered", check: "consent/declined", caseID: "request", tell: overruled, verdict: report.Warn, message: givenAllSame},
		{name: "is answered by an adapter that asks nobody", check: "consent/declined", caseID: "request", tell: unasked, verdict: report.Unsupported, message: nobodyKnown},
		{name: "is refused by one that does not say whether it asks", check: "consent/declined", caseID: "request", in: inA,
			tell:    func(s *story) { s.asks(river).refuses(-32603, "no").passesQuietBarrier() },
			verdict: report.Unsupported, message: nobodyKnown},
		{name: "is refused by one that does not say so, in the person's name", check: "consent/declined", caseID: "request", in: inA,
			tell:    func(s *story) { s.asks(river).refuses(-1, "no").passesQuietBarrier() },
			verdict: report.Pass, message: "the client refused what the person had declined, with the code -1"},
		{name: "is not heard of again, and nothing came later", check: "consent/declined", caseID: "request", in: inB,
			tell: func(s *story) { s.decides().asks(river) }, verdict: report.Unsupported, message: notSettled},
		{name: "has an error for an answer", check: "consent/declined", caseID: "request", tell: withError, in: inB, verdict: report.Pass,
			message: "the client refused what the person had declined, with an error in the place of an answer"},

		{name: "has its code", check: code, caseID: "request", tell: refused(-1), in: inA, verdict: report.Pass, message: "the error has the code -1"},
		{name: "has another code", check: code, caseID: "request", tell: refused(-32603), in: inA, verdict: report.Warn,
			message: "the person declined, and the error has the code -32603: want -1"},
		{name: "has no error", check: code, caseID: "request", tell: overruled, in: inA, verdict: report.NotApplicable,
			message: "the client gave no error when the person had declined (see consent/declined)"},

		{name: "costs no model call", check: call, caseID: "request", tell: refused(-1), verdict: report.Pass, message: "the model was not asked"},
		{name: "costs one", check: call, caseID: "request", verdict: report.Fail, message: "the model was asked what the person had declined",
			tell: func(s *story) { s.decides().asks(river).prompts(river).refuses(-1, "no").passesQuietBarrier() }},
		{name: "costs one that failed", check: call, caseID: "request", verdict: report.Fail, message: "the model was asked what the person had declined", dialects: native,
			tell: func(s *story) {
				s.decides().asks(river).prompt(string(dialect.Marshal(river)), trace.ModelEnd{Status: 500}).refuses(-1, "no").passesQuietBarrier()
			}},
		{name: "costs one that nobody knows", check: call, caseID: "request", verdict: report.NotObserved, dialects: openAI,
			message: "the model was asked something that has the mark of no conversation, so that it may have been this",
			tell: func(s *story) {
				s.decides().asks(river)
				s.add("", trace.Event{Request: &trace.ModelRequest{Exchange: 99, Dialect: dialect.OpenAIChat, Method: "POST", Path: "/v1/chat/completions", Body: trace.Bytes(`{}`)}})
				s.refuses(-1, "no").passesQuietBarrier()
			}},
		{name: "costs one, of an adapter that asks nobody", check: call, caseID: "request", tell: unasked, verdict: report.Unsupported, message: nobodyKnown},

		{name: "has no answer", check: madeUp, caseID: "request", tell: refused(-1), in: inA, verdict: report.Pass, message: "no answer was made up, with the code -1"},
		{name: "has no answer", check: madeUp, caseID: "request", tell: silent, in: inB, verdict: report.Pass, message: "no answer was made up: its call was not sent again"},
		{name: "has nothing at all", check: madeUp, caseID: "request", tell: silent, in: inA, verdict: report.NotApplicable, message: neither},
		{name: "has the model's answer", check: madeUp, caseID: "request", tell: overruled, verdict: report.Pass, message: "the answer is the model's"},
		{name: "has an answer of the client's own", check: madeUp, caseID: "request", tell: invented, verdict: report.Fail,
			message: "the person declined, nobody asked the model, and the server was given an answer as if it were the model's"},
		{name: "has an error for an answer", check: madeUp, caseID: "request", tell: withError, in: inB, verdict: report.Warn,
			message: "the retry has an error where an answer belongs: an input response is a result, and a refusal has none"},

		{name: "has an error for a result", check: "consent/declined", caseID: "request", tell: withError, in: inA, verdict: report.Warn,
			message: "the person declined, and the server was given a result that holds no answer: an error is due"},
		{name: "has an error for a result", check: madeUp, caseID: "request", tell: withError, in: inA, verdict: report.Warn,
			message: "the client gave a result that holds no answer, where an error is due"},
		{name: "has the action of an elicitation", check: "consent/declined", caseID: "request", tell: withNone(`{"action":"decline"}`), in: inB, verdict: report.Pass,
			message: "the client refused what the person had declined, with what is no answer in the place of an answer"},
		{name: "has the action of an elicitation", check: madeUp, caseID: "request", tell: withNone(`{"action":"decline"}`), in: inB, verdict: report.Warn,
			message: "the retry has what is no answer where an answer belongs: an input response is a result, and a refusal has none"},
		{name: "has null for an answer", check: madeUp, caseID: "request", tell: withNone("null"), in: inB, verdict: report.Warn,
			message: "the retry has what is no answer where an answer belongs: an input response is a result, and a refusal has none"},
		{name: "is sent again with null", check: mrtr, caseID: "request", tell: withNone("null"), in: inB, verdict: report.Fail,
			message: "the call was sent again without what it was asked for"},
		{name: "has a code in quotes", check: code, caseID: "request", in: inA, verdict: report.Warn, message: `the person declined, and the error has the code "-1": want -1`,
			tell: func(s *story) {
				s.decides().asks(river).responds(s.id(), `"error":{"code":"-1","message":"no"}`)
				s.passesQuietBarrier()
			}},

		{name: "is not sent again", check: mrtr, caseID: "request", tell: silent, in: inB, verdict: report.Pass, message: "the person declined: its call was not sent again"},
		{name: "is sent again with an answer", check: mrtr, caseID: "request", tell: overruled, in: inB, verdict: report.Pass, message: "the retry has what it was asked for"},
		{name: "is sent again without one", check: mrtr, caseID: "request", in: inB, verdict: report.Fail, message: "the call was sent again without what it was asked for",
			tell: func(s *story) { s.decides().asks(river).retries(`,"inputResponses":{}`).passesQuietBarrier() }},
		{name: "is sent again with its state alone", check: mrtr, caseID: "request", in: inB, verdict: report.Fail, message: "the call was sent again without what it was asked for",
			tell: func(s *story) { s.asks(river).retries("").passesQuietBarrier() }},
		{name: "is sent again with another's", check: mrtr, caseID: "request", in: inB, verdict: report.Fail, message: "the call was sent again without what it was asked for",
			tell: func(s *story) { s.decides().asks(river).retries(`,"inputResponses":{"y":{}}`).passesQuietBarrier() }},
		{name: "is asked for in two calls, and answered in both", check: mrtr, caseID: "request", in: inB, verdict: report.Pass, message: "the retry has what it was asked for",
			tell: func(s *story) {
				overruled(s)
				s.calls().asks(river).prompts(river).answers(saying("The Danube."))
			}},
		{name: "is called anew", check: mrtr, caseID: "request", in: inB, verdict: report.Pass, message: "the person declined: its call was not sent again",
			tell: func(s *story) { s.decides().asks(river).calls(); s.call = 1; s.passesQuietBarrier() }},

		{name: "and life goes on", check: "consent/alive", caseID: "request", tell: refused(-1), verdict: report.Pass, message: "the client went on"},
		{name: "and the client dies", check: "consent/alive", caseID: "request", verdict: report.Fail, message: "the client did not go on after the person had declined: it exited with status 1",
			tell: func(s *story) { s.decides().asks(river).refuses(-1, "no").ends(trace.Process{ExitCode: 1}) }},
		{name: "and an adapter that asks nobody dies", check: "consent/alive", caseID: "request", verdict: report.Unsupported, message: nobodyKnown,
			tell: func(s *story) { s.asks(river).ends(trace.Process{ExitCode: 1}) }},
		{name: "and the client hangs", check: "consent/alive", caseID: "request", in: inA, verdict: report.NotApplicable, message: neither,
			tell: func(s *story) { s.decides().asks(river).ends(trace.Process{Deadline: true}) }},
		{name: "and the client leaves in order", check: "consent/alive", caseID: "request", verdict: report.Unsupported, message: notSettled,
			tell: func(s *story) { s.decides().asks(river).refuses(-1, "no") }},
	})
}

func TestWhatThePersonKeepsBack(t *testing.T) {
	const after = "consent/declined-after"
	river := asking("Which river flows through Cairo?")
	shown := func(s *story) *story { return s.decides().asks(river).prompts(river) }
	hold(t, catalogue, []telling{
		{name: "is refused", check: after, caseID: "answer", in: inA, verdict: report.Pass, message: "the answer that the person refused was kept from the server, with the code -1",
			tell: func(s *story) { shown(s).refuses(-1, "the person declined").passesQuietBarrier() }},
		{name: "is not heard of again", check: after, caseID: "answer", in: inB, verdict: report.Pass,
			message: "the answer that the person refused was kept from the server: its call was not sent again", tell: func(s *story) { shown(s).passesQuietBarrier() }},
		{name: "is left unanswered", check: after, caseID: "answer", in: inA, verdict: report.Warn, message: errorIsDue,
			tell: func(s *story) { shown(s).passesQuietBarrier() }},
		{name: "is delivered", check: after, caseID: "answer", verdict: report.Warn, message: "the person refused the model's answer, and the server was told it all the same",
			tell: func(s *story) { shown(s).answers(saying(refusedAnswer)).passesQuietBarrier() }},
		{name: "is told in the error", check: after, caseID: "answer", in: inA, verdict: report.Warn,
			message: "the person refused the model's answer, and the server was told it all the same",
			tell:    func(s *story) { shown(s).refuses(-1, "refused: "+refusedAnswer).passesQuietBarrier() }},
		{name: "is told in the error, in base64", check: after, caseID: "answer", in: inA, verdict: report.Warn,
			message: "the person refused the model's answer, and the server was told it all the same, in base64",
			tell: func(s *story) {
				shown(s).refuses(-1, base64.StdEncoding.EncodeToString([]byte(`{"text":"`+refusedAnswer+`"}`))).passesQuietBarrier()
			}},
		{name: "is told in the error, which was made short", check: after, caseID: "answer", in: inA, verdict: report.Warn,
			message: "the person refused the model's answer, and the server was told how it begins all the same",
			tell:    func(s *story) { shown(s).refuses(-1, "refused: "+refusedAnswer[:16]+"…").passesQuietBarrier() }},
		{name: "is told in the error, but for its beginning", check: after, caseID: "answer", in: inA, verdict: report.Warn,
			message: "the person refused the model's answer, and the server was told how it ends all the same",
			tell:    func(s *story) { shown(s).refuses(-1, "refused: …"+refusedAnswer[16:]).passesQuietBarrier() }},
		{name: "has a result in its place that holds none", check: after, caseID: "answer", in: inA, verdict: report.Warn,
			message: "the person refused the model's answer, and the server was given a result that holds none: an error is due",
			tell:    func(s *story) { shown(s).answers(`{}`).passesQuietBarrier() }},
		{name: "is told in a notification", check: after, caseID: "answer", verdict: report.Warn,
			message: "the person refused the model's answer, and the server was told it all the same",
			tell: func(s *story) {
				shown(s).frame("", trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":%q}}`, refusedAnswer))
				s.refuses(-1, "no").passesQuietBarrier()
			}},
		{name: "has another in its place", check: after, caseID: "answer", verdict: report.Warn, message: "the person refused the model's answer, and the server was given another",
			tell: func(s *story) { shown(s).answers(saying("Nothing to say.")).passesQuietBarrier() }},
		{name: "was never there", check: after, caseID: "answer", in: inA, verdict: report.Unsupported,
			message: "the model gave no answer that the person could have refused: it takes a client that asks the model first, and then the person",
			tell:    func(s *story) { s.decides().asks(river).refuses(-1, "no").passesQuietBarrier() }},
		{name: "is delivered by an adapter that asks nobody", check: after, caseID: "answer", verdict: report.Unsupported, message: nobodyKnown,
			tell: func(s *story) { s.asks(river).prompts(river).answers(saying(refusedAnswer)).passesQuietBarrier() }},
	})
}

func TestWhatBecomesOfABurst(t *testing.T) {
	fruit := asking("Name a fruit.")
	each := func(answer func(s *story, i int)) func(*story) {
		return func(s *story) {
			for i := range burstSize {
				s.asks(fruit)
				answer(s, i)
			}
		}
	}
	all := each(func(s *story, _ int) { s.answers(saying("A pear.")) })
	hold(t, catalogue, []telling{
		{name: "is answered", check: "consent/burst", caseID: "fifty", tell: all, verdict: report.Info, message: "all 50 requests at once were answered"},
		{name: "is refused beyond ten", check: "consent/burst", caseID: "fifty", in: inA, verdict: report.Info,
			message: "of 50 requests at once 10 were answered and 40 refused, with the codes [-32603 -32000]", tell: each(func(s *story, i int) {
				switch {
				case i < 10:
					s.answers(saying("A pear."))
				case i < 20:
					s.refuses(-32000, "too many")
				default:
					s.refuses(-32603, "too many")
				}
			})},
		{name: "is forgotten beyond ten", check: "consent/burst", caseID: "fifty", in: inA, verdict: report.Warn,
			message: "of 50 requests at once 10 were answered, 0 refused, and the others neither: an error is due", tell: each(func(s *story, i int) {
				if i < 10 {
					s.answers(saying("A pear."))
				}
			})},
		{name: "is answered beyond ten in words of the client's", check: "consent/burst", caseID: "fifty", verdict: report.Warn,
			message: "of 50 requests at once 40 were answered without the model, in words that are not its: an error is due", tell: each(func(s *story, i int) {
				if i < 10 {
					s.prompts(fruit).answers(saying("A pear."))
				} else {
					s.answers(saying("Too many requests."))
				}
			})},
		{name: "is answered but for one", check: "consent/declined-mrtr", caseID: "fifty", in: inB, verdict: report.Fail, message: "the call was sent again without what it was asked for",
			tell: func(s *story) {
				s.asks(fruit)
				s.samples = 0
				s.asks(fruit).answers(saying(fruitSaid))
				s.retries(`,"inputResponses":{}`)
			}},
		{name: "is answered whole", check: "consent/declined-mrtr", caseID: "fifty", in: inB, verdict: report.Pass, message: "the retry has all that it was asked for",
			tell: func(s *story) { s.asks(fruit).answers(saying(fruitSaid)) }},
		{name: "is not answered", check: "consent/declined-mrtr", caseID: "fifty", in: inB, verdict: report.NotApplicable, message: "the call was not sent again",
			tell: func(s *story) { s.asks(fruit) }},
		{name: "is refused", check: "consent/burst", caseID: "fifty", verdict: report.NotApplicable, message: "none of 50 requests at once was answered, so that no limit shows",
			tell: each(func(s *story, _ int) { s.refuses(-32603, "no") })},
	})
}
