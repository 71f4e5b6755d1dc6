package consent

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// decides is a client that says that its person decides as the run wants it.
func decides(s *tracetest.Story) *tracetest.Story {
	s.Add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: harness.Decisions}})
	return s
}

// passesQuietBarrier is the call of the barrier where the person declines, in which nothing is asked.
func passesQuietBarrier(s *tracetest.Story) *tracetest.Story {
	before, call := s.CaseID, s.Call
	s.CaseID, s.Call = harness.BarrierID, 0
	s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
	s.Calls()
	s.Marks(trace.MarkHandlerEnded, "")
	s.CaseID, s.Call = before, call
	return s
}

const (
	nobodyKnown  = `it is not known whether anybody was asked: it takes a client whose person decides as it is told to (decision in MCP_CONFORMANCE_CONTEXT, Env.Decision), and that says so ({"mcp-conform":"supports","feature":"decisions"}, Env.Announce)`
	notSettled   = "no response came, but one could still have come: the client must call the tools in the order of tools/list and answer the last sampling request: no later sampling request was answered, so it could still come"
	errorIsDue   = "the client neither refused nor answered what the person had declined: an error is due"
	neither      = "the client neither refused nor answered what the person had declined (see consent/declined)"
	givenAllSame = "the person declined, and the server was given an answer all the same"
)

