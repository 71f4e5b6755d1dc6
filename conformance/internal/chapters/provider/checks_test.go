package provider

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const unwell = `"the model is not well" (code -32603)`

// notAnswering is the answer of a client that says that the model failed, and lives on.
func notAnswering(s *tracetest.Story) { s.Refuses(-32603, "the model is not well").OtherwiseAnswers() }

// afterFailures is a client that asks the model, which fails with each of the statuses in turn.
func afterFailures(then func(*tracetest.Story), statuses ...int) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		s.Asks(tracetest.Asking(tracetest.WhenOpen))
		for _, status := range statuses {
			s.Fails(status)
		}
		then(s)
	}
}

// answering is an answer with a result, and another to the barrier.
func answering(result string) func(*tracetest.Story) {
	return func(s *tracetest.Story) { s.Answers(result).OtherwiseAnswers() }
}

func TestAProvidersFailureIsAnError(t *testing.T) {
	const check, caseID = "provider-errors/is-error", "server-error"
	empty := `{"role":"assistant","model":"","content":{"type":"text","text":""}}`
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "told", Check: check, CaseID: caseID, In: tracetest.InA, Steps: afterFailures(notAnswering, 500), Verdict: report.Pass, Message: "a 500 is an error: " + unwell},
		{Name: "not fulfilled", Check: check, CaseID: caseID, In: tracetest.InB, Steps: afterFailures(notAnswering, 500), Verdict: report.Pass, Message: "a 500 is an error: " + tracetest.NotFulfilled},
		{Name: "told after some tries", Check: check, CaseID: caseID, In: tracetest.InA, Steps: afterFailures(notAnswering, 500, 500, 500), Verdict: report.Pass, Message: "a 500 is an error: " + unwell},
		{Name: "over with the next try", Check: check, CaseID: caseID, Steps: afterFailures(answering(tracetest.Saying(provided)), 500, 200), Verdict: report.Pass,
			Message: "after a 500 the client asked again, and got an answer"},
		{Name: "an empty answer", Check: check, CaseID: caseID, Steps: afterFailures(answering(empty), 500), Verdict: report.Fail, Message: "there was a 500, and the client made an answer of it"},
		{Name: "an empty answer after some tries", Check: check, CaseID: caseID, Steps: afterFailures(answering(empty), 500, 500), Verdict: report.Fail, Message: "there was a 500, and the client made an answer of it"},
		{Name: "an apology", Check: check, CaseID: "unauthorized", Steps: afterFailures(answering(tracetest.Saying("Sorry, something went wrong.")), 401), Verdict: report.Fail,
			Message: "there was a 401, and the client made an answer of it"},
		{Name: "an answer after a reset", Check: check, CaseID: "reset", Steps: afterFailures(answering(tracetest.Saying("")), 0), Verdict: report.Fail,
			Message: "there was a connection that is reset, and the client made an answer of it"},
		{Name: "an error for an input", Check: check, CaseID: caseID, In: tracetest.InB, Verdict: report.Fail, Steps: afterFailures(answering(`{"error":{"code":-32603,"message":"no"}}`), 500),
			Message: "there was a 500, and the retry has an error where an answer belongs: an input response is a result, and there is none"},
		{Name: "an empty object", Check: check, CaseID: caseID, In: tracetest.InB, Verdict: report.Fail, Steps: afterFailures(answering(`{}`), 500),
			Message: "there was a 500, and the retry has what is no answer where an answer belongs: an input response is a result, and there is none"},
		{Name: "an error for a result", Check: check, CaseID: caseID, In: tracetest.InA, Verdict: report.Fail, Steps: afterFailures(answering(`{"error":{"code":-32603,"message":"no"}}`), 500),
			Message: "there was a 500, and the client gave a result that holds no answer: an error is due"},
		{Name: "of a client that does not ask the model", Check: check, CaseID: caseID, Steps: afterFailures(answering(tracetest.Saying("At six."))), Verdict: report.NotObserved,
			Message: "the model received no request for sampling request 1: none had the mark of the case"},
		{Name: "of a client that answers nothing at all", Check: check, CaseID: caseID, In: tracetest.InA, Steps: afterFailures(func(s *tracetest.Story) { s.Refuses(-32603, "no") }, 500), Verdict: report.NotObserved,
			Message: `no result for sampling request 1: error response to request 1: "no" (code -32603)`},
		{Name: "of a client that asks for ever", Check: check, CaseID: caseID, Verdict: report.NotObserved,
			Steps:   afterFailures(func(s *tracetest.Story) { s.Ends(trace.Process{Deadline: true}) }, 500, 500, 500),
			Message: "no answer came within the client's time, after 3 requests of the model: an error is due, and one that comes later needs a longer time-out"},
		{Name: "of a client that asks for ever and fast", Check: check, CaseID: caseID, Verdict: report.NotObserved,
			Steps:   afterFailures(func(s *tracetest.Story) { s.Ends(trace.Process{Deadline: true}) }, make([]int, 11)...),
			Message: "no answer came within the client's time, after more than 10 requests of the model: an error is due, and one that comes later needs a longer time-out"},
	})
}

