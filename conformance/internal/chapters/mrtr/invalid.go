package mrtr

import (
	"encoding/json"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The server sends a result with inputRequests and content, whose resultType is missing or unknown.
var (
	untyped     = lookAlike("mrtr/untyped", "")
	unknownType = lookAlike("mrtr/unknown-type", "unheard-of")
)

func lookAlike(id, resultType string) harness.Case {
	return harness.Case{ID: id, Script: story.Says("A crane."), Barrier: true,
		Handler: ifSampling(func(s *server.Session) (any, error) {
			result := map[string]any{"content": []any{server.Text("All is done.")}, s.Revision().StateMember(): "of no use",
				"inputRequests": map[string]any{"look-alike": inputRequest(s.Ask("Name a bird."))}}
			if resultType != "" {
				result["resultType"] = resultType
			}
			return server.RawResult(jsonvalue.Marshal(result)), nil
		})}
}

// needsLookAlike need such a result, a client that did not fulfil its inputRequests, and a reported outcome.
var needsLookAlike = []check.Need{lookAlikeSent, notFulfilled, outcomeReported}

var lookAlikeSent = check.Observed(sentLookAlike, "the server did not send such a result")

func sentLookAlike(e *evidence.Case) *request {
	for _, r := range e.CarryingRequests {
		if r.InputRequired != nil {
			return r
		}
	}
	return nil
}

func notFulfilled(e *evidence.Case) *check.Verdict {
	r := sentLookAlike(e)
	result := "a result without resultType"
	if r.InputRequired.Type != "" {
		result = "a result of the unknown type " + r.InputRequired.Type
	}
	fulfilled := func(found string, at evidence.Place) *check.Verdict {
		return check.Instead(check.Fail("expected the client to ignore the inputRequests of %s, found %s", result, found).
			At(r.InputRequired.Place, at))
	}
	if len(r.Retries) > 0 {
		return fulfilled("a retry", r.Retries[0].Place)
	}
	if prompts := e.Session.Exchanges[e.Case.ID]; len(prompts) > 0 {
		return fulfilled("a request to the model", prompts[0].Place)
	}
	return nil
}

func outcomeReported(e *evidence.Case) *check.Verdict {
	if e.ReportedOutcome() != "" {
		return nil
	}
	r := sentLookAlike(e)
	if v := settled(e, r); v != nil {
		return v
	}
	return check.Instead(check.Unsupported("the client ignored the inputRequests; make it report how its call ended " +
		"(docs/adapters.md)").At(r.InputRequired.Place))
}

var missingResultType = check.Check{
	ID: "missing-result-type", Rule: "The client MUST treat a result without resultType as complete", Levels: must,
	Cases: []string{"untyped"}, Statements: []string{"basic/12", "schema/16"}, Needs: needsLookAlike,
	Cause: "the client looks for inputRequests and not at resultType",
	Fix:   "Read resultType first. A result without it is complete: it is from an older server.",
	Judge: func(e *evidence.Case) check.Verdict {
		at, outcome := sentLookAlike(e).InputRequired.Place, e.ReportedOutcome()
		if outcome == harness.Completed {
			return check.Pass("the client treated the result as complete").At(at)
		}
		return check.Info("the client refuses a result without resultType (%s): only servers of older revisions send one",
			outcome).At(at)
	},
}

var unknownResultType = check.Check{
	ID: "unknown-result-type", Rule: "The client MUST treat a result of an unknown type as invalid", Levels: must,
	Cases: []string{"unknown-type"}, Statements: []string{"basic/11"}, Needs: needsLookAlike,
	Cause: "the client takes every type but input_required as complete, or looks for inputRequests and not at resultType",
	Fix:   "End the call with an error if resultType is neither complete nor input_required.",
	Judge: func(e *evidence.Case) check.Verdict {
		result, outcome := sentLookAlike(e).InputRequired, e.ReportedOutcome()
		const found = "expected an error for a result of the unknown type %s, found the outcome %s"
		switch outcome {
		case harness.Completed:
			return check.Fail(found, result.Type, outcome).Show(result.At("resultType"), "%q", result.Type)
		case harness.InputRequired:
			return check.Warn(found, result.Type, outcome).Show(result.At("resultType"), "%q", result.Type)
		}
		return check.Pass("the call ended with an error").At(result.Place)
	},
}

// The server asks for input that the client does not declare: roots or elicitation.
var undeclared = harness.Case{ID: "mrtr/undeclared", Barrier: true,
	Expect: asksNothing("the client declares roots and elicitation"),
	Handler: func(s *server.Session) (any, error) {
		request := any(elicitation)
		switch {
		case !s.Declares("roots"):
			request = map[string]any{"method": "roots/list"}
		case s.Declares("elicitation"):
			return "The client declares all that could be asked for.", nil
		}
		return askFor(s, "more than was declared", map[string]any{"undeclared": request})
	}}

var undeclaredInput = check.Check{
	ID: "undeclared-input", Rule: "The client does not send input that it does not declare", Levels: robust,
	Cases: []string{"undeclared"}, Needs: needsInput,
	Cause: "the client responds to every input request, or passes the result to a component that does",
	Fix:   "Fulfil only what the client declares. If the server asks for something else, end the call.",
	Judge: func(e *evidence.Case) check.Verdict {
		from := e.InputRequiredResults()[0]
		method := from.InputRequired.Requests["undeclared"]
		if len(from.Retries) == 0 {
			return settled(e, from).
				Or(check.Pass("the client did not retry: it does not declare %s", method).At(from.InputRequired.Place))
		}
		retry := from.Retries[0]
		answer := retry.Responses["undeclared"]
		var o jsonvalue.Object
		_ = jsonvalue.ReadPart(answer, &o) // what is not an object is not a refusal
		v := check.Fail("expected no response to %s, which the client does not declare, found one", method)
		switch {
		case answer == nil || string(answer) == "null":
			v = check.Pass("the client retried without the input that it does not declare")
		case o.Has("error") || o.Text("action") == "decline" || o.Text("action") == "cancel":
			v = check.Warn("the client refuses undeclared input (%s) in a retry; it need not retry", method)
		}
		return v.ShowAs("server asked for", from.InputRequired.At("inputRequests"), "%s", method).
			ShowAs("client declared", e.Declared.CapabilitiesAt(), "%s", check.OrMissing(e.Declared.Declared())).
			ShowAs("client sent", retry.At("inputResponses"), "%s", check.OrMissing(retry.Params["inputResponses"]))
	},
}

// The server sends one invalid input request, which may crash a client.
var badInputs = []harness.Case{
	invalidInput("mrtr/null-input", `null`),
	invalidInput("mrtr/unknown-input", `{"method":"sampling/dream","params":{}}`),
	invalidInput("mrtr/malformed-input",
		`{"method":"sampling/createMessage","params":{"messages":null,"maxTokens":"many"}}`),
}

func invalidInput(id, request string) harness.Case {
	return harness.Case{ID: id, Hostile: true, Barrier: true, Handler: ifSampling(func(s *server.Session) (any, error) {
		return askFor(s, "with invalid input", map[string]any{"bad": json.RawMessage(request)})
	})}
}

var badInput = check.Check{
	ID: "bad-input", Rule: "The client survives an invalid input request", Levels: robust,
	Cases: []string{"null-input", "unknown-input", "malformed-input"}, Needs: needsInput,
	Cause: "the client uses members of the result unchecked, in a goroutine or a callback that catches no error",
	Fix:   "Validate the input request. If it is invalid, end that call with an error, and continue.",
	Judge: func(e *evidence.Case) check.Verdict {
		const after = "after an invalid input request"
		at, s := e.InputRequiredResults()[0].InputRequired, e.Session
		switch {
		case s.ServedLater(s.Order[at.Ref]):
			return check.Pass("the client went on").At(at.Place)
		case s.Ended != nil && s.Ended.Clean():
			return check.UnsettledAfter(s, at.Place, "the client may not have gone on "+after).At(at.Place)
		}
		raw := strings.TrimSpace(string(s.Trace.Find(at.Ref).Frame.Raw))
		return check.Fail("expected the client to go on %s, found: %s", after, s.Ending()).
			ShowJSON(at.At("inputRequests"), []byte(raw)).ShowOutput(s)
	},
}
