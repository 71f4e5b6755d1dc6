package conformance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const whenOpen = "When does the bridge open?"

// fails is a request to the model, and a failure.
func (s *story) fails(status int) *story { return s.prompting(trace.ModelEnd{Status: status}, "") }

// breaksOff is a request to the model, and an answer that is cut.
func (s *story) breaksOff() *story {
	return s.prompting(trace.ModelEnd{Status: 200, Fault: "TruncateAfter(6)"}, "")
}

// prompting is a request to the model, how it ended, and what the model said.
func (s *story) prompting(end trace.ModelEnd, said string) *story {
	var body any = asking(whenOpen)
	if s.dialect != dialect.Native {
		body = asChat(asking(whenOpen))
	}
	s.prompt(string(dialect.Marshal(body)), end)
	if said != "" {
		s.add(s.caseID, trace.Event{Chunk: &trace.ModelChunk{Exchange: s.models, Data: trace.Bytes(said)}})
	}
	return s
}

const unwell = `"the model is not well" (code -32603)`

// notAnswering is the answer of a client that says that the model failed, and lives on.
func notAnswering(s *story) { s.refuses(-32603, "the model is not well").otherwiseAnswers() }

// afterFailures is a client that asks the model, which fails with each of the statuses in turn.
func afterFailures(then func(*story), statuses ...int) func(*story) {
	return func(s *story) {
		s.asks(asking(whenOpen))
		for _, status := range statuses {
			s.fails(status)
		}
		then(s)
	}
}

// answering is an answer with a result, and another to the barrier.
func answering(result string) func(*story) {
	return func(s *story) { s.answers(result).otherwiseAnswers() }
}