func TestACallIsNotSentAgainWithoutWhatFailed(t *testing.T) {
	const check, caseID = "provider-errors/failed-mrtr", "unauthorized"
	retrying := func(responses string) func(*tracetest.Story) {
		return afterFailures(func(s *tracetest.Story) { s.Retries(responses).OtherwiseAnswers() }, 401)
	}
	const without = "after a 401 the call was sent again without what it was asked for"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "it is not", Check: check, CaseID: caseID, In: tracetest.InB, Steps: afterFailures(notAnswering, 401), Verdict: report.Pass, Message: "a 401 is an error: " + tracetest.NotFulfilled},
		{Name: "with nothing", Check: check, CaseID: caseID, In: tracetest.InB, Steps: retrying(`,"inputResponses":{}`), Verdict: report.Fail, Message: without},
		{Name: "with its state alone", Check: check, CaseID: caseID, In: tracetest.InB, Steps: retrying(""), Verdict: report.Fail, Message: without},
		{Name: "with null", Check: check, CaseID: caseID, In: tracetest.InB, Steps: afterFailures(answering("null"), 401), Verdict: report.Fail, Message: without},
		{Name: "with an answer", Check: check, CaseID: caseID, In: tracetest.InB, Steps: afterFailures(answering(tracetest.Saying("")), 401), Verdict: report.Pass, Message: "the retry has what it was asked for"},
		{Name: "of a client that does not ask the model", Check: check, CaseID: caseID, In: tracetest.InB, Steps: afterFailures(answering(tracetest.Saying("At six."))), Verdict: report.NotObserved,
			Message: "the model received no request for sampling request 1: none had the mark of the case"},
	})
}

