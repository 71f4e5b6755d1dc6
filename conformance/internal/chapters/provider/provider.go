package provider

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// What a provider lets out of itself when it fails: where it runs, where in its code it broke, and which machine stood before it.
const (
	internalHost = "inference-q7x2.planted.internal"
	internalCode = "/srv/gateway/route_k9v4.py"
	frontMachine = "planted-9f3ad1c07be24-ZRH"
)

const (
	// provided is what the model would say, were it let; a connection that ends in the middle ends before the last of it.
	provided = "The bridge opens at six in the morning for carts, at seven for coaches, and at eight for everybody else."
	// letThrough is as much of it as a content filter leaves.
	letThrough = "The bridge opens at"
	// declining is how the model refuses.
	declining = "I am sorry, but I cannot help with that."
)

// retrying is how long clients are given to try again, where each try fails: the SDKs of providers wait about 0.5 s and 1 s, others 1, 2 and 4 s.
// A case in which they may do so waits beside the others, which a try that helps is not worth.
const retrying = 10 * time.Second

// fronted is what stands before the provider, as a content delivery network does: a cookie for a domain of its own, and its name.
var fronted = http.Header{
	"Set-Cookie": {"__cf_bm=" + harness.PlantedCookie + "; path=/; domain=.provider.example; HttpOnly; Secure; SameSite=None"},
	"Cf-Ray":     {frontMachine},
}

// failure is a case in which the model does not answer as it should.
type failure struct {
	id string
	// called is what it is called in messages.
	called string
	// wait is the time that a client may take to try again.
	wait  time.Duration
	rules []*llm.Rule
	// unknown is true where the provider does not know whose account it is.
	unknown bool
}

// statuses are what providers say instead of an answer. The one that quotes the key, and the one that names the account, are as some
// providers have them: their words are not for the server.
var statuses = []failure{
	{id: "unauthorized", called: "a 401", unknown: true, rules: fails(&llm.Error{Status: http.StatusUnauthorized, Code: "invalid_api_key",
		Message: "Incorrect API key provided. You can find your key in the settings of your account."})},
	{id: "forbidden", called: "a 403", rules: fails(&llm.Error{Status: http.StatusForbidden,
		Message: "Permission denied: the consumer of api_key:" + harness.PlantedKey + " has been suspended."})},
	{id: "not-found", called: "a 404", rules: fails(&llm.Error{Status: http.StatusNotFound, Code: "model_not_found",
		Message: "The model does not exist, or you do not have access to it."})},
	{id: "bad-request", called: "a 400", rules: fails(&llm.Error{Status: http.StatusBadRequest,
		Message: "This model does not take this combination of parameters."})},
	{id: "rate-limited", called: "a 429", wait: retrying, rules: fails(tooMany)},
	{id: "server-error", called: "a 500", wait: retrying, rules: fails(&llm.Error{Status: http.StatusInternalServerError,
		Message: "Traceback (most recent call last):\n  File \"" + internalCode + "\", line 218, in dispatch\n    raise Unreachable(host)\n" +
			"Unreachable: " + internalHost + ":8443 did not answer"})},
	// Anthropic alone has a status of its own for it.
	{id: "overloaded", called: "an overloaded model", wait: retrying, rules: llm.Script(
		llm.When(askedIn(dialect.Anthropic)).Fail(&llm.Error{Status: 529, Message: "Overloaded"}),
		llm.When().Fail(&llm.Error{Status: http.StatusServiceUnavailable, Message: "The model is overloaded. Please try again later."}))},
	{id: "reset", called: "a connection that is reset", wait: retrying, rules: llm.Script(llm.When().Fault(llm.ResetBeforeHeaders()))},
}

// once429 is a limit that is over with the next try.
var once429 = failure{id: "rate-limited-once", called: "one 429", rules: llm.Script(
	llm.When().Fail(tooMany).Once(), llm.When().Reply(llm.Text(provided)))}