func TestWhatThePersonDeclines(t *testing.T) {
	river := tracetest.Asking("Which river flows through Vienna?")
	const code, call, madeUp, mrtr = "consent/declined-code", "consent/no-model-call", "consent/no-made-up-answer", "consent/declined-mrtr"
	refused := func(code int) func(*tracetest.Story) {
		return func(s *tracetest.Story) { passesQuietBarrier(decides(s).Asks(river).Refuses(code, "no")) }
	}
	silent := func(s *tracetest.Story) { passesQuietBarrier(decides(s).Asks(river)) }
	overruled := func(s *tracetest.Story) {
		passesQuietBarrier(decides(s).Asks(river).Prompts(river).Answers(tracetest.Saying("The Danube.")))
	}
	invented := func(s *tracetest.Story) {
		passesQuietBarrier(decides(s).Asks(river).Answers(tracetest.Saying("The user declined.")))
	}
	unasked := func(s *tracetest.Story) {
		passesQuietBarrier(s.Asks(river).Prompts(river).Answers(tracetest.Saying("The Danube.")))
	}
	withError := func(s *tracetest.Story) {
		passesQuietBarrier(decides(s).Asks(river).Answers(`{"error":{"code":-1,"message":"declined"}}`))
	}
	withNone := func(none string) func(*tracetest.Story) {
		return func(s *tracetest.Story) { passesQuietBarrier(decides(s).Asks(river).Answers(none)) }
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "is refused", Check: "consent/declined", CaseID: "request", Steps: refused(-1), In: tracetest.InA, Verdict: report.Pass, Message: "the client refused what the person had declined, with the code -1"},
		{Name: "is refused in other words", Check: "consent/declined", CaseID: "request", Steps: refused(-32603), In: tracetest.InA, Verdict: report.Pass, Message: "the client refused what the person had declined, with the code -32603"},
		{Name: "is not heard of again", Check: "consent/declined", CaseID: "request", Steps: silent, In: tracetest.InB, Verdict: report.Pass, Message: "the client refused what the person had declined: its call was not sent again"},
		{Name: "is left unanswered", Check: "consent/declined", CaseID: "request", Steps: silent, In: tracetest.InA, Verdict: report.Warn, Message: errorIsDue},
		{Name: "is answered", Check: "consent/declined", CaseID: "request", Steps: overruled, Verdict: report.Warn, Message: givenAllSame},
		{Name: "is answered by an adapter that asks nobody", Check: "consent/declined", CaseID: "request", Steps: unasked, Verdict: report.Unsupported, Message: nobodyKnown},
		{Name: "is refused by one that does not say whether it asks", Check: "consent/declined", CaseID: "request", In: tracetest.InA,
			Steps:   func(s *tracetest.Story) { passesQuietBarrier(s.Asks(river).Refuses(-32603, "no")) },
			Verdict: report.Unsupported, Message: nobodyKnown},
		{Name: "is refused by one that does not say so, in the person's name", Check: "consent/declined", CaseID: "request", In: tracetest.InA,
			Steps:   func(s *tracetest.Story) { passesQuietBarrier(s.Asks(river).Refuses(-1, "no")) },
			Verdict: report.Pass, Message: "the client refused what the person had declined, with the code -1"},
		{Name: "is not heard of again, and nothing came later", Check: "consent/declined", CaseID: "request", In: tracetest.InB,
			Steps: func(s *tracetest.Story) { decides(s).Asks(river) }, Verdict: report.Unsupported, Message: notSettled},
		{Name: "has an error for an answer", Check: "consent/declined", CaseID: "request", Steps: withError, In: tracetest.InB, Verdict: report.Pass,
			Message: "the client refused what the person had declined, with an error in the place of an answer"},

		{Name: "has its code", Check: code, CaseID: "request", Steps: refused(-1), In: tracetest.InA, Verdict: report.Pass, Message: "the error has the code -1"},
		{Name: "has another code", Check: code, CaseID: "request", Steps: refused(-32603), In: tracetest.InA, Verdict: report.Warn,
			Message: "the person declined, and the error has the code -32603: want -1"},
		{Name: "has no error", Check: code, CaseID: "request", Steps: overruled, In: tracetest.InA, Verdict: report.NotApplicable,
			Message: "the client gave no error when the person had declined (see consent/declined)"},

		{Name: "costs no model call", Check: call, CaseID: "request", Steps: refused(-1), Verdict: report.Pass, Message: "no call of the model was completed"},
		{Name: "costs one", Check: call, CaseID: "request", Verdict: report.Fail, Message: "the model was asked what the person had declined",
			Steps: func(s *tracetest.Story) { passesQuietBarrier(decides(s).Asks(river).Prompts(river).Refuses(-1, "no")) }},
		{Name: "costs one that failed", Check: call, CaseID: "request", Verdict: report.Fail, Message: "the model was asked what the person had declined", Dialects: tracetest.Native,
			Steps: func(s *tracetest.Story) {
				passesQuietBarrier(decides(s).Asks(river).Prompt(string(dialect.Marshal(river)), trace.ModelEnd{Status: 500}).Refuses(-1, "no"))
			}},
		{Name: "costs one that nobody knows", Check: call, CaseID: "request", Verdict: report.NotObserved, Dialects: tracetest.OpenAI,
			Message: "the model received a request without the mark of any case, which may be for this one",
			Steps: func(s *tracetest.Story) {
				decides(s).Asks(river)
				s.Add("", trace.Event{Request: &trace.ModelRequest{Exchange: 99, Dialect: dialect.OpenAIChat, Method: "POST", Path: "/v1/chat/completions", Body: trace.Bytes(`{}`)}})
				passesQuietBarrier(s.Refuses(-1, "no"))
			}},
		{Name: "costs one, of an adapter that asks nobody", Check: call, CaseID: "request", Steps: unasked, Verdict: report.Unsupported, Message: nobodyKnown},

		{Name: "has no answer", Check: madeUp, CaseID: "request", Steps: refused(-1), In: tracetest.InA, Verdict: report.Pass, Message: "no answer was made up, with the code -1"},
		{Name: "has no answer", Check: madeUp, CaseID: "request", Steps: silent, In: tracetest.InB, Verdict: report.Pass, Message: "no answer was made up: its call was not sent again"},
		{Name: "has nothing at all", Check: madeUp, CaseID: "request", Steps: silent, In: tracetest.InA, Verdict: report.NotApplicable, Message: neither},
		{Name: "has the model's answer", Check: madeUp, CaseID: "request", Steps: overruled, Verdict: report.Pass, Message: "the answer is the model's"},
		{Name: "has an answer of the client's own", Check: madeUp, CaseID: "request", Steps: invented, Verdict: report.Fail,
			Message: "the person declined, nobody asked the model, and the server was given an answer as if it were the model's"},
		{Name: "has an error for an answer", Check: madeUp, CaseID: "request", Steps: withError, In: tracetest.InB, Verdict: report.Warn,
			Message: "the retry has an error where an answer belongs: an input response is a result, and a refusal has none"},

		{Name: "has an error for a result", Check: "consent/declined", CaseID: "request", Steps: withError, In: tracetest.InA, Verdict: report.Warn,
			Message: "the person declined, and the server was given a result that holds no answer: an error is due"},
		{Name: "has an error for a result", Check: madeUp, CaseID: "request", Steps: withError, In: tracetest.InA, Verdict: report.Warn,
			Message: "the client gave a result that holds no answer, where an error is due"},
		{Name: "has the action of an elicitation", Check: "consent/declined", CaseID: "request", Steps: withNone(`{"action":"decline"}`), In: tracetest.InB, Verdict: report.Pass,
			Message: "the client refused what the person had declined, with what is no answer in the place of an answer"},
		{Name: "has the action of an elicitation", Check: madeUp, CaseID: "request", Steps: withNone(`{"action":"decline"}`), In: tracetest.InB, Verdict: report.Warn,
			Message: "the retry has what is no answer where an answer belongs: an input response is a result, and a refusal has none"},
		{Name: "has null for an answer", Check: madeUp, CaseID: "request", Steps: withNone("null"), In: tracetest.InB, Verdict: report.Warn,
			Message: "the retry has what is no answer where an answer belongs: an input response is a result, and a refusal has none"},
		{Name: "is sent again with null", Check: mrtr, CaseID: "request", Steps: withNone("null"), In: tracetest.InB, Verdict: report.Fail,
			Message: "the call was sent again without what it was asked for"},
		{Name: "has a code in quotes", Check: code, CaseID: "request", In: tracetest.InA, Verdict: report.Warn, Message: `the person declined, and the error has the code "-1": want -1`,
			Steps: func(s *tracetest.Story) {
				decides(s).Asks(river).Responds(s.ID(), `"error":{"code":"-1","message":"no"}`)
				passesQuietBarrier(s)
			}},

		{Name: "is not sent again", Check: mrtr, CaseID: "request", Steps: silent, In: tracetest.InB, Verdict: report.Pass, Message: "the person declined: its call was not sent again"},
		{Name: "is sent again with an answer", Check: mrtr, CaseID: "request", Steps: overruled, In: tracetest.InB, Verdict: report.Pass, Message: "the retry has what it was asked for"},
		{Name: "is sent again without one", Check: mrtr, CaseID: "request", In: tracetest.InB, Verdict: report.Fail, Message: "the call was sent again without what it was asked for",
			Steps: func(s *tracetest.Story) { passesQuietBarrier(decides(s).Asks(river).Retries(`,"inputResponses":{}`)) }},
		{Name: "is sent again with its state alone", Check: mrtr, CaseID: "request", In: tracetest.InB, Verdict: report.Fail, Message: "the call was sent again without what it was asked for",
			Steps: func(s *tracetest.Story) { passesQuietBarrier(s.Asks(river).Retries("")) }},
		{Name: "is sent again with another's", Check: mrtr, CaseID: "request", In: tracetest.InB, Verdict: report.Fail, Message: "the call was sent again without what it was asked for",
			Steps: func(s *tracetest.Story) {
				passesQuietBarrier(decides(s).Asks(river).Retries(`,"inputResponses":{"y":{}}`))
			}},
		{Name: "is asked for in two calls, and answered in both", Check: mrtr, CaseID: "request", In: tracetest.InB, Verdict: report.Pass, Message: "the retry has what it was asked for",
			Steps: func(s *tracetest.Story) {
				overruled(s)
				s.Calls().Asks(river).Prompts(river).Answers(tracetest.Saying("The Danube."))
			}},
		{Name: "is called anew", Check: mrtr, CaseID: "request", In: tracetest.InB, Verdict: report.Pass, Message: "the person declined: its call was not sent again",
			Steps: func(s *tracetest.Story) { decides(s).Asks(river).Calls(); s.Call = 1; passesQuietBarrier(s) }},

		{Name: "and life goes on", Check: "consent/alive", CaseID: "request", Steps: refused(-1), Verdict: report.Pass, Message: "the client went on"},
		{Name: "and the client dies", Check: "consent/alive", CaseID: "request", Verdict: report.Fail, Message: "the client did not go on after the person had declined: it exited with status 1",
			Steps: func(s *tracetest.Story) { decides(s).Asks(river).Refuses(-1, "no").Ends(trace.Process{ExitCode: 1}) }},
		{Name: "and an adapter that asks nobody dies", Check: "consent/alive", CaseID: "request", Verdict: report.Unsupported, Message: nobodyKnown,
			Steps: func(s *tracetest.Story) { s.Asks(river).Ends(trace.Process{ExitCode: 1}) }},
		{Name: "and the client hangs", Check: "consent/alive", CaseID: "request", In: tracetest.InA, Verdict: report.NotApplicable, Message: neither,
			Steps: func(s *tracetest.Story) { decides(s).Asks(river).Ends(trace.Process{Deadline: true}) }},
		{Name: "and the client leaves in order", Check: "consent/alive", CaseID: "request", Verdict: report.Unsupported, Message: notSettled,
			Steps: func(s *tracetest.Story) { decides(s).Asks(river).Refuses(-1, "no") }},
	})
}