func TestHalfAnAnswerIsNotTheWhole(t *testing.T) {
	const check, caseID = "provider-errors/partial-not-whole", "truncated-stream"
	half := tracetest.Saying("The bridge opens at six")
	cutOff := func(then func(*tracetest.Story)) func(*tracetest.Story) {
		return func(s *tracetest.Story) { s.Asks(tracetest.Asking(tracetest.WhenOpen)).BreaksOff(); then(s) }
	}
	const passedOff = "there was an answer that ends too soon, and what had come of it is passed off as the whole"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "an error", Check: check, CaseID: caseID, In: tracetest.InA, Steps: cutOff(notAnswering), Verdict: report.Pass, Message: "an answer that ends too soon is an error: " + unwell},
		{Name: "not fulfilled", Check: check, CaseID: caseID, In: tracetest.InB, Steps: cutOff(notAnswering), Verdict: report.Pass, Message: "an answer that ends too soon is an error: " + tracetest.NotFulfilled},
		{Name: "told by a word of its own", Check: check, CaseID: caseID, Steps: cutOff(answering(tracetest.With(half, "stopReason", `"incomplete"`))), Verdict: report.Pass,
			Message: "the answer says that it is not whole: incomplete"},
		{Name: "told by a word of its own, with a note", Check: check, CaseID: caseID, Steps: cutOff(answering(tracetest.With(tracetest.Saying("The bridge… [interrupted]"), "stopReason", `"error"`))), Verdict: report.Pass,
			Message: "the answer says that it is not whole: error"},
		{Name: "nothing, and a word of its own", Check: check, CaseID: caseID, Steps: cutOff(answering(tracetest.With(tracetest.Saying(""), "stopReason", `"error"`))), Verdict: report.Pass,
			Message: "the answer says that it is not whole: error"},
		{Name: "made up, and a word of its own", Check: check, CaseID: caseID, Steps: cutOff(answering(tracetest.With(tracetest.Saying("Error: the stream ended."), "stopReason", `"error"`))), Verdict: report.Fail,
			Message: "there was an answer that ends too soon, and the answer is not the model's"},
		{Name: "no answer at all", Check: check, CaseID: caseID, In: tracetest.InA, Steps: cutOff(answering(`{}`)), Verdict: report.Fail,
			Message: "there was an answer that ends too soon, and the client gave a result that holds no answer: an error is due"},
		{Name: "an end of the turn", Check: check, CaseID: caseID, Steps: cutOff(answering(half)), Verdict: report.Fail, Message: passedOff},
		{Name: "without a reason", Check: check, CaseID: caseID, Steps: cutOff(answering(tracetest.Without(half, "stopReason"))), Verdict: report.Fail, Message: passedOff},
		{Name: "empty", Check: check, CaseID: caseID, Steps: cutOff(answering(tracetest.Saying(""))), Verdict: report.Fail, Message: passedOff},
		{Name: "as a limit", Check: check, CaseID: caseID, Steps: cutOff(answering(tracetest.With(half, "stopReason", `"maxTokens"`))), Verdict: report.Warn,
			Message: "an answer that broke off is said to have come to its limit"},
		{Name: "asked for again", Check: check, CaseID: caseID, Verdict: report.Pass, Message: "after an answer that ends too soon the client asked again, and got an answer",
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking(tracetest.WhenOpen)).BreaksOff().Fails(200)
				answering(tracetest.Saying(provided))(s)
			}},
		{Name: "of a plain answer", Check: check, CaseID: "error-midway", Steps: afterFailures(answering(tracetest.Saying("")), 500), Verdict: report.Fail,
			Message: "there was an error in the middle of the answer, and the client made an answer of it"},
		{Name: "nothing", Check: check, CaseID: caseID, Steps: cutOff(func(*tracetest.Story) {}), Verdict: report.NotObserved, Message: tracetest.NoAnswer},
	})
}

func TestARefusalIsToldAsOne(t *testing.T) {
	const check = "provider-errors/refusal-told"
	filtered := func(said, result string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(tracetest.Asking(tracetest.WhenOpen)).Prompting(trace.ModelEnd{Status: 200}, said)
			answering(result)(s)
		}
	}
	const stopped = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	const heldBack = `{"choices":[{"message":{"content":"The"},"finish_reason":"content_filter"}]}`
	part := tracetest.Saying(letThrough)
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "a filter in the provider's word", Check: check, CaseID: "content-filter", Steps: filtered(heldBack, tracetest.With(part, "stopReason", `"content_filter"`)), Verdict: report.Pass,
			Message: "the answer says why it is none: content_filter"},
		{Name: "a filter as an error", Check: check, CaseID: "content-filter", In: tracetest.InA, Verdict: report.Pass, Message: "a content filter is an error: " + unwell,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking(tracetest.WhenOpen)).Prompting(trace.ModelEnd{Status: 200}, heldBack)
				notAnswering(s)
			}},
		{Name: "a filter as an end", Check: check, CaseID: "content-filter", Steps: filtered(heldBack, part), Verdict: report.Fail, Message: "there was a content filter, and the answer says endTurn"},
		{Name: "a filter as a limit", Check: check, CaseID: "content-filter", Steps: filtered(heldBack, tracetest.With(part, "stopReason", `"maxTokens"`)), Verdict: report.Fail,
			Message: "there was a content filter, and the answer says maxTokens"},
		{Name: "a filter without a reason", Check: check, CaseID: "content-filter", Steps: filtered(heldBack, tracetest.Without(part, "stopReason")), Verdict: report.Warn,
			Message: "the provider says that there was a content filter, and the answer leaves its stop reason out"},
		{Name: "a filter that the provider does not tell of", Check: check, CaseID: "content-filter", Steps: filtered(stopped, part), Verdict: report.NotApplicable,
			Message: "the provider has no word for a content filter"},
		{Name: "a refusal in a word", Check: check, CaseID: "refusal", Steps: filtered(stopped, tracetest.With(tracetest.Saying(""), "stopReason", `"refusal"`)), Verdict: report.Pass,
			Message: "the answer says why it is none: refusal"},
		{Name: "a refusal in its text", Check: check, CaseID: "refusal", Steps: filtered(stopped, tracetest.Saying(declining)), Verdict: report.Pass,
			Message: "the provider calls it an end, and what the model says in refusing is passed on"},
		{Name: "a refusal that is lost", Check: check, CaseID: "refusal", Steps: filtered(stopped, tracetest.Saying("")), Verdict: report.Fail,
			Message: "what the model said in refusing is lost, and nothing says that it refused"},
		{Name: "a refusal that the provider has a word for", Check: check, CaseID: "refusal", Steps: filtered(`{"stop_reason":"refusal"}`, tracetest.Saying(declining)), Verdict: report.Fail,
			Message: "there was a refusal, and the answer says endTurn"},
		{Name: "a refusal of Responses", Check: check, CaseID: "refusal", Steps: filtered(`{"status":"completed","output":[]}`, tracetest.Saying(declining)), Verdict: report.Pass,
			Message: "the provider calls it an end, and what the model says in refusing is passed on"},
		{Name: "a refusal of Responses in a stream", Check: check, CaseID: "refusal", Steps: filtered("data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n", tracetest.Saying(declining)),
			Verdict: report.Pass, Message: "the provider calls it an end, and what the model says in refusing is passed on"},
		{Name: "a refusal of Ollama's", Check: check, CaseID: "refusal", Steps: filtered(`{"done":true,"done_reason":"stop"}`, tracetest.Saying(declining)), Verdict: report.Pass,
			Message: "the provider calls it an end, and what the model says in refusing is passed on"},
		{Name: "an answer that cannot be read", Check: check, CaseID: "refusal", Steps: filtered(stopped, tracetest.Without(tracetest.Saying(""), "content")), Verdict: report.NotObserved, Message: tracetest.NoContent},
	})
}

