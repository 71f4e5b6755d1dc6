package mrtr

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// The server asks for two samples in one result.
var several = harness.Case{ID: "mrtr/several", Script: story.Says("A goose."), Barrier: true,
	Handler: func(s *server.Session) (any, error) {
		for _, answer := range s.SampleAll(s.Ask("Name a bird."), s.Ask("Name a fish.")) {
			if answer.Err != nil {
				return nil, answer.Err
			}
		}
		return "done", nil
	}}

// The server asks for a sample and for roots, or for elicitation if the client declares no roots. The params of
// roots/list are optional.
var (
	mixed     = besideSample("mrtr/mixed", `{"method":"roots/list","params":{}}`)
	bareInput = besideSample("mrtr/bare-input", `{"method":"roots/list"}`)
)

func besideSample(id, roots string) harness.Case {
	return harness.Case{ID: id, Script: story.Says("A swan."),
		Expect: asksNothing("the client declares neither roots nor elicitation"),
		Handler: ifSampling(func(s *server.Session) (any, error) {
			beside := json.RawMessage(roots)
			switch {
			case s.Declares("roots"):
			case s.Declares("elicitation"):
				beside = elicitation
			default:
				return "The client declares neither roots nor elicitation.", nil
			}
			return askFor(s, "two kinds", map[string]any{"sample": inputRequest(s.Ask("Name a bird.")), "beside": beside})
		})}
}

var elicitation = json.RawMessage(`{"method":"elicitation/create","params":{"mode":"form","message":"May I?",` +
	`"requestedSchema":{"type":"object","properties":{"may":{"type":"boolean"}}}}}`)

// The results of prompts/get and resources/read may ask for input, too.
var (
	prompt   = carriedBy(server.PromptsGet, "mrtr/prompt")
	resource = carriedBy(server.ResourcesRead, "mrtr/resource")
)

