package mrtr

import (
	"encoding/json"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The server asks for two samples in one result.
var several = harness.Case{ID: "mrtr/several", Script: story.Says("A goose."), Arguments: arguments, Barrier: true,
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

var retried = check.Check{
	ID: "retried", Rule: "The client retries a request whose result asks for input", Levels: robust,
	Cases: []string{"bare-input", "several", "mixed", "states", "big-state", "empty-state", "no-state", "five-rounds"},
	Needs: needsInput,
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
			return check.Fail("expected a retry with inputResponses and %s, found a new call without them", from.StateMember).
				At(from.InputRequired.Place, calls[1].CallPlace())
		}
		return check.Missing("expected a retry with input, found none%s", e.WhyNoRetry()).
			Show(from.InputRequired.Place, "asked for: %s", strings.Join(from.InputRequired.Keys(), ", ")).ShowOutput(e.Session)
	},
}

var promptsAndResources = check.Check{
	ID: "prompts-and-resources", Rule: "The client retries prompts/get and resources/read with input, like tools/call",
	Levels: robust, Cases: []string{"prompt", "resource"}, Requests: 1, Needs: []check.Need{inputRequired, modelAnswered},
	Cause: "the client looks for input requests only in the results of tools",
	Fix:   "Handle the results of all three requests alike.",
	Judge: func(e *evidence.Case) check.Verdict {
		from := e.InputRequiredResults()[0]
		if len(from.Retries) == 0 {
			return check.Missing("expected a retry of %s with input, found none%s", from.Method, e.WhyNoRetry()).
				At(from.InputRequired.Place).ShowOutput(e.Session)
		}
		return check.Pass("the client retried %s with input", from.Method).At(from.Retries[0].Place)
	},
}

// TooManyRounds is more than any reasonable limit: a client that completes them has none.
const TooManyRounds = 100

var (
	fiveRounds = inRounds(harness.Case{ID: "mrtr/five-rounds", Arguments: arguments}, 5)
	forEver    = inRounds(harness.Case{ID: "mrtr/for-ever", Barrier: true}, TooManyRounds)
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
			Or(check.Fail("expected %d rounds, found %d%s", want, n, e.WhySilent(e.FirstCall)).
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