func TestAProvidersFailureIsAnError(t *testing.T) {
	const check, caseID = "provider-errors/is-error", "server-error"
	empty := `{"role":"assistant","model":"","content":{"type":"text","text":""}}`
	hold(t, catalogue, []telling{
		{name: "told", check: check, caseID: caseID, in: inA, tell: afterFailures(notAnswering, 500), verdict: report.Pass, message: "a 500 is an error: " + unwell},
		{name: "not fulfilled", check: check, caseID: caseID, in: inB, tell: afterFailures(notAnswering, 500), verdict: report.Pass, message: "a 500 is an error: " + unsilent},
		{name: "told after some tries", check: check, caseID: caseID, in: inA, tell: afterFailures(notAnswering, 500, 500, 500), verdict: report.Pass, message: "a 500 is an error: " + unwell},
		{name: "over with the next try", check: check, caseID: caseID, tell: afterFailures(answering(saying(provided)), 500, 200), verdict: report.Pass,
			message: "after a 500 the client asked again, and got an answer"},
		{name: "an empty answer", check: check, caseID: caseID, tell: afterFailures(answering(empty), 500), verdict: report.Fail, message: "there was a 500, and the client made an answer of it"},
		{name: "an empty answer after some tries", check: check, caseID: caseID, tell: afterFailures(answering(empty), 500, 500), verdict: report.Fail, message: "there was a 500, and the client made an answer of it"},
		{name: "an apology", check: check, caseID: "unauthorized", tell: afterFailures(answering(saying("Sorry, something went wrong.")), 401), verdict: report.Fail,
			message: "there was a 401, and the client made an answer of it"},
		{name: "an answer after a reset", check: check, caseID: "reset", tell: afterFailures(answering(saying("")), 0), verdict: report.Fail,
			message: "there was a connection that is reset, and the client made an answer of it"},
		{name: "an error for an input", check: check, caseID: caseID, in: inB, verdict: report.Fail, tell: afterFailures(answering(`{"error":{"code":-32603,"message":"no"}}`), 500),
			message: "there was a 500, and the retry has an error where an answer belongs: an input response is a result, and there is none"},
		{name: "an empty object", check: check, caseID: caseID, in: inB, verdict: report.Fail, tell: afterFailures(answering(`{}`), 500),
			message: "there was a 500, and the retry has what is no answer where an answer belongs: an input response is a result, and there is none"},
		{name: "an error for a result", check: check, caseID: caseID, in: inA, verdict: report.Fail, tell: afterFailures(answering(`{"error":{"code":-32603,"message":"no"}}`), 500),
			message: "there was a 500, and the client gave a result that holds no answer: an error is due"},
		{name: "of a client that does not ask the model", check: check, caseID: caseID, tell: afterFailures(answering(saying("At six."))), verdict: report.NotObserved,
			message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
		{name: "of a client that answers nothing at all", check: check, caseID: caseID, in: inA, tell: afterFailures(func(s *story) { s.refuses(-32603, "no") }, 500), verdict: report.NotObserved,
			message: `sampling request 1 was not answered: request 1 was answered by the error "no" (code -32603)`},
		{name: "of a client that asks for ever", check: check, caseID: caseID, verdict: report.NotObserved,
			tell:    afterFailures(func(s *story) { s.ends(trace.Process{Deadline: true}) }, 500, 500, 500),
			message: "no answer came within the client's time, after 3 requests of the model: an error is due, and one that comes later needs a longer time-out"},
		{name: "of a client that asks for ever and fast", check: check, caseID: caseID, verdict: report.NotObserved,
			tell:    afterFailures(func(s *story) { s.ends(trace.Process{Deadline: true}) }, make([]int, 11)...),
			message: "no answer came within the client's time, after more than 10 requests of the model: an error is due, and one that comes later needs a longer time-out"},
	})
}

func TestACallIsNotSentAgainWithoutWhatFailed(t *testing.T) {
	const check, caseID = "provider-errors/failed-mrtr", "unauthorized"
	retrying := func(responses string) func(*story) {
		return afterFailures(func(s *story) { s.retries(responses).otherwiseAnswers() }, 401)
	}
	const without = "after a 401 the call was sent again without what it was asked for"
	hold(t, catalogue, []telling{
		{name: "it is not", check: check, caseID: caseID, in: inB, tell: afterFailures(notAnswering, 401), verdict: report.Pass, message: "a 401 is an error: " + unsilent},
		{name: "with nothing", check: check, caseID: caseID, in: inB, tell: retrying(`,"inputResponses":{}`), verdict: report.Fail, message: without},
		{name: "with its state alone", check: check, caseID: caseID, in: inB, tell: retrying(""), verdict: report.Fail, message: without},
		{name: "with null", check: check, caseID: caseID, in: inB, tell: afterFailures(answering("null"), 401), verdict: report.Fail, message: without},
		{name: "with an answer", check: check, caseID: caseID, in: inB, tell: afterFailures(answering(saying("")), 401), verdict: report.Pass, message: "the retry has what it was asked for"},
		{name: "of a client that does not ask the model", check: check, caseID: caseID, in: inB, tell: afterFailures(answering(saying("At six."))), verdict: report.NotObserved,
			message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
	})
}

func TestHalfAnAnswerIsNotTheWhole(t *testing.T) {
	const check, caseID = "provider-errors/partial-not-whole", "truncated-stream"
	half := saying("The bridge opens at six")
	cutOff := func(then func(*story)) func(*story) {
		return func(s *story) { s.asks(asking(whenOpen)).breaksOff(); then(s) }
	}
	const passedOff = "there was an answer that ends too soon, and what had come of it is passed off as the whole"
	hold(t, catalogue, []telling{
		{name: "an error", check: check, caseID: caseID, in: inA, tell: cutOff(notAnswering), verdict: report.Pass, message: "an answer that ends too soon is an error: " + unwell},
		{name: "not fulfilled", check: check, caseID: caseID, in: inB, tell: cutOff(notAnswering), verdict: report.Pass, message: "an answer that ends too soon is an error: " + unsilent},
		{name: "told by a word of its own", check: check, caseID: caseID, tell: cutOff(answering(with(half, "stopReason", `"incomplete"`))), verdict: report.Pass,
			message: "the answer says that it is not whole: incomplete"},
		{name: "told by a word of its own, with a note", check: check, caseID: caseID, tell: cutOff(answering(with(saying("The bridge… [interrupted]"), "stopReason", `"error"`))), verdict: report.Pass,
			message: "the answer says that it is not whole: error"},
		{name: "nothing, and a word of its own", check: check, caseID: caseID, tell: cutOff(answering(with(saying(""), "stopReason", `"error"`))), verdict: report.Pass,
			message: "the answer says that it is not whole: error"},
		{name: "made up, and a word of its own", check: check, caseID: caseID, tell: cutOff(answering(with(saying("Error: the stream ended."), "stopReason", `"error"`))), verdict: report.Fail,
			message: "there was an answer that ends too soon, and the answer is not the model's"},
		{name: "no answer at all", check: check, caseID: caseID, in: inA, tell: cutOff(answering(`{}`)), verdict: report.Fail,
			message: "there was an answer that ends too soon, and the client gave a result that holds no answer: an error is due"},
		{name: "an end of the turn", check: check, caseID: caseID, tell: cutOff(answering(half)), verdict: report.Fail, message: passedOff},
		{name: "without a reason", check: check, caseID: caseID, tell: cutOff(answering(without(half, "stopReason"))), verdict: report.Fail, message: passedOff},
		{name: "empty", check: check, caseID: caseID, tell: cutOff(answering(saying(""))), verdict: report.Fail, message: passedOff},
		{name: "as a limit", check: check, caseID: caseID, tell: cutOff(answering(with(half, "stopReason", `"maxTokens"`))), verdict: report.Warn,
			message: "an answer that broke off is said to have come to its limit"},
		{name: "asked for again", check: check, caseID: caseID, verdict: report.Pass, message: "after an answer that ends too soon the client asked again, and got an answer",
			tell: func(s *story) { s.asks(asking(whenOpen)).breaksOff().fails(200); answering(saying(provided))(s) }},
		{name: "of a plain answer", check: check, caseID: "error-midway", tell: afterFailures(answering(saying("")), 500), verdict: report.Fail,
			message: "there was an error in the middle of the answer, and the client made an answer of it"},
		{name: "nothing", check: check, caseID: caseID, tell: cutOff(func(*story) {}), verdict: report.NotObserved, message: noAnswer},
	})
}

func TestARefusalIsToldAsOne(t *testing.T) {
	const check = "provider-errors/refusal-told"
	filtered := func(said, result string) func(*story) {
		return func(s *story) {
			s.asks(asking(whenOpen)).prompting(trace.ModelEnd{Status: 200}, said)
			answering(result)(s)
		}
	}
	const stopped = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	const heldBack = `{"choices":[{"message":{"content":"The"},"finish_reason":"content_filter"}]}`
	part := saying(letThrough)
	hold(t, catalogue, []telling{
		{name: "a filter in the provider's word", check: check, caseID: "content-filter", tell: filtered(heldBack, with(part, "stopReason", `"content_filter"`)), verdict: report.Pass,
			message: "the answer says why it is none: content_filter"},
		{name: "a filter as an error", check: check, caseID: "content-filter", in: inA, verdict: report.Pass, message: "a content filter is an error: " + unwell,
			tell: func(s *story) {
				s.asks(asking(whenOpen)).prompting(trace.ModelEnd{Status: 200}, heldBack)
				notAnswering(s)
			}},
		{name: "a filter as an end", check: check, caseID: "content-filter", tell: filtered(heldBack, part), verdict: report.Fail, message: "there was a content filter, and the answer says endTurn"},
		{name: "a filter as a limit", check: check, caseID: "content-filter", tell: filtered(heldBack, with(part, "stopReason", `"maxTokens"`)), verdict: report.Fail,
			message: "there was a content filter, and the answer says maxTokens"},
		{name: "a filter without a reason", check: check, caseID: "content-filter", tell: filtered(heldBack, without(part, "stopReason")), verdict: report.Warn,
			message: "the provider says that there was a content filter, and the answer leaves its stop reason out"},
		{name: "a filter that the provider does not tell of", check: check, caseID: "content-filter", tell: filtered(stopped, part), verdict: report.NotApplicable,
			message: "the provider has no word for a content filter"},
		{name: "a refusal in a word", check: check, caseID: "refusal", tell: filtered(stopped, with(saying(""), "stopReason", `"refusal"`)), verdict: report.Pass,
			message: "the answer says why it is none: refusal"},
		{name: "a refusal in its text", check: check, caseID: "refusal", tell: filtered(stopped, saying(declining)), verdict: report.Pass,
			message: "the provider calls it an end, and what the model says in refusing is passed on"},
		{name: "a refusal that is lost", check: check, caseID: "refusal", tell: filtered(stopped, saying("")), verdict: report.Fail,
			message: "what the model said in refusing is lost, and nothing says that it refused"},
		{name: "a refusal that the provider has a word for", check: check, caseID: "refusal", tell: filtered(`{"stop_reason":"refusal"}`, saying(declining)), verdict: report.Fail,
			message: "there was a refusal, and the answer says endTurn"},
		{name: "a refusal of Responses", check: check, caseID: "refusal", tell: filtered(`{"status":"completed","output":[]}`, saying(declining)), verdict: report.Pass,
			message: "the provider calls it an end, and what the model says in refusing is passed on"},
		{name: "a refusal of Responses in a stream", check: check, caseID: "refusal", tell: filtered("data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n", saying(declining)),
			verdict: report.Pass, message: "the provider calls it an end, and what the model says in refusing is passed on"},
		{name: "a refusal of Ollama's", check: check, caseID: "refusal", tell: filtered(`{"done":true,"done_reason":"stop"}`, saying(declining)), verdict: report.Pass,
			message: "the provider calls it an end, and what the model says in refusing is passed on"},
		{name: "an answer that cannot be read", check: check, caseID: "refusal", tell: filtered(stopped, without(saying(""), "content")), verdict: report.NotObserved, message: noContent},
	})
}

func TestTriesAreCounted(t *testing.T) {
	const check = "provider-errors/retried"
	spaced := func(waits ...time.Duration) func(*story) {
		return func(s *story) {
			s.asks(asking(whenOpen)).fails(429)
			at := s.trace.Events[len(s.trace.Events)-1].At
			for _, w := range waits {
				s.fails(429)
				at += w
				last := s.trace.Events[len(s.trace.Events)-2:]
				last[0].At, last[1].At = at, at
			}
			notAnswering(s)
		}
	}
	hold(t, catalogue, []telling{
		{name: "none", check: check, caseID: "overloaded", tell: afterFailures(notAnswering, 529), verdict: report.Info, message: "after an overloaded model the model was not asked again"},
		{name: "two", check: check, caseID: "server-error", tell: afterFailures(notAnswering, 500, 500, 500), verdict: report.Info,
			message: "after a 500 the model was asked again: 3 requests"},
		{name: "in time", check: check, caseID: "rate-limited", tell: spaced(950*time.Millisecond, 3*time.Second), verdict: report.Info,
			message: "after a 429 the model was asked again: 3 requests, no sooner than Retry-After asks"},
		{name: "too soon", check: check, caseID: "rate-limited", tell: spaced(3*time.Second, 500*time.Millisecond), verdict: report.Info,
			message: "after a 429 the model was asked again: 3 requests, sooner than Retry-After asks"},
		{name: "by a client that does not ask", check: check, caseID: "rate-limited", tell: afterFailures(notAnswering), verdict: report.NotObserved,
			message: "the model was never asked: nothing reached the fake model under the case's mark"},
	})
}

func TestWhoseFaultAFailureIs(t *testing.T) {
	const check = "provider-errors/error-code"
	code := func(n int) func(*story) {
		return afterFailures(func(s *story) { s.refuses(n, "no").otherwiseAnswers() }, 500)
	}
	for n, what := range blamed {
		hold(t, catalogue, []telling{{name: fmt.Sprint(n), check: check, caseID: "server-error", in: inA, tell: code(n), verdict: report.Warn, message: "there was a 500, and the error says that " + what}})
	}
	hold(t, catalogue, []telling{
		{name: "internal", check: check, caseID: "server-error", in: inA, tell: code(-32603), verdict: report.Pass, message: "the code of the error is -32603"},
		{name: "of its own", check: check, caseID: "server-error", in: inA, tell: code(429), verdict: report.Pass, message: "the code of the error is 429"},
		{name: "none", check: check, caseID: "server-error", in: inA, tell: afterFailures(answering(saying("Hm.")), 500), verdict: report.NotApplicable,
			message: "the client did not answer with an error"},
	})
}

func TestTheNextRequestIsServed(t *testing.T) {
	const check, caseID = "provider-errors/alive", "unauthorized"
	refusesAll := func(s *story) {
		s.refuses(-32603, "no")
		s.caseID, s.samples = "other/case", 0
		s.trace.Header.Cases = append(s.trace.Header.Cases, trace.Case{ID: s.caseID, Tool: "other-case"})
		s.calls().asks(asking("And?")).refuses(-32603, "not again")
	}
	hold(t, catalogue, []telling{
		{name: "it is", check: check, caseID: caseID, tell: afterFailures(notAnswering, 401), verdict: report.Pass, message: "after a 401 the next request was answered"},
		{name: "it is not, by a client that crashed", check: check, caseID: caseID, verdict: report.Fail, message: "after a 401 nothing was answered any more: it exited with status 1",
			tell: afterFailures(func(s *story) { s.refuses(-32603, "no").ends(trace.Process{ExitCode: 1, Stderr: "Unhandled"}) }, 401)},
		{name: "it is not, by a client that hung", check: check, caseID: caseID, verdict: report.NotObserved,
			message: "no answer came within the client's time, after 1 request of the model: an error is due, and one that comes later needs a longer time-out",
			tell:    afterFailures(func(s *story) { s.ends(trace.Process{Deadline: true}) }, 401)},
		{name: "it is not, by a client that asks for ever", check: check, caseID: caseID, verdict: report.NotObserved,
			tell:    afterFailures(func(s *story) { s.ends(trace.Process{Deadline: true}) }, 401, 401),
			message: "no answer came within the client's time, after 2 requests of the model: an error is due, and one that comes later needs a longer time-out"},
		{name: "it is an error", check: check, caseID: caseID, in: inA, tell: afterFailures(refusesAll, 401), verdict: report.NotObserved,
			message: `after a 401 what was asked next was answered by the error "not again" (code -32603)`},
		{name: "nobody asks", check: check, caseID: caseID, tell: afterFailures(func(s *story) { s.refuses(-32603, "no") }, 401), verdict: report.NotObserved,
			message: "the client called no other tool after a 401"},
		{name: "nobody asks, as the last tool was called before", check: check, caseID: caseID, verdict: report.Unsupported,
			message: "nothing was asked of the client after a 401: it takes a client that calls the tools in the order in which they are listed",
			tell:    func(s *story) { s.passesBarrier(); afterFailures(func(s *story) { s.refuses(-32603, "no") }, 401)(s) }},
		{name: "nobody asks any more", check: check, caseID: caseID, verdict: report.NotObserved, message: "the run was interrupted before the next request", in: inA,
			tell: afterFailures(func(s *story) {
				s.refuses(-32603, "no").marks(trace.MarkHandlerEnded, "").ends(trace.Process{Interrupted: true})
			}, 401)},
	})
}

// Every case is of a failure, and what it plants cannot be met by chance: not in a message of ours, nor in one of the model's that a client may quote.
func TestWhatIsPlantedIsInTheRightPlaces(t *testing.T) {
	for _, c := range provider.Cases {
		f := failureOf(&Evidence{Case: trace.Case{ID: c.ID}})
		if f.called == "" || !strings.HasSuffix(c.ID, "/"+f.id) {
			t.Errorf("%s is of no failure", c.ID)
		}
		if rules := c.Script("mark"); len(rules) != len(f.rules) {
			t.Errorf("%s has %d rules, want %d", c.ID, len(rules), len(f.rules))
		}
	}
}