func carriedBy(carrier server.Carrier, id string) harness.Case {
	return harness.Case{ID: id, Carrier: carrier, Script: story.Says("A heron."),
		Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Name a bird.")) }}
}

// retryCases are the cases in which a correct client retries after each result that asks for input.
var retryCases = []string{"several", "mixed", "states", "big-state", "empty-state", "no-state", "five-rounds"}

var retried = check.Check{
	ID: "retried", Rule: "The client retries a request whose result asks for input", Levels: robust,
	Cases: append([]string{"bare-input"}, retryCases...), Needs: needsInput,
	Cause: "the client returns the result to its caller as complete, or supports only one input request per result",
	Fix:   "Fulfil all input requests. Then send the same request again with inputResponses and requestState.",
	Judge: func(e *evidence.Case) check.Verdict {
		from := e.InputRequiredResults()[0]
		if len(from.Retries) > 0 {
			return check.Pass("the client retried the request").At(from.Retries[0].Place)
		}
		if v := modelAnswered(e); v != nil {
			return *v
		}
		if calls := e.Session.Calls[e.Case.ID]; len(calls) > 1 {
			return check.Fail("expected a retry with inputResponses and requestState, found a new call without them").
				At(from.InputRequired.Place, calls[1].CallPlace())
		}
		return check.Fail("expected a retry with input, found none%s", e.Died()).
			Show(from.InputRequired.Place, "asked for: %s", strings.Join(from.InputRequired.Keys(), ", ")).ShowOutput(e.Session)
	},
}

var everyKey = check.Check{
	ID: "every-key", Rule: "A retry MUST contain a response under every key of inputRequests", Levels: must,
	Cases: retryCases, Statements: []string{"2026-07-28/mrtr/22"}, Needs: needsInput,
	Cause: "the client fulfils only one input request, or only those of one kind, or it uses keys of its own",
	Fix:   "Build inputResponses from the keys of inputRequests. Retry only when every key has a response.",
	Judge: eachRetry("every key has a response", asksForInput, func(_ *evidence.Case, from, retry *request) check.Verdict {
		asked := from.InputRequired
		for _, key := range asked.Keys() {
			if !retry.Responses.Has(key) {
				return check.Fail("expected a response under the key %q (%s) in the retry, found none", key, asked.Requests[key]).
					ShowAs("server asked", asked.At("inputRequests"), "%s", strings.Join(asked.Keys(), ", ")).
					ShowAs("client sent", retry.At("inputResponses"), "%s", check.OrMissing(retry.Params["inputResponses"]))
			}
		}
		return noFault
	}),
}

// inputResults are the types of the responses, by the method of the input request.
var inputResults = map[string]schema.Name{"sampling/createMessage": schema.CreateMessageResult,
	"roots/list": "ListRootsResult", "elicitation/create": "ElicitResult"}

var answersValid = check.Check{
	ID: "answers-valid", Rule: "Each input response MUST be a valid result of its input request", Levels: must,
	Cases: retryCases, Statements: check.ResultSchema, Needs: needsInput,
	Cause: "the client wraps the result as in a JSON-RPC response, or sends an error in its place",
	Fix:   "Put the CreateMessageResult itself under the key. If there is no result, do not retry.",
	Judge: eachRetry("the responses are valid", asksForInput, func(e *evidence.Case, from, retry *request) check.Verdict {
		for _, key := range from.InputRequired.Keys() {
			name, known := inputResults[from.InputRequired.Requests[key]]
			answer := retry.Responses[key]
			if !known || answer == nil {
				continue
			}
			if err := schema.Validate(string(e.Revision), name, answer); err != nil {
				why := err.Error()
				var invalid *schema.Error
				if errors.As(err, &invalid) {
					why = strings.TrimPrefix(invalid.Path+": "+invalid.Message, ": ")
				}
				return check.Fail("expected a valid %s under the key %q, found an invalid one", name, key).
					ShowJSON(retry.At(fmt.Sprintf("inputResponses[%q]", key)), answer).
					Show(evidence.Place{Label: "schema"}, "%s", why)
			}
		}
		return noFault
	}),
}

var newID = check.Check{
	ID: "new-id", Rule: "A retry MUST have a new JSON-RPC id", Levels: must, Cases: retryCases,
	Statements: []string{"2026-07-28/mrtr/27"}, Needs: needsInput,
	Cause: "the client sends the stored request again with its old id",
	Fix:   "Generate a new id for every retry.",
	Judge: eachRetry("every retry has a new id", nil, func(e *evidence.Case, _, retry *request) check.Verdict {
		for _, earlier := range e.CarryingRequests {
			if earlier == retry {
				break
			}
			if evidence.SameID(earlier.ID, retry.ID) {
				return check.Fail("expected a new id in the retry, found the id %s of an earlier request", retry.ID).
					Show(idOf(earlier), "%s", earlier.ID).Show(idOf(retry), "%s", retry.ID)
			}
		}
		return noFault
	}),
}

func idOf(r *request) evidence.Place { return evidence.Place{Ref: r.Ref, Path: "id", Label: r.Label} }

var sameParams = check.Check{
	ID: "same-params", Rule: "A retry MUST repeat the method, the name or uri, and the arguments of the request",
	Levels: must, Cases: retryCases, Statements: []string{"2026-07-28/mrtr/22"}, Needs: needsInput,
	Cause: "the client omits the arguments in the retry, or shares the params with another call",
	Fix:   "Keep the params of the call. Add inputResponses and requestState to a copy of them.",
	Judge: eachRetry("the retries repeat the request", nil, func(e *evidence.Case, _, retry *request) check.Verdict {
		call := e.CarryingRequests[0]
		differ := func(member string, was, is json.RawMessage) check.Verdict {
			return check.Fail("expected the %s of the call in the retry, found another value", member).
				ShowAs("call", call.At(member), "%s", check.OrMissing(was)).
				ShowAs("retry", retry.At(member), "%s", check.OrMissing(is))
		}
		if call.Method != retry.Method {
			return differ("method", dialect.Marshal(call.Method), dialect.Marshal(retry.Method))
		}
		for _, member := range []string{"name", "uri", "arguments"} {
			was, is := call.Params[member], retry.Params[member]
			if !evidence.SameJSON(orEmpty(was), orEmpty(is)) {
				return differ(member, was, is)
			}
		}
		return noFault
	}),
}

// orEmpty replaces a missing or null value by an empty object: a tool sees no difference.
func orEmpty(raw json.RawMessage) json.RawMessage {
	if raw == nil || string(raw) == "null" {
		return json.RawMessage(`{}`)
	}
	return raw
}

var retriesOnce = check.Check{
	ID: "retries-once", Rule: "The client sends one retry per result", Levels: robust, Cases: retryCases,
	Needs: needsInput,
	Cause: "both the library and its host retry",
	Fix:   "Retry in one place only.",
	Judge: eachRetry("every result got one retry", nil, func(_ *evidence.Case, from, retry *request) check.Verdict {
		if from.Retries[0] == retry {
			return noFault
		}
		return check.Fail("expected 1 retry per result, found %d", len(from.Retries)).
			At(from.InputRequired.Place, from.Retries[0].Place, retry.Place)
	}),
}

var promptsAndResources = check.Check{
	ID: "prompts-and-resources", Rule: "The client retries prompts/get and resources/read with input, like tools/call",
	Levels: robust, Cases: []string{"prompt", "resource"}, Requests: 1, Needs: []check.Need{inputRequired, modelAnswered},
	Cause: "the client looks for input requests only in the results of tools",
	Fix:   "Handle the results of all three requests alike.",
	Judge: func(e *evidence.Case) check.Verdict {
		from := e.InputRequiredResults()[0]
		if len(from.Retries) == 0 {
			return check.Fail("expected a retry of %s with input, found none", from.Method).
				At(from.InputRequired.Place).ShowOutput(e.Session)
		}
		if v := judgeState(e, from, from.Retries[0]); v.Kind != "" {
			return v
		}
		for _, c := range []check.Check{everyKey, newID, sameParams} {
			if v := c.Judge(e); v.Kind != report.Pass {
				return v
			}
		}
		return check.Pass("the client retried %s with input", from.Method).At(from.Retries[0].Place)
	},
}

var requestIDs = check.Check{
	ID: "request-ids", Rule: "The id of a request MUST be a string or an integer", Levels: must, Whole: true,
	Cases: []string{"several"}, Statements: []string{"2026-07-28/basic/02", "2026-07-28/basic/03"},
	Cause: "the id is unset and becomes null, or it is a fraction, such as a time",
	Fix:   "Count the requests, or generate a new string for each.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Session.Requests {
			if !validID(r.ID) {
				return check.Fail("expected a string or an integer as the id of %s, found another value", r.Method).
					Show(evidence.Place{Ref: r.Ref, Path: "id", Label: r.Method}, "%s", r.ID)
			}
		}
		if len(e.Session.Requests) == 0 {
			return check.NotObserved("the client sent no request")
		}
		return check.Pass("all ids are strings or integers")
	},
}