func TestWhatThePersonKeepsBack(t *testing.T) {
	const after = "consent/declined-after"
	river := tracetest.Asking("Which river flows through Cairo?")
	shown := func(s *tracetest.Story) *tracetest.Story { return decides(s).Asks(river).Prompts(river) }
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "is refused", Check: after, CaseID: "answer", In: tracetest.InA, Verdict: report.Pass, Message: "the answer that the person refused was kept from the server, with the code -1",
			Steps: func(s *tracetest.Story) { passesQuietBarrier(shown(s).Refuses(-1, "the person declined")) }},
		{Name: "is not heard of again", Check: after, CaseID: "answer", In: tracetest.InB, Verdict: report.Pass,
			Message: "the answer that the person refused was kept from the server: its call was not sent again", Steps: func(s *tracetest.Story) { passesQuietBarrier(shown(s)) }},
		{Name: "is left unanswered", Check: after, CaseID: "answer", In: tracetest.InA, Verdict: report.Warn, Message: errorIsDue,
			Steps: func(s *tracetest.Story) { passesQuietBarrier(shown(s)) }},
		{Name: "is delivered", Check: after, CaseID: "answer", Verdict: report.Warn, Message: "the person refused the model's answer, and the server was told it all the same",
			Steps: func(s *tracetest.Story) { passesQuietBarrier(shown(s).Answers(tracetest.Saying(refusedAnswer))) }},
		{Name: "is told in the error", Check: after, CaseID: "answer", In: tracetest.InA, Verdict: report.Warn,
			Message: "the person refused the model's answer, and the server was told it all the same",
			Steps:   func(s *tracetest.Story) { passesQuietBarrier(shown(s).Refuses(-1, "refused: "+refusedAnswer)) }},
		{Name: "is told in the error, in base64", Check: after, CaseID: "answer", In: tracetest.InA, Verdict: report.Warn,
			Message: "the person refused the model's answer, and the server was told it all the same, in base64",
			Steps: func(s *tracetest.Story) {
				passesQuietBarrier(shown(s).Refuses(-1, base64.StdEncoding.EncodeToString([]byte(`{"text":"`+refusedAnswer+`"}`))))
			}},
		{Name: "is told in the error, which was made short", Check: after, CaseID: "answer", In: tracetest.InA, Verdict: report.Warn,
			Message: "the person refused the model's answer, and the server was told how it begins all the same",
			Steps: func(s *tracetest.Story) {
				passesQuietBarrier(shown(s).Refuses(-1, "refused: "+refusedAnswer[:16]+"…"))
			}},
		{Name: "is told in the error, but for its beginning", Check: after, CaseID: "answer", In: tracetest.InA, Verdict: report.Warn,
			Message: "the person refused the model's answer, and the server was told how it ends all the same",
			Steps:   func(s *tracetest.Story) { passesQuietBarrier(shown(s).Refuses(-1, "refused: …"+refusedAnswer[16:])) }},
		{Name: "has a result in its place that holds none", Check: after, CaseID: "answer", In: tracetest.InA, Verdict: report.Warn,
			Message: "the person refused the model's answer, and the server was given a result that holds none: an error is due",
			Steps:   func(s *tracetest.Story) { passesQuietBarrier(shown(s).Answers(`{}`)) }},
		{Name: "is told in a notification", Check: after, CaseID: "answer", Verdict: report.Warn,
			Message: "the person refused the model's answer, and the server was told it all the same",
			Steps: func(s *tracetest.Story) {
				shown(s).Frame("", trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":%q}}`, refusedAnswer))
				passesQuietBarrier(s.Refuses(-1, "no"))
			}},
		{Name: "has another in its place", Check: after, CaseID: "answer", Verdict: report.Warn, Message: "the person refused the model's answer, and the server was given another",
			Steps: func(s *tracetest.Story) { passesQuietBarrier(shown(s).Answers(tracetest.Saying("Nothing to say."))) }},
		{Name: "was never there", Check: after, CaseID: "answer", In: tracetest.InA, Verdict: report.Unsupported,
			Message: "the model gave no answer that the person could have refused: it takes a client that asks the model first, and then the person",
			Steps:   func(s *tracetest.Story) { passesQuietBarrier(decides(s).Asks(river).Refuses(-1, "no")) }},
		{Name: "is delivered by an adapter that asks nobody", Check: after, CaseID: "answer", Verdict: report.Unsupported, Message: nobodyKnown,
			Steps: func(s *tracetest.Story) {
				passesQuietBarrier(s.Asks(river).Prompts(river).Answers(tracetest.Saying(refusedAnswer)))
			}},
	})
}

