package chapters_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/provider"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

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

// providerRefuses is an error response, after which the client goes on. returns is a result in its place.
func providerRefuses(s *session) { s.Refuses(-32603, "the model is down").OtherwiseAnswers() }

func providerReturns(result string) func(*session) {
	return func(s *session) { s.Answers(result).OtherwiseAnswers() }
}

func refusesAndStops(s *session) { s.Refuses(-32603, "no") }

// backingOff lets the model fail, with these seconds between the requests and before the end.
func backingOff(waits ...int) func(*session) {
	return func(s *session) {
		s.Asks(tracetest.Asking(tracetest.WhenOpen))
		for _, wait := range waits {
			s.Fails(500).Later(time.Duration(wait) * time.Second)
		}
		providerHangs(s)
	}
}

func providerHangs(s *session) { s.Ends(trace.Process{Deadline: true}) }

const providerRefused = `"the model is down" (code -32603)`

func TestIsErrorRejectsInventedAnswers(t *testing.T) {
	apology := providerReturns(tracetest.Saying("Sorry, something went wrong."))
	providerJudges(t, "is-error", "server-error",
		legacy(passes("an error passes",
			afterFailures(providerRefuses, 500), "HTTP 500 the client returned no answer: "+providerRefused)),
		modern(passes("an unfulfilled input request passes", afterFailures(providerRefuses, 500), tracetest.NotFulfilled)),
		legacy(passes("an error after retries passes", afterFailures(providerRefuses, 500, 500, 500), providerRefused)),
		passes("an answer after a retry passes",
			afterFailures(providerReturns(tracetest.Saying(provider.Answer)), 500, 200), "after HTTP 500 the client retried"),
		fails("an empty answer fails",
			afterFailures(providerReturns(tracetest.Saying("")), 500, 500),
			"expected no result after HTTP 500, found an empty answer"),
		about("unauthorized", fails("an apology fails", afterFailures(apology, 401), "after HTTP 401, found an answer")),
		about("reset", fails("an answer after a reset fails",
			afterFailures(apology, 0), "a connection reset, found an answer")),
		fails("an error as a result fails",
			afterFailures(providerReturns(`{"error":{"code":-32603,"message":"no"}}`), 500), "a result without content"),
		modern(fails("an empty object fails", afterFailures(providerReturns(`{}`), 500), "a result without content")),
		inapplicable("a client that does not call the model is not judged", afterFailures(apology), "answers by itself"),
		legacy(unobserved("a client that answers nothing at all is not judged",
			afterFailures(refusesAndStops, 500), `error response to request 1: "no" (code -32603)`)),
		unobserved("a client that retries until the end is not judged",
			afterFailures(providerHangs, 500, 500, 500), "after 3 requests to the model"),
		unsupported("a client that waits longer before each retry is not judged", backingOff(1, 2, 4),
			"the client's time was up before the case was over (see client/ends-cleanly)"),
		unsupported("a client that still waits longer than before is not judged", backingOff(2, 3, 5),
			"the client's time was up"),
		unobserved("a steady pace is not", backingOff(2, 2, 3), "after 3 requests"),
		unobserved("a hang after retries is not", backingOff(1, 2, 9), "after 3 requests"),
		unobserved("the message counts to ten",
			afterFailures(providerHangs, make([]int, 11)...), "after more than 10 requests to the model"),
	)
}

func TestPartialAnswersAreNotComplete(t *testing.T) {
	cutOff := func(then func(*session)) func(*session) {
		return func(s *session) { s.Asks(tracetest.Asking(tracetest.WhenOpen)).BreaksOff(); then(s) }
	}
	stopped := func(text, reason string) func(*session) {
		return cutOff(providerReturns(tracetest.With(tracetest.Saying(text), "stopReason", reason)))
	}
	const half = "The bridge opens at six"
	const complete = "a truncated answer, found its first part returned as a complete answer"
	providerJudges(t, "partial-not-whole", "truncated-stream",
		legacy(passes("an error passes", cutOff(providerRefuses), providerRefused)),
		modern(passes("an unfulfilled input request passes", cutOff(providerRefuses), tracetest.NotFulfilled)),
		passes("an own stop reason passes", stopped(half, `"cutOff"`), "incomplete: cutOff"),
		passes("an own stop reason and a note pass",
			stopped("The bridge… [interrupted]", `"error"`), "incomplete: error"),
		passes("an own stop reason without text passes", stopped("", `"error"`), "incomplete: error"),
		fails("an own stop reason and another text fail",
			stopped("Error: the stream ended.", `"error"`), "found another text"),
		legacy(fails("a result without content fails", cutOff(providerReturns(`{}`)), "a result without content")),
		fails("an end of the turn fails", stopped(half, `"endTurn"`), complete),
		fails("a missing stop reason fails", stopped(half, ""), complete),
		fails("an empty text fails", stopped("", `"endTurn"`), "found an empty text returned as a complete answer"),
		warns("the token limit as the reason warns", stopped(half, `"maxTokens"`), "maxTokens"),
		passes("an answer after a retry passes",
			cutOff(func(s *session) { s.Fails(200); providerReturns(tracetest.Saying(provider.Answer))(s) }),
			"retried and received an answer"),
		about("error-midway", fails("an answer after an HTTP error fails",
			afterFailures(providerReturns(tracetest.Saying("")), 500), "found an empty answer")),
		unobserved("no response is not judged", cutOff(func(*session) {}), tracetest.NoAnswer),
	)
}

