package provider

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

type session = tracetest.Story

// afterFailures is a client whose model answers with the HTTP statuses, one after the other.
func afterFailures(then func(*session), statuses ...int) func(*session) {
	return func(s *session) {
		s.Asks(tracetest.Asking(tracetest.WhenOpen))
		for _, status := range statuses {
			s.Fails(status)
		}
		then(s)
	}
}

// refuses is an error response, after which the client goes on. returns is a result in its place.
func refuses(s *session) { s.Refuses(-32603, "the model is down").OtherwiseAnswers() }

func returns(result string) func(*session) {
	return func(s *session) { s.Answers(result).OtherwiseAnswers() }
}

func refusesAndStops(s *session) { s.Refuses(-32603, "no") }

func hangs(s *session) { s.Ends(trace.Process{Deadline: true}) }

const (
	refused   = `"the model is down" (code -32603)`
	notCalled = "received nothing with the mark of the case"
)

func TestIsErrorRejectsInventedAnswers(t *testing.T) {
	apology := returns(tracetest.Saying("Sorry, something went wrong."))
	tracetest.RunCheck(t, catalogue, "provider-errors/is-error", "server-error", []tracetest.Test{
		{Name: "an error passes", In: tracetest.InA, Verdict: report.Pass,
			Message: "HTTP 500 the client returned no answer: " + refused, Steps: afterFailures(refuses, 500)},
		{Name: "an unfulfilled input request passes", In: tracetest.InB, Verdict: report.Pass,
			Message: tracetest.NotFulfilled, Steps: afterFailures(refuses, 500)},
		{Name: "an error after retries passes", In: tracetest.InA, Verdict: report.Pass, Message: refused,
			Steps: afterFailures(refuses, 500, 500, 500)},
		{Name: "an answer after a retry passes", Verdict: report.Pass, Message: "after HTTP 500 the client retried",
			Steps: afterFailures(returns(tracetest.Saying(answer)), 500, 200)},
		{Name: "an empty answer fails", Verdict: report.Fail, Message: "expected no result after HTTP 500, found an answer",
			Steps: afterFailures(returns(tracetest.Saying("")), 500, 500)},
		{Name: "an apology fails", CaseID: "unauthorized", Verdict: report.Fail, Message: "after HTTP 401, found an answer",
			Steps: afterFailures(apology, 401)},
		{Name: "an answer after a reset fails", CaseID: "reset", Verdict: report.Fail,
			Message: "a connection reset, found an answer", Steps: afterFailures(apology, 0)},
		{Name: "an error as a result fails", Verdict: report.Fail, Message: "a result without content",
			Steps: afterFailures(returns(`{"error":{"code":-32603,"message":"no"}}`), 500)},
		{Name: "an empty object fails", In: tracetest.InB, Verdict: report.Fail, Message: "a result without content",
			Steps: afterFailures(returns(`{}`), 500)},
		{Name: "a client that does not call the model is not judged", Verdict: report.NotObserved,
			Message: "the model received no request", Steps: afterFailures(apology)},
		{Name: "a client that answers nothing at all is not judged", In: tracetest.InA, Verdict: report.NotObserved,
			Message: `error response to request 1: "no" (code -32603)`, Steps: afterFailures(refusesAndStops, 500)},
		{Name: "a client that retries until the end is not judged", Verdict: report.NotObserved,
			Message: "after 3 requests to the model", Steps: afterFailures(hangs, 500, 500, 500)},
		{Name: "the message counts to ten", Verdict: report.NotObserved, Message: "after more than 10 requests to the model",
			Steps: afterFailures(hangs, make([]int, 11)...)},
	})
}