func TestTriesAreCounted(t *testing.T) {
	const check = "provider-errors/retried"
	spaced := func(waits ...time.Duration) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(tracetest.Asking(tracetest.WhenOpen)).Fails(429)
			at := s.Trace.Events[len(s.Trace.Events)-1].At
			for _, w := range waits {
				s.Fails(429)
				at += w
				last := s.Trace.Events[len(s.Trace.Events)-2:]
				last[0].At, last[1].At = at, at
			}
			notAnswering(s)
		}
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "none", Check: check, CaseID: "overloaded", Steps: afterFailures(notAnswering, 529), Verdict: report.Info, Message: "after an overloaded model the model was not asked again"},
		{Name: "two", Check: check, CaseID: "server-error", Steps: afterFailures(notAnswering, 500, 500, 500), Verdict: report.Info,
			Message: "after a 500 the model was asked again: 3 requests"},
		{Name: "in time", Check: check, CaseID: "rate-limited", Steps: spaced(950*time.Millisecond, 3*time.Second), Verdict: report.Info,
			Message: "after a 429 the model was asked again: 3 requests, no sooner than Retry-After asks"},
		{Name: "too soon", Check: check, CaseID: "rate-limited", Steps: spaced(3*time.Second, 500*time.Millisecond), Verdict: report.Info,
			Message: "after a 429 the model was asked again: 3 requests, sooner than Retry-After asks"},
		{Name: "by a client that does not ask", Check: check, CaseID: "rate-limited", Steps: afterFailures(notAnswering), Verdict: report.NotObserved,
			Message: "the model was never asked: nothing reached the fake model under the case's mark"},
	})
}

func TestWhoseFaultAFailureIs(t *testing.T) {
	const check = "provider-errors/error-code"
	code := func(n int) func(*tracetest.Story) {
		return afterFailures(func(s *tracetest.Story) { s.Refuses(n, "no").OtherwiseAnswers() }, 500)
	}
	for n, what := range blamed {
		tracetest.Run(t, catalogue, []tracetest.Test{{Name: fmt.Sprint(n), Check: check, CaseID: "server-error", In: tracetest.InA, Steps: code(n), Verdict: report.Warn, Message: "there was a 500, and the error says that " + what}})
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "internal", Check: check, CaseID: "server-error", In: tracetest.InA, Steps: code(-32603), Verdict: report.Pass, Message: "the code of the error is -32603"},
		{Name: "of its own", Check: check, CaseID: "server-error", In: tracetest.InA, Steps: code(429), Verdict: report.Pass, Message: "the code of the error is 429"},
		{Name: "none", Check: check, CaseID: "server-error", In: tracetest.InA, Steps: afterFailures(answering(tracetest.Saying("Hm.")), 500), Verdict: report.NotApplicable,
			Message: "the client did not answer with an error"},
	})
}

