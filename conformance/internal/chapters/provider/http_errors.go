package provider

import (
	"fmt"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// Errors that last. Some providers quote the key, as this HTTP 403 does, or name the account, as HTTP 429 does.
var permanentErrors = []harness.Case{
	httpError("unauthorized", 0, llm.Error{Status: http.StatusUnauthorized, Code: "invalid_api_key",
		Message: "Incorrect API key provided. You can find your key in the settings of your account."}),
	httpError("forbidden", 0, forbidden),
	httpError("not-found", 0, llm.Error{Status: http.StatusNotFound, Code: "model_not_found",
		Message: "The model does not exist, or you do not have access to it."}),
	withResults(),
}

var forbidden = llm.Error{Status: http.StatusForbidden,
	Message: "Permission denied: the consumer of api_key:" + leak.PlantedKey + " has been suspended."}

// badRequest is an error that the server may have caused, by the parameters of its request.
var badRequest = []harness.Case{httpError("bad-request", 0, llm.Error{Status: http.StatusBadRequest,
	Message: "This model does not take this combination of parameters."})}

// The provider fails after the model used a tool.
func withResults() harness.Case {
	c := failing("forbidden-with-results", failure{name: "HTTP 403 for tool results", before: 1},
		llm.When(llm.ToolResults(0)).Reply(story.Calls([]string{"Oslo"})...), llm.When().Fail(&forbidden))
	c.Revisions = check.WithTools
	c.Handler = func(s *server.Session) (any, error) {
		return story.TwoRounds(s, s.Ask("When does the bridge open?", story.GetWeather), story.Texts("too windy for now"))
	}
	return c
}

// Errors that may pass, so that a client may retry. Here every retry fails. Only Anthropic has a status of its own
// for an overloaded model.
var temporaryErrors = []harness.Case{
	httpError("rate-limited", retryTime, rateLimit),
	httpError("server-error", retryTime, llm.Error{Status: http.StatusInternalServerError,
		Message: "Traceback (most recent call last):\n  File \"" + InternalCode + "\", line 218, in dispatch\n" +
			"    raise Unreachable(host)\nUnreachable: " + InternalHost + ":8443 did not answer"}),
	failing("overloaded", failure{name: "an overloaded model", retries: retryTime},
		llm.When(inDialect(dialect.Anthropic)).Fail(&llm.Error{Status: 529, Message: "Overloaded"}),
		llm.When().Fail(&llm.Error{Status: http.StatusServiceUnavailable,
			Message: "The model is overloaded. Please try again later."})),
	failing("reset", failure{name: "a connection reset", retries: retryTime},
		llm.When().Fault(llm.ResetBeforeHeaders())),
}

// singleRateLimit is a rate limit that is over at the first retry.
var singleRateLimit = []harness.Case{
	failing("rate-limited-once", failure{name: "a single HTTP 429"},
		llm.When().Fail(&rateLimit).Times(1), llm.When().Reply(llm.Text(Answer))),
}

// retryTime is enough for retries that all fail: the SDKs of providers wait about 0.5 s and 1 s, others 1, 2 and 4 s.
const retryTime = 10 * time.Second

// retryAfter is what the provider asks for, in seconds.
const retryAfter = 1

var rateLimit = llm.Error{
	Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Header: llm.RetryAfter(retryAfter),
	Message: "Rate limit reached for requests per minute in organization " + leak.PlantedAccount +
		". Please try again in 1s.",
}

func httpError(id string, retries time.Duration, e llm.Error) harness.Case {
	unauthorized := e.Status == http.StatusUnauthorized
	f := failure{name: fmt.Sprintf("HTTP %d", e.Status), noAccount: unauthorized, retries: retries}
	return failing(id, f, llm.When().Fail(&e))
}

// inDialect matches requests in one dialect.
func inDialect(name string) llm.Matcher {
	return llm.MatcherFunc(func(r *llm.Request) error {
		if r.Dialect != name {
			return fmt.Errorf("expected the dialect %s, found %s", name, r.Dialect)
		}
		return nil
	})
}

var isError = check.Check{
	ID: "is-error", Cases: names(permanentErrors, badRequest, temporaryErrors, singleRateLimit),
	Rule:   "If the provider fails, the client returns an error and does not invent an answer",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{resultDespiteFailure},
	Cause: "the handler returns the provider's error text, or an empty text, as the assistant's message",
	Fix: "Return an error if the provider returned no answer. Since 2026-07-28 do not retry the call: " +
		"leave its input request unfulfilled.",
	Judge: func(e *evidence.Case) check.Verdict {
		if failedRound(e).AnsweredWhole() {
			return succeeded(e)
		}
		return invented(e)
	},
}

var errorCode = check.Check{
	ID: "error-code", Cases: names(permanentErrors, temporaryErrors, cuts),
	Rule:   "The error for a provider's failure does not blame the server or the user",
	Levels: check.InLegacy(report.Advice), Requests: 1, Needs: []check.Need{modelCalled},
	Cause: "the handler returns one code, such as invalid params or the user's refusal, for every error",
	Fix:   "Return -32603, or a code of your own, for a failure that the server did not cause.",
	Judge: func(e *evidence.Case) check.Verdict {
		answers := failedRound(e).Answers
		if len(answers) == 0 || answers[0].Err == nil {
			return check.NotApplicable("the client returned no error")
		}
		a := answers[0]
		if meaning, blames := BlamingCodes[a.Err.Code]; blames {
			return check.Fail("expected -32603 or a code of the client's own after %s, found %d (%s)",
				failureOf(e), a.Err.Code, meaning).
				Show(a.At("code"), "%d", a.Err.Code).Show(a.At("message"), "%q", a.Err.Message)
		}
		return check.Pass("the error has the code %d", a.Err.Code).Show(a.At("code"), "%d", a.Err.Code)
	},
}

// BlamingCodes are the codes that blame the user or the server, with their meaning.
var BlamingCodes = map[int]string{
	-1:     "the user refused",
	-32700: "parse error",
	-32600: "invalid request",
	-32601: "method not found",
	-32602: "invalid params",
}

var retried = check.Check{
	ID: "retried", Cases: names(temporaryErrors, singleRateLimit),
	Rule:   "Reports whether and when the client retries after a temporary failure of the provider",
	Levels: check.May, Requests: 1, Needs: []check.Need{modelCalled},
	Cause: "the client decides whether and how often it retries",
	Fix:   "Wait as long as Retry-After says, and stop after a few retries.",
	Judge: func(e *evidence.Case) check.Verdict {
		calls, f := e.Rounds[0].Model, failureOf(e)
		switch len(calls) {
		case 0:
			return check.NotApplicable("unknown which of several concurrent calls of the tool called the model")
		case 1:
			return check.Info("after %s the client did not retry", f).At(calls[0].Place)
		}
		v := check.Info("after %s the client retried: %s%s", f, count(calls), againstRetryAfter(e))
		for _, x := range calls[:min(len(calls), 3)] {
			v = v.Show(x.Place, "%s", ending(x))
		}
		return v
	},
}

// againstRetryAfter compares the client's retries with Retry-After; "" if the client did not receive it.
func againstRetryAfter(e *evidence.Case) string {
	const least = retryAfter * time.Second * 9 / 10 // timers and clocks differ a little
	events, calls := e.Session.Trace.Events, e.Rounds[0].Model
	limited := false
	for i, x := range calls[:len(calls)-1] {
		if x.End.Status != http.StatusTooManyRequests {
			continue
		}
		if events[calls[i+1].Began].At-events[x.Behind].At < least {
			return ", sooner than Retry-After allows"
		}
		limited = true
	}
	if !limited {
		return ""
	}
	return ", no sooner than Retry-After allows"
}
