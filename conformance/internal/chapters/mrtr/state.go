package mrtr

import (
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// States that come back unchanged only if the client treats them as opaque strings.
var (
	strangeState = "Zürich 日本語 \U0001F986 \"quoted\" \\u0041 C:\\temp\\ <b>&amp;</b>\u2028\ttab\nline\x00 {\"round\":1} =="
	laterState   = "the second state, and no other"
	bigState     = strings.Repeat("0123456789abcdef", 64<<10/16)
)

var stateCases = []harness.Case{
	beforeBarrier(withStates("mrtr/states", &strangeState, &laterState, nil)),
	withStates("mrtr/big-state", &bigState),
	withStates("mrtr/empty-state", new(string)),
	withStates("mrtr/no-state", nil),
	{ID: "mrtr/only-state", Barrier: true, Handler: func(s *server.Session) (any, error) {
		return askFor(s, "nothing but a state", nil)
	}},
}

// withStates asks for one sample per state, in a round of its own. Nil stands for a result without requestState.
func withStates(id string, states ...*string) harness.Case {
	return harness.Case{ID: id, Script: story.Says("A duck."), Handler: ifSampling(func(s *server.Session) (any, error) {
		for i, state := range states {
			key := fmt.Sprintf("%s-%d", strings.TrimPrefix(id, "mrtr/"), i+1)
			requests := map[string]any{key: inputRequest(s.Ask("Name an animal."))}
			if _, err := s.InputRequired(server.InputRequiredResult{State: state, Requests: requests}); err != nil {
				return nil, err
			}
		}
		return "done", nil
	})}
}

// beforeBarrier lets another call follow the case in its session, where isolation looks for the state.
func beforeBarrier(c harness.Case) harness.Case {
	c.Barrier = true
	return c
}

var echoStatements = []string{"2026-07-28/mrtr/24", "2026-07-28/mrtr/03", "2026-07-28/mrtr/25"}

var stateEchoed = check.Check{
	ID: "state-echoed", Rule: "A retry MUST contain the requestState of the result, unchanged", Levels: must,
	Cases:      []string{"several", "mixed", "states", "big-state", "five-rounds", "only-state"},
	Statements: echoStatements, Needs: []check.Need{inputRequired, retriesWithoutRequests},
	Cause: "the client parses and rewrites the state, cuts it, or keeps the state of the first round",
	Fix:   "Treat requestState as an opaque string. Send the one of the result that the retry responds to.",
	Judge: eachRetry("the requestState came back unchanged", hasState, judgeState),
}

// retriesWithoutRequests needs a retry if the result has no inputRequests.
func retriesWithoutRequests(e *evidence.Case) *check.Verdict {
	first := e.InputRequiredResults()[0]
	return check.Unless(asksForInput(first.InputRequired) || len(first.Retries) > 0,
		check.NotApplicable("the client does not retry after a result without inputRequests, as it may"))
}

var stateEmpty = check.Check{
	ID: "state-empty", Rule: "A retry MUST contain requestState even if it is the empty string", Levels: must,
	Cases: []string{"empty-state"}, Statements: echoStatements, Needs: needsInput,
	Cause: "the client omits an empty state (omitempty in Go, a truth test in JavaScript or Python)",
	Fix:   "Test whether the member is present, for example with a pointer. An empty state is not a missing one.",
	Judge: eachRetry("the empty requestState came back", hasState, judgeState),
}

// judgeState compares the state of a retry with that of the result.
func judgeState(e *evidence.Case, from, retry *request) check.Verdict {
	sent := *from.InputRequired.State
	got, isString := retry.State()
	var v check.Verdict
	switch {
	case isString && got == sent:
		return noFault
	case retry.Params["requestState"] == nil:
		v = check.Fail("expected the requestState of the result in the retry, found none")
	case !isString:
		v = check.Fail("expected a string as requestState in the retry, found another type")
	case ofAnotherRound(e, from, got):
		v = check.Fail("expected the requestState of the result in the retry, found that of another round")
	default:
		v = check.Fail("expected requestState unchanged (%d bytes), found another value (%d bytes)", len(sent), len(got))
	}
	return showState(v.ShowAs("server sent", from.InputRequired.At("requestState"), "%s", evidence.Quote(sent)), retry)
}

func ofAnotherRound(e *evidence.Case, from *request, state string) bool {
	for _, other := range e.InputRequiredResults() {
		if other != from && hasState(other.InputRequired) && *other.InputRequired.State == state {
			return true
		}
	}
	return false
}

// showState shows the state of a retry.
func showState(v check.Verdict, retry *request) check.Verdict {
	text := check.OrMissing(retry.Params["requestState"])
	if s, ok := retry.State(); ok {
		text = evidence.Quote(s)
	}
	return v.ShowAs("client sent back", retry.At("requestState"), "%s", text)
}

var noStateInvented = check.Check{
	ID: "no-state-invented", Levels: must, Cases: []string{"states", "no-state"}, Needs: needsInput,
	Rule:       "A retry MUST NOT contain requestState if the result has none, even if an earlier result had one",
	Statements: []string{"2026-07-28/mrtr/26"},
	Cause:      "the client keeps the state of an earlier round, or sends an unset state as null or as an empty string",
	Fix:        "Build each retry from the call and the latest result only.",
	Judge: eachRetry("the client sent no requestState after a result without one", hasNoState,
		func(_ *evidence.Case, from, retry *request) check.Verdict {
			if retry.Params["requestState"] == nil {
				return noFault
			}
			v := check.Fail("expected no requestState in the retry, found one")
			return showState(v.ShowAs("server sent", from.InputRequired.Place, "no requestState"), retry)
		}),
}

var stateOnly = check.Check{
	ID: "state-only", Rule: "Reports whether the client retries after a result with requestState but no inputRequests",
	Levels: check.InModern(report.May), Cases: []string{"only-state"}, Needs: needsInput,
	Statements: []string{"2026-07-28/mrtr/23"},
	Cause:      "a client may retry or not",
	Fix:        "No change is needed.",
	Judge: func(e *evidence.Case) check.Verdict {
		from := e.InputRequiredResults()[0]
		if len(from.Retries) > 0 {
			return check.Info("the client retries after a result without inputRequests").At(from.Retries[0].Place)
		}
		return settled(e, from).
			Or(check.Info("the client does not retry after a result without inputRequests").At(from.InputRequired.Place))
	},
}

var isolation = check.Check{
	ID: "isolation", Rule: "The client MUST NOT send the input or requestState of a call in another request", Levels: must,
	Cases: []string{"several", "states"}, Statements: []string{"2026-07-28/mrtr/28"}, Needs: needsInput,
	Cause: "calls of a client or a tool share their params, and what a retry adds remains there",
	Fix:   "Add inputResponses and requestState to a copy of the call's params, for that retry only.",
	Judge: func(e *evidence.Case) check.Verdict {
		results, s := e.InputRequiredResults(), e.Session
		meanwhile, others := false, false
		for _, r := range s.Requests {
			at := s.Order[r.Ref]
			if r.Ref.Case == e.Case.ID || at < s.Order[results[0].InputRequired.Ref] {
				continue
			}
			event := &s.Trace.Events[at]
			if from := leaked(s, results, event); from != nil {
				return check.Fail("expected no input or state of a call of %s in %s, found some", e.Case.Tool, r.Method).
					ShowAs("belongs to", from.InputRequired.Place, "").
					ShowJSON(evidence.Place{Ref: r.Ref, Path: "params", Label: r.Method}, event.Frame.Raw)
			}
			others = true
			for _, from := range results {
				meanwhile = meanwhile || len(from.Retries) > 0 &&
					s.Order[from.InputRequired.Ref] < at && at < s.Order[from.Retries[0].Ref]
			}
		}
		switch {
		case !others:
			return check.NotObserved("the client sent no other request")
		case !meanwhile:
			return check.Pass("later requests have no input or state of the call; none came between a result and its retry")
		}
		return check.Pass("other requests have no input or state of the call; some came between a result and its retry")
	},
}

// leaked returns the request whose result's state or keys are in a request of another case; nil for none. The server
// may have asked that case for the same.
func leaked(s *evidence.Session, results []*request, e *trace.Event) *request {
	m := s.Message(e)
	if !evidence.HasMember(m.Params, "requestState") && !evidence.HasMember(m.Params, "inputResponses") {
		return nil
	}
	for _, call := range s.Calls[e.Case] {
		if owner(call.InputRequiredResults(), m) != nil {
			return nil
		}
	}
	return owner(results, m)
}

// owner returns the request whose result has the state of a message, or one of its keys; nil for none.
func owner(results []*request, m *evidence.Message) *request {
	var params, responses dialect.Object
	_ = dialect.ReadPart(m.Params, &params) // undecodable params have neither
	_ = params.Read("inputResponses", &responses)
	state, ok := (&request{Params: params}).State()
	for _, r := range results {
		if ok && state != "" && hasState(r.InputRequired) && *r.InputRequired.State == state {
			return r
		}
		for key := range responses {
			if _, asked := r.InputRequired.Requests[key]; asked {
				return r
			}
		}
	}
	return nil
}
