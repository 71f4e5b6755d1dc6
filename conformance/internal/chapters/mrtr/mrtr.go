// Package mrtr judges multi round-trip requests, which 2026-07-28 has in place of requests of the server: a result asks
// for input, and the client retries its request with the input and the result's requestState (basic/patterns/mrtr).
package mrtr

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Scenario is the chapter.
var Scenario = story.Retold(check.Scenario{
	ID:        "mrtr",
	Purpose:   "results that ask for input, and the retries that bring it",
	Revisions: check.Modern,
	Cases: slices.Concat(stateCases, []harness.Case{several, mixed, bareInput, fiveRounds, forEver, prompt, resource,
		untyped, unknownType, direct, ping, undeclared}, badInputs),
	Checks: []check.Check{
		retried, rounds, endless, stateOnly, promptsAndResources, missingResultType, unknownResultType,
		directRequestUnanswered, noResponses, undeclaredInput, badInput,
	},
},
	story.Again([]string{"states", "state-after-input", "several", "mixed", "prompt"},
		story.ToolsOffered, story.SecondRound, story.AfterImage),
	story.Again([]string{"only-state", "five-rounds", "untyped"}, story.ToolsOffered, story.SecondRound),
	story.Again([]string{"unknown-type", "resource"}, story.SecondRound, story.AfterImage),
)

var (
	must   = check.InModern(report.Must)
	robust = check.InModern(report.Robust)
)

// ifSampling wraps a handler that builds results itself. For a client without sampling, Sample withholds the request.
func ifSampling(handler server.Handler) server.Handler {
	return func(s *server.Session) (any, error) {
		if !s.Declares("sampling") {
			return s.Sample(s.Ask("Are you there?"))
		}
		return handler(s)
	}
}

func inputRequest(params any) any {
	return map[string]any{"method": "sampling/createMessage", "params": params}
}

func askFor(s *server.Session, state string, requests map[string]any) (any, error) {
	state = own(s, state)
	_, err := s.InputRequired(server.InputRequiredResult{State: &state, Requests: requests})
	return "done", err
}

// own makes a state or a key one that only this call has: the server tells two calls at once apart by them. The first
// call keeps it as it is, and an empty one stays empty.
func own(s *server.Session, state string) string {
	if n := s.Call().Number; n > 1 && state != "" {
		return fmt.Sprintf("%s (call %d)", state, n)
	}
	return state
}

// asksNothing is the expectation of a case whose handler may have nothing to ask for: the reason.
type asksNothing string

type request = evidence.CarryingRequest

var needsInput = []check.Need{inputRequired}

func inputRequired(e *evidence.Case) *check.Verdict {
	if len(e.InputRequiredResults()) > 0 {
		return nil
	}
	if why, ok := e.Expect.(asksNothing); ok && e.Over {
		return check.Instead(check.NotApplicable("%s", why))
	}
	return check.Instead(check.NotObserved("the server did not ask for input%s", e.WhySilent(e.FirstCall)))
}

func someRetry(e *evidence.Case) *check.Verdict {
	return check.Unless(e.Retries() > 0,
		check.NotObserved("the client sent no retry %s", evidence.See("mrtr/retried")).
			At(e.InputRequiredResults()[0].InputRequired.Place))
}

// modelAnswered needs a model that had an answer for every request of the client.
func modelAnswered(e *evidence.Case) *check.Verdict {
	for _, r := range e.Rounds {
		if why := r.CassetteMiss(); why != "" {
			return check.Instead(check.NotObserved("the model had no answer for the client: %s", evidence.Clip(why)))
		}
	}
	return nil
}

// settled needs a trace that settles that no retry follows the result of a request.
func settled(e *evidence.Case, from *request) *check.Verdict {
	at := from.InputRequired.Place
	v := check.UnsettledAfter(e.Session, at, "no retry came, but one could still have come")
	if v != nil {
		*v = v.At(at)
	}
	return v
}
