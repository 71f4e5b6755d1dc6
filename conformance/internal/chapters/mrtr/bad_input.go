package mrtr

import (
	"encoding/json"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

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
			if v := settled(e, from); v != nil {
				return *v
			}
			return check.Pass("the client did not retry: it does not declare %s", method).Show(from.InputRequired.Place, "")
		}
		retry := from.Retries[0]
		answer := retry.Responses["undeclared"]
		var o dialect.Object
		_ = dialect.ReadPart(answer, &o) // what is not an object is not a refusal
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
		return askFor(s, "with input that is none", map[string]any{"bad": json.RawMessage(request)})
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
			return check.Pass("the client went on").Show(at.Place, "")
		case s.Ended != nil && s.Ended.Clean():
			return check.UnsettledAfter(s, at.Place, "the client may not have gone on "+after).Show(at.Place, "")
		}
		raw := strings.TrimSpace(string(s.Trace.Find(at.Ref).Frame.Raw))
		return check.ShowOutput(s, check.Fail("expected the client to go on %s, found: %s", after, s.Ending()).
			ShowJSON(at.At("inputRequests"), []byte(raw)))
	},
}