func TestFailedMRTRRejectsRetriesWithoutInput(t *testing.T) {
	retries := func(responses string) func(*session) {
		return afterFailures(func(s *session) { s.Retries(responses).OtherwiseAnswers() }, 401)
	}
	const missing = "expected an input response in the retry after HTTP 401, found none"
	tracetest.RunCheck(t, catalogue, "provider-errors/failed-mrtr", "unauthorized", []tracetest.Test{
		{Name: "no retry passes", In: tracetest.InB, Verdict: report.Pass, Message: tracetest.NotFulfilled,
			Steps: afterFailures(refuses, 401)},
		{Name: "a retry with an answer passes", In: tracetest.InB, Verdict: report.Pass, Message: "the retry has a response",
			Steps: afterFailures(returns(tracetest.Saying("")), 401)},
		{Name: "a retry without responses fails", In: tracetest.InB, Verdict: report.Fail, Message: missing,
			Steps: retries(`,"inputResponses":{}`)},
		{Name: "a retry with the state alone fails", In: tracetest.InB, Verdict: report.Fail,
			Message: missing, Steps: retries("")},
		{Name: "a retry with null fails", In: tracetest.InB, Verdict: report.Fail, Message: missing,
			Steps: afterFailures(returns("null"), 401)},
		{Name: "a client that does not call the model is not judged", In: tracetest.InB, Verdict: report.NotObserved,
			Message: "the model received no request", Steps: afterFailures(returns(tracetest.Saying("At six.")))},
	})
}

func TestPartialAnswersAreNotComplete(t *testing.T) {
	cutOff := func(then func(*session)) func(*session) {
		return func(s *session) { s.Asks(tracetest.Asking(tracetest.WhenOpen)).BreaksOff(); then(s) }
	}
	stopped := func(text, reason string) func(*session) {
		return cutOff(returns(tracetest.With(tracetest.Saying(text), "stopReason", reason)))
	}
	const half = "The bridge opens at six"
	const complete = "a truncated answer, found its first part returned as a complete answer"
	tracetest.RunCheck(t, catalogue, "provider-errors/partial-not-whole", "truncated-stream", []tracetest.Test{
		{Name: "an error passes", In: tracetest.InA, Verdict: report.Pass, Message: refused, Steps: cutOff(refuses)},
		{Name: "an unfulfilled input request passes", In: tracetest.InB, Verdict: report.Pass,
			Message: tracetest.NotFulfilled, Steps: cutOff(refuses)},
		{Name: "an own stop reason passes", Verdict: report.Pass,
			Message: "incomplete: cutOff", Steps: stopped(half, `"cutOff"`)},
		{Name: "an own stop reason and a note pass", Verdict: report.Pass, Message: "incomplete: error",
			Steps: stopped("The bridge… [interrupted]", `"error"`)},
		{Name: "an own stop reason without text passes", Verdict: report.Pass,
			Message: "incomplete: error", Steps: stopped("", `"error"`)},
		{Name: "an own stop reason and another text fail", Verdict: report.Fail, Message: "found another text",
			Steps: stopped("Error: the stream ended.", `"error"`)},
		{Name: "a result without content fails", In: tracetest.InA, Verdict: report.Fail, Message: "a result without content",
			Steps: cutOff(returns(`{}`))},
		{Name: "an end of the turn fails", Verdict: report.Fail, Message: complete, Steps: stopped(half, `"endTurn"`)},
		{Name: "a missing stop reason fails", Verdict: report.Fail, Message: complete, Steps: stopped(half, "")},
		{Name: "an empty text fails", Verdict: report.Fail, Message: complete, Steps: stopped("", `"endTurn"`)},
		{Name: "the token limit as the reason warns", Verdict: report.Warn,
			Message: "maxTokens", Steps: stopped(half, `"maxTokens"`)},
		{Name: "an answer after a retry passes", Verdict: report.Pass, Message: "retried and received an answer",
			Steps: cutOff(func(s *session) { s.Fails(200); returns(tracetest.Saying(answer))(s) })},
		{Name: "an answer after an HTTP error fails", CaseID: "error-midway", Verdict: report.Fail,
			Message: "found an answer", Steps: afterFailures(returns(tracetest.Saying("")), 500)},
		{Name: "no response is not judged", Verdict: report.NotObserved,
			Message: tracetest.NoAnswer, Steps: cutOff(func(*session) {})},
	})
}