var tooMany = &llm.Error{Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Header: llm.RetryAfter(retryAfter),
	Message: "Rate limit reached for requests per minute in organization " + harness.PlantedAccount + ". Please try again in 1s."}

// retryAfter is what the provider asks to be given before the next try, in seconds.
const retryAfter = 1

// cuts are answers that end before their end.
var cuts = []failure{
	{id: "reset-midway", called: "a connection that is reset in the middle of the answer", rules: breaksOff(llm.ResetAfter(6))},
	{id: "truncated-stream", called: "an answer that ends too soon", rules: breaksOff(llm.TruncateAfter(6))},
	{id: "truncated-json", called: "an answer that ends within its JSON", rules: breaksOff(llm.TruncateInside(6))},
	{id: "error-midway", called: "an error in the middle of the answer", rules: breaksOff(llm.ErrorAfter(6, &llm.Error{Status: http.StatusInternalServerError, Message: "The model was interrupted."}))},
}

// unwillings are answers that the model, or its provider, does not want to give.
var unwillings = []failure{
	{id: "content-filter", called: "a content filter", rules: llm.Script(llm.When().Reply(llm.Text(letThrough)).StopReason(llm.StopContentFilter))},
	{id: "refusal", called: "a refusal", rules: llm.Script(llm.When().Reply(llm.Text(declining)).StopReason(llm.StopRefusal))},
}

func fails(e *llm.Error) []*llm.Rule { return llm.Script(llm.When().Fail(e)) }

func breaksOff(f llm.Fault) []*llm.Rule {
	return llm.Script(llm.When().Reply(llm.Text(provided)).Fault(f))
}

// askedIn matches requests in one dialect.
func askedIn(name string) llm.Matcher {
	return llm.MatcherFunc(func(r *llm.Request) error {
		if r.Dialect != name {
			return fmt.Errorf("the dialect is %s: want %s", r.Dialect, name)
		}
		return nil
	})
}

// The provider fails in every way that providers do: it refuses, breaks down, breaks off, and does not want to. What it says on the way is
// not for the server, and secrets are planted in all of it.
var Scenario = check.Scenario{
	ID:        "provider-errors",
	Purpose:   "the model's provider fails, or does not want to answer",
	Revisions: check.AllRevisions(),
	Cases:     failureCases(),
	Checks:    []check.Check{failureIsError, failedMRTR, partialNotWhole, refusalTold, askedAgain, errorCode, aliveAfterFailure, noSecret, noUpstreamBody},
}

func allFailures() []failure {
	return slices.Concat(statuses, []failure{once429}, cuts, unwillings)
}

func failureCases() []harness.Case {
	var cases []harness.Case
	for _, f := range allFailures() {
		cases = append(cases, harness.Case{
			ID:      check.ProviderPrefix + f.id,
			Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("When does the bridge open?")) },
			Script:  func(string) []*llm.Rule { return f.planted() },
			Wait:    f.wait,
			Barrier: true, // in the second era a client says nothing of a failure
		})
	}
	return cases
}

// planted are the failure's rules, with what is planted in every answer.
func (f *failure) planted() []*llm.Rule {
	rules := make([]*llm.Rule, len(f.rules))
	for i, r := range f.rules {
		own := *r
		rules[i] = own.Header(fronted)
		if !f.unknown {
			rules[i].Account(harness.PlantedAccount)
		}
	}
	return rules
}

// failureOf is the failure that a case is about.
func failureOf(e *evidence.Case) failure {
	all := allFailures()
	return all[slices.IndexFunc(all, func(f failure) bool { return check.ProviderPrefix+f.id == e.Case.ID })]
}

// idsOf are the cases of failures, without the scenario.
func idsOf(lists ...[]failure) []string {
	var ids []string
	for _, f := range slices.Concat(lists...) {
		ids = append(ids, f.id)
	}
	return ids
}