func TestTheNextRequestIsServed(t *testing.T) {
	const check, caseID = "provider-errors/alive", "unauthorized"
	refusesAll := func(s *tracetest.Story) {
		s.Refuses(-32603, "no")
		s.CaseID, s.Samples = "other/case", 0
		s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: s.CaseID, Tool: "other-case"})
		s.Calls().Asks(tracetest.Asking("And?")).Refuses(-32603, "not again")
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "it is", Check: check, CaseID: caseID, Steps: afterFailures(notAnswering, 401), Verdict: report.Pass, Message: "after a 401 the next request was answered"},
		{Name: "it is not, by a client that crashed", Check: check, CaseID: caseID, Verdict: report.Fail, Message: "after a 401 nothing was answered any more: it exited with status 1",
			Steps: afterFailures(func(s *tracetest.Story) {
				s.Refuses(-32603, "no").Ends(trace.Process{ExitCode: 1, Stderr: "Unhandled"})
			}, 401)},
		{Name: "it is not, by a client that hung", Check: check, CaseID: caseID, Verdict: report.NotObserved,
			Message: "no answer came within the client's time, after 1 request of the model: an error is due, and one that comes later needs a longer time-out",
			Steps:   afterFailures(func(s *tracetest.Story) { s.Ends(trace.Process{Deadline: true}) }, 401)},
		{Name: "it is not, by a client that asks for ever", Check: check, CaseID: caseID, Verdict: report.NotObserved,
			Steps:   afterFailures(func(s *tracetest.Story) { s.Ends(trace.Process{Deadline: true}) }, 401, 401),
			Message: "no answer came within the client's time, after 2 requests of the model: an error is due, and one that comes later needs a longer time-out"},
		{Name: "it is an error", Check: check, CaseID: caseID, In: tracetest.InA, Steps: afterFailures(refusesAll, 401), Verdict: report.NotObserved,
			Message: `after a 401 what was asked next was answered by the error "not again" (code -32603)`},
		{Name: "nobody asks", Check: check, CaseID: caseID, Steps: afterFailures(func(s *tracetest.Story) { s.Refuses(-32603, "no") }, 401), Verdict: report.NotObserved,
			Message: "the client called no other tool after a 401"},
		{Name: "nobody asks, as the last tool was called before", Check: check, CaseID: caseID, Verdict: report.Unsupported,
			Message: "nothing was asked of the client after a 401: it takes a client that calls the tools in the order in which they are listed",
			Steps: func(s *tracetest.Story) {
				s.PassesBarrier()
				afterFailures(func(s *tracetest.Story) { s.Refuses(-32603, "no") }, 401)(s)
			}},
		{Name: "nobody asks any more", Check: check, CaseID: caseID, Verdict: report.NotObserved, Message: "the run was interrupted before the next request", In: tracetest.InA,
			Steps: afterFailures(func(s *tracetest.Story) {
				s.Refuses(-32603, "no").Marks(trace.MarkHandlerEnded, "").Ends(trace.Process{Interrupted: true})
			}, 401)},
	})
}

// Every case is of a failure, and what it plants cannot be met by chance: not in a message of ours, nor in one of the model's that a client may quote.
func TestWhatIsPlantedIsInTheRightPlaces(t *testing.T) {
	for _, c := range Scenario.Cases {
		f := failureOf(&evidence.Case{Case: trace.Case{ID: c.ID}})
		if f.called == "" || !strings.HasSuffix(c.ID, "/"+f.id) {
			t.Errorf("%s is of no failure", c.ID)
		}
		if rules := c.Script("mark"); len(rules) != len(f.rules) {
			t.Errorf("%s has %d rules, want %d", c.ID, len(rules), len(f.rules))
		}
	}
}