func TestRefusalsAreTold(t *testing.T) {
	after := func(said string, then func(*session)) func(*session) {
		return func(s *session) {
			s.Asks(tracetest.Asking(tracetest.WhenOpen)).Prompting(trace.ModelEnd{Status: 200}, said)
			then(s)
		}
	}
	stopped := func(said, text, reason string) func(*session) {
		return after(said, returns(tracetest.With(tracetest.Saying(text), "stopReason", reason)))
	}
	const (
		stop     = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
		heldBack = `{"choices":[{"message":{"content":"The"},"finish_reason":"content_filter"}]}`
		passedOn = "the text of the refusal is passed on"
	)
	const checkID = "provider-errors/refusal-told"
	tracetest.RunCheck(t, catalogue, checkID, "content-filter", []tracetest.Test{
		{Name: "the provider's reason passes", Verdict: report.Pass, Message: "content_filter",
			Steps: stopped(heldBack, filtered, `"content_filter"`)},
		{Name: "an error passes", In: tracetest.InA, Verdict: report.Pass,
			Message: "a content filter the client returned no answer: " + refused, Steps: after(heldBack, refuses)},
		{Name: "an end of the turn fails", Verdict: report.Fail, Message: "for a content filter, found endTurn",
			Steps: stopped(heldBack, filtered, `"endTurn"`)},
		{Name: "the token limit as the reason fails", Verdict: report.Fail, Message: "found maxTokens",
			Steps: stopped(heldBack, filtered, `"maxTokens"`)},
		{Name: "a missing reason warns", Verdict: report.Warn, Message: "found none", Steps: stopped(heldBack, filtered, "")},
		{Name: "a provider without a reason is not judged", Verdict: report.NotApplicable,
			Message: "no stop reason for a content filter", Steps: stopped(stop, filtered, `"endTurn"`)},
	})
	tests := []tracetest.Test{
		{Name: "a reason passes", Verdict: report.Pass, Message: "refusal", Steps: stopped(stop, "", `"refusal"`)},
		{Name: "a lost refusal fails", Verdict: report.Fail, Message: "found neither", Steps: stopped(stop, "", `"endTurn"`)},
		{Name: "an end of the turn fails if the provider has a reason", Verdict: report.Fail,
			Message: "for a refusal, found endTurn", Steps: stopped(`{"stop_reason":"refusal"}`, refusalText, `"endTurn"`)},
		{Name: "unreadable content is not judged", Verdict: report.NotObserved, Message: tracetest.NoContent,
			Steps: after(stop, returns(tracetest.Without(tracetest.Saying(""), "content")))},
	}
	for provider, said := range map[string]string{
		"OpenAI": stop, "Responses": `{"status":"completed","output":[]}`, "Ollama": `{"done":true,"done_reason":"stop"}`,
		"Responses as a stream": `data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n",
	} {
		tests = append(tests, tracetest.Test{Name: "the text passes where the provider has no reason: " + provider,
			Verdict: report.Pass, Message: passedOn, Steps: stopped(said, refusalText, `"endTurn"`)})
	}
	tracetest.RunCheck(t, catalogue, checkID, "refusal", tests)
}

func TestRetriesAreReported(t *testing.T) {
	limited := func(waits ...time.Duration) func(*session) {
		return func(s *session) {
			s.Asks(tracetest.Asking(tracetest.WhenOpen)).Fails(429)
			at := s.Trace.Events[len(s.Trace.Events)-1].At
			for _, w := range waits {
				s.Fails(429)
				at += w
				last := s.Trace.Events[len(s.Trace.Events)-2:]
				last[0].At, last[1].At = at, at
			}
			refuses(s)
		}
	}
	tracetest.RunCheck(t, catalogue, "provider-errors/retried", "rate-limited", []tracetest.Test{
		{Name: "no retry", CaseID: "overloaded", Verdict: report.Info,
			Message: "after an overloaded model the client did not retry", Steps: afterFailures(refuses, 529)},
		{Name: "two retries", CaseID: "server-error", Verdict: report.Info,
			Message: "after HTTP 500 the client retried: 3 requests", Steps: afterFailures(refuses, 500, 500, 500)},
		{Name: "retries in time", Verdict: report.Info, Message: "3 requests, no sooner than Retry-After",
			Steps: limited(950*time.Millisecond, 3*time.Second)},
		{Name: "a retry that is too early", Verdict: report.Info, Message: "3 requests, sooner than Retry-After",
			Steps: limited(3*time.Second, 500*time.Millisecond)},
		{Name: "no request to the model", Verdict: report.NotObserved, Message: notCalled, Steps: afterFailures(refuses)},
	})
}

func TestErrorCodesBlameNobodyElse(t *testing.T) {
	test := func(code int, verdict report.Verdict) tracetest.Test {
		return tracetest.Test{Name: fmt.Sprint(code), In: tracetest.InA, Verdict: verdict, Message: fmt.Sprint(code),
			Steps: afterFailures(func(s *session) { s.Refuses(code, "no").OtherwiseAnswers() }, 500)}
	}
	tests := []tracetest.Test{
		test(-32603, report.Pass), test(429, report.Pass),
		{Name: "no error is not judged", In: tracetest.InA, Verdict: report.NotApplicable, Message: "no error",
			Steps: afterFailures(returns(tracetest.Saying("Hm.")), 500)},
	}
	for code := range blamingCodes {
		tests = append(tests, test(code, report.Warn))
	}
	tracetest.RunCheck(t, catalogue, "provider-errors/error-code", "server-error", tests)
}

func TestClientsStayAliveAfterFailures(t *testing.T) {
	refusesAll := func(s *session) {
		refusesAndStops(s)
		s.CaseID, s.Samples = "other/case", 0
		s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: s.CaseID, Tool: "other-case"})
		s.Calls().Asks(tracetest.Asking("And?")).Refuses(-32603, "not again")
	}
	tracetest.RunCheck(t, catalogue, "provider-errors/alive", "unauthorized", []tracetest.Test{
		{Name: "a later response passes", Verdict: report.Pass, Message: "after HTTP 401 the client responded",
			Steps: afterFailures(refuses, 401)},
		{Name: "a crash fails", Verdict: report.Fail, Message: "after HTTP 401, found none: it exited with status 1",
			Steps: afterFailures(func(s *session) { s.Refuses(-32603, "no"); dies(s) }, 401)},
		{Name: "a client that hangs is not judged", Verdict: report.NotObserved,
			Message: "found none after 1 request to the model", Steps: afterFailures(hangs, 401)},
		{Name: "a later error is not judged", In: tracetest.InA, Verdict: report.NotObserved,
			Message: `"not again" (code -32603)`, Steps: afterFailures(refusesAll, 401)},
		{Name: "no later call is not judged", Verdict: report.NotObserved, Message: "the client called no other tool",
			Steps: afterFailures(refusesAndStops, 401)},
		{Name: "tools in another order are not judged", Verdict: report.Unsupported, Message: "in the order of tools/list",
			Steps: func(s *session) { s.PassesBarrier(); afterFailures(refusesAndStops, 401)(s) }},
		{Name: "an interrupted run is not judged", In: tracetest.InA, Verdict: report.NotObserved, Message: "interrupted",
			Steps: afterFailures(func(s *session) {
				s.Refuses(-32603, "no").Marks(trace.MarkHandlerEnded, "").Ends(trace.Process{Interrupted: true})
			}, 401)},
	})
}