func TestWhatBecomesOfABurst(t *testing.T) {
	fruit := tracetest.Asking("Name a fruit.")
	each := func(answer func(s *tracetest.Story, i int)) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			for i := range burstSize {
				s.Asks(fruit)
				answer(s, i)
			}
		}
	}
	all := each(func(s *tracetest.Story, _ int) { s.Answers(tracetest.Saying("A pear.")) })
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "is answered", Check: "consent/burst", CaseID: "fifty", Steps: all, Verdict: report.Info, Message: "all 50 requests at once were answered"},
		{Name: "is refused beyond ten", Check: "consent/burst", CaseID: "fifty", In: tracetest.InA, Verdict: report.Info,
			Message: "of 50 requests at once 10 were answered and 40 refused, with the codes [-32603 -32000]", Steps: each(func(s *tracetest.Story, i int) {
				switch {
				case i < 10:
					s.Answers(tracetest.Saying("A pear."))
				case i < 20:
					s.Refuses(-32000, "too many")
				default:
					s.Refuses(-32603, "too many")
				}
			})},
		{Name: "is forgotten beyond ten", Check: "consent/burst", CaseID: "fifty", In: tracetest.InA, Verdict: report.Warn,
			Message: "of 50 requests at once 10 were answered, 0 refused, and the others neither: an error is due", Steps: each(func(s *tracetest.Story, i int) {
				if i < 10 {
					s.Answers(tracetest.Saying("A pear."))
				}
			})},
		{Name: "is answered beyond ten in words of the client's", Check: "consent/burst", CaseID: "fifty", Verdict: report.Warn,
			Message: "of 50 requests at once 40 were answered without the model, in words that are not its: an error is due", Steps: each(func(s *tracetest.Story, i int) {
				if i < 10 {
					s.Prompts(fruit).Answers(tracetest.Saying("A pear."))
				} else {
					s.Answers(tracetest.Saying("Too many requests."))
				}
			})},
		{Name: "is answered but for one", Check: "consent/declined-mrtr", CaseID: "fifty", In: tracetest.InB, Verdict: report.Fail, Message: "the call was sent again without what it was asked for",
			Steps: func(s *tracetest.Story) {
				s.Asks(fruit)
				s.Samples = 0
				s.Asks(fruit).Answers(tracetest.Saying(fruitSaid))
				s.Retries(`,"inputResponses":{}`)
			}},
		{Name: "is answered whole", Check: "consent/declined-mrtr", CaseID: "fifty", In: tracetest.InB, Verdict: report.Pass, Message: "the retry has all that it was asked for",
			Steps: func(s *tracetest.Story) { s.Asks(fruit).Answers(tracetest.Saying(fruitSaid)) }},
		{Name: "is not answered", Check: "consent/declined-mrtr", CaseID: "fifty", In: tracetest.InB, Verdict: report.NotApplicable, Message: "the call was not sent again",
			Steps: func(s *tracetest.Story) { s.Asks(fruit) }},
		{Name: "is refused", Check: "consent/burst", CaseID: "fifty", Verdict: report.NotApplicable, Message: "none of 50 requests at once was answered, so that no limit shows",
			Steps: each(func(s *tracetest.Story, _ int) { s.Refuses(-32603, "no") })},
	})
}