// validID reports whether an id is a string, or a number with an integer value in any notation.
func validID(id json.RawMessage) bool {
	if id[0] == '"' {
		var text string
		return json.Unmarshal(id, &text) == nil
	}
	var number json.Number
	if json.Unmarshal(id, &number) != nil || string(id) == "null" {
		return false
	}
	f, _, err := big.ParseFloat(string(number), 10, 512, big.ToNearestEven)
	return err == nil && f.IsInt()
}

// tooManyRounds is more than any reasonable limit: a client that completes them has none.
const tooManyRounds = 100

var (
	fiveRounds = inRounds(harness.Case{ID: "mrtr/five-rounds"}, 5)
	forEver    = inRounds(harness.Case{ID: "mrtr/for-ever", Barrier: true}, tooManyRounds)
)

// inRounds asks for one sample per round. The checks compare with the number of rounds.
func inRounds(c harness.Case, rounds int) harness.Case {
	c.Script, c.Expect = story.Says("Another one."), rounds
	c.Handler = func(s *server.Session) (any, error) {
		for range rounds {
			if _, err := s.Sample(s.Ask("And another one?")); err != nil {
				return nil, err
			}
		}
		return "That is enough.", nil
	}
	return c
}

var rounds = check.Check{
	ID: "rounds", Rule: "The client continues a call whose retry asks for input again", Levels: robust,
	Cases: []string{"five-rounds"}, Requests: 1, Needs: []check.Need{inputRequired, someRetry},
	Cause: "the client takes the result of a retry as complete",
	Fix:   "Handle the result of a retry like that of the call, up to a limit of rounds (usually 10).",
	Judge: func(e *evidence.Case) check.Verdict {
		results, n, want := e.InputRequiredResults(), e.Retries(), check.Expected[int](e)
		if n >= want {
			return check.Pass("the client completed %d rounds", n).At(results[n-1].Retries[0].Place)
		}
		return modelAnswered(e).
			Or(check.Fail("expected %d rounds, found %d%s", want, n, e.Died()).
				At(results[len(results)-1].InputRequired.Place).ShowOutput(e.Session))
	},
}

var endless = check.Check{
	ID: "endless", Rule: "The client abandons a call whose results ask for input without end", Levels: robust,
	Cases: []string{"for-ever"}, Requests: 1, Needs: []check.Need{inputRequired, someRetry},
	Cause: "the client retries as long as the server asks",
	Fix:   "Abandon a call after a number of rounds (usually 10), and return an error to its caller.",
	Judge: func(e *evidence.Case) check.Verdict {
		results, n, outcome := e.InputRequiredResults(), e.Retries(), e.ReportedOutcome()
		last := results[len(results)-1]
		at := last.InputRequired.Place
		switch why := e.Session.Unsettled(at); {
		case n >= check.Expected[int](e):
			return check.Fail("expected a limit of rounds, found %d rounds", n).At(last.Retries[0].Place)
		case outcome != "":
			return check.Pass("the client abandoned the call after %d rounds and reports: %s", n, outcome).At(at)
		case why != "":
			return check.NotObserved("the client may still continue after %d rounds: %s", n, why).At(at)
		}
		return check.Pass("the client abandoned the call after %d rounds", n).At(at)
	},
}