func TestRefusalsAreTold(t *testing.T) {
	after := func(said string, then func(*session)) func(*session) {
		return func(s *session) {
			s.Asks(tracetest.Asking(tracetest.WhenOpen)).Prompting(trace.ModelEnd{Status: 200}, said)
			then(s)
		}
	}
	stopped := func(said, text, reason string) func(*session) {
		return after(said, providerReturns(tracetest.With(tracetest.Saying(text), "stopReason", reason)))
	}
	const (
		stop     = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
		heldBack = `{"choices":[{"message":{"content":"The"},"finish_reason":"content_filter"}]}`
		passedOn = "the text of the refusal is passed on"
	)
	const checkID = "refusal-told"
	providerJudges(t, checkID, "content-filter",
		passes("the provider's reason passes", stopped(heldBack, provider.Filtered, `"content_filter"`), "content_filter"),
		legacy(passes("an error passes",
			after(heldBack, providerRefuses), "a content filter the client returned no answer: "+providerRefused)),
		fails("an end of the turn fails", stopped(heldBack, provider.Filtered, `"endTurn"`),
			"for a content filter, found endTurn"),
		fails("the token limit as the reason fails", stopped(heldBack, provider.Filtered, `"maxTokens"`), "found maxTokens"),
		warns("a missing reason warns", stopped(heldBack, provider.Filtered, ""), "found none"),
		tracetest.InOpenAI(inapplicable("a provider without a reason is not judged",
			stopped(stop, provider.Filtered, `"endTurn"`), "no stop reason for a content filter")),
	)
	providerJudges(t, checkID, "refusal",
		passes("a reason passes", stopped(stop, "", `"refusal"`), "refusal"),
		tracetest.InOpenAI(fails("a lost refusal fails", stopped(stop, "", `"endTurn"`), "found neither")),
		tracetest.InOpenAI(passes("the text passes where the provider has no reason",
			stopped(stop, provider.RefusalText, `"endTurn"`), passedOn)),
		fails("an end of the turn fails if the provider has a reason",
			stopped(`{"stop_reason":"refusal"}`, provider.RefusalText, `"endTurn"`), "for a refusal, found endTurn"),
		unobserved("unreadable content is not judged",
			after(stop, providerReturns(tracetest.Without(tracetest.Saying(""), "content"))), tracetest.NoContent),
	)
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
			providerRefuses(s)
		}
	}
	providerJudges(t, "retried", "rate-limited",
		about("overloaded", informs("no retry",
			afterFailures(providerRefuses, 529), "after an overloaded model the client did not retry")),
		about("server-error", informs("two retries",
			afterFailures(providerRefuses, 500, 500, 500), "after HTTP 500 the client retried: 3 requests")),
		informs("retries in time",
			limited(950*time.Millisecond, 3*time.Second), "3 requests, no sooner than Retry-After"),
		informs("a retry that is too early",
			limited(3*time.Second, 500*time.Millisecond), "3 requests, sooner than Retry-After"),
		unobserved("no request to the model", afterFailures(providerRefuses), "received nothing with the mark of the case"),
	)
}

func TestErrorCodesBlameNobodyElse(t *testing.T) {
	test := func(code int, verdict report.Verdict) tracetest.Test {
		return tracetest.Test{Name: fmt.Sprint(code), In: tracetest.InA, Verdict: verdict, Message: fmt.Sprint(code),
			Steps: afterFailures(func(s *session) { s.Refuses(code, "no").OtherwiseAnswers() }, 500)}
	}
	tests := []tracetest.Test{
		test(-32603, report.Pass), test(429, report.Pass),
		{Name: "no error is not judged", In: tracetest.InA, Verdict: report.NotApplicable, Message: "no error",
			Steps: afterFailures(providerReturns(tracetest.Saying("Hm.")), 500)},
	}
	for code := range provider.BlamingCodes {
		tests = append(tests, test(code, report.Warn))
	}
	providerJudges(t, "error-code", "server-error", tests...)
}

func TestClientsStayAliveAfterFailures(t *testing.T) {
	refusesAll := func(with string) func(*session) {
		return func(s *session) {
			refusesAndStops(s)
			s.CaseID, s.Samples = "other/case", 0
			s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: s.CaseID, Tool: "other-case"})
			s.Calls().Asks(tracetest.Asking("And?")).Refuses(-32603, with)
		}
	}
	providerJudges(t, "alive", "unauthorized",
		passes("a later response passes", afterFailures(providerRefuses, 401), "after HTTP 401 the client responded"),
		fails("a crash fails", afterFailures(func(s *session) { s.Refuses(-32603, "no"); providerDies(s) }, 401),
			"after HTTP 401, found none: it exited with status 1"),
		unobserved("a client that hangs is not judged", afterFailures(providerHangs, 401),
			"found none after 1 request to the model"),
		legacy(unobserved("a later error is not judged", afterFailures(refusesAll("not again"), 401),
			`"not again" (code -32603)`)),
		legacy(unsupported("a client that pauses is not judged",
			afterFailures(refusesAll("the circuit breaker is open"), 401), "the client asks no model for a while")),
		unobserved("no later call is not judged", afterFailures(refusesAndStops, 401), "the client called no other tool"),
		unsupported("tools in another order are not judged",
			func(s *session) { s.PassesBarrier(); afterFailures(refusesAndStops, 401)(s) }, "in the order of tools/list"),
		legacy(unobserved("an interrupted run is not judged", afterFailures(func(s *session) {
			s.Refuses(-32603, "no").Marks(trace.MarkHandlerEnded, "").Ends(trace.Process{Interrupted: true})
		}, 401), "interrupted")),
	)
}
