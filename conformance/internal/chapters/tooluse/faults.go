package tooluse

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The server requires a tool use, and the model answers with a text.
var requiredDefied = flight("required-defied", &server.ToolChoice{Mode: dialect.ChoiceRequired},
	llm.When().Reply(llm.Text("I would rather not book anything.")))

// The model uses a tool, and the provider reports the end of the turn.
var saysStop = flight("says-stop", nil, llm.When().ReplyFunc(simpleBooking.call()).StopReason(llm.EndTurn))

// StopBesideCalls leaves a result without the tool call to always/server-was-given.
var StopBesideCalls = check.Check{
	ID: "stop-beside-calls", Cases: []string{"says-stop"},
	Rule:   "The client accepts tool calls even if the provider reports the end of the turn",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{modelUses(1)},
	Cause: "the client reads tool calls only if the finish reason announces them",
	Fix:   "Read every tool call in the answer, whatever the finish reason is.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if d := dialectOf(r); dialects.FactsOf(d).UsesNeverEnd {
			return check.NotApplicable("the provider never reports the end of the turn beside a tool call in %s", d)
		}
		if how := check.RefusalWithTools(e, r); how != "" {
			_, place, _ := saidBy(e, 1)
			return check.Fail("expected the client to accept the tool call, found a refusal: %s", how).At(place)
		}
		if a, v := check.ReadableResult(e, r); v == nil {
			return check.Pass("the client accepts the answer").ShowUses(a)
		}
		return check.NoResult(e, r)
	},
}

// CutOff is invalid JSON: it ends too soon.
var CutOff = ToolUse{"book_flight", `{"from":"Zürich","to":"Tok`}

// The model's arguments are invalid JSON. A client may ask again; the model then answers with a text.
var invalidArguments = flight("torn-arguments", nil,
	llm.When(asked).ReplyFunc(CutOff.call()), llm.When().Reply(llm.Text("Never mind.")))

// BadArguments is exported for the tests, which are in a package of their own.
var BadArguments = check.Check{
	ID: "bad-arguments", Cases: []string{"torn-arguments"},
	Rule:   "Invalid JSON arguments become an error or reach the server as they are, never as {}",
	Levels: check.Robust, Requests: 1,
	Cause: "invalid arguments become an empty object, and the server runs the tool with it",
	Fix:   "Return an error to the server, or report the invalid JSON to the model and ask again.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := check.HowRefused(e, r); how != "" {
			return check.Pass("the client refuses invalid JSON arguments: %s", how)
		}
		if v := check.AsksModel(e); v != nil {
			return *v
		}
		x, v := check.ModelRequest(r)
		switch {
		case v != nil:
			return *v
		case !dialects.FactsOf(x.Request.Dialect).TextArguments(x.Request.Stream):
			return check.NotApplicable("the provider sends arguments as an object, which is always valid")
		}
		said, v := calledWith(r, isTorn)
		if v != nil {
			return *v
		}
		a, v := check.ReadableResult(e, r)
		switch {
		case v != nil:
			return *v
		case len(a.Uses()) == 0:
			return judgeTextInstead(a)
		}
		use := a.Uses()[0]
		input, at := jsonvalue.Decode(use.Input), a.At(use.Path).At("input")
		switch {
		case jsonvalue.Contains(input, CutOff.Input):
			return check.Pass("the invalid arguments reached the server as they are").ShowJSON(at, use.Input)
		case jsonvalue.Contains(input, "Zürich"):
			return check.Warn("expected the invalid arguments as they are, found them completed").
				Show(said, "%s", CutOff).ShowJSON(at, use.Input)
		}
		return check.Fail("expected an error for invalid JSON, found the input %s", evidence.Compact(use.Input)).
			Show(said, "%s", CutOff).ShowJSON(at, use.Input)
	},
}

// isTorn reports whether the arguments of a tool use are not an object.
func isTorn(use dialect.Block) bool {
	_, isObject := jsonvalue.Decode(use.Input).(map[string]any)
	return !isObject && len(use.Input) > 0
}

// calledWith returns the answer of the round's model with such a tool use, or the verdict for a model without one.
func calledWith(r *evidence.Round, is func(dialect.Block) bool) (evidence.Place, *check.Verdict) {
	for _, x := range r.Model {
		if slices.ContainsFunc(x.Calls(), is) {
			place := x.Place
			place.Label = "model said"
			return place, nil
		}
	}
	return evidence.Place{}, check.Instead(check.NotApplicable("the model made no such call").At(r.Asked))
}

// Cancelling is exported for the tests, which are in a package of their own.
var Cancelling = ToolUse{"cancel_flight", simpleBooking.Input}

// The model uses a tool that was not offered. A client may ask again; the model then answers with a text.
var unknownTool = flight("unknown-tool", nil,
	llm.When(asked).ReplyFunc(Cancelling.call()), llm.When().Reply(llm.Text("Never mind.")))

var unofferedTool = check.Check{
	ID: "unoffered-tool", Cases: []string{"unknown-tool"},
	Rule:   "The client passes on or refuses a call of a tool that was not offered, and does not run it",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{notRun, usesUnoffered},
	Cause: "the host looks the name up among all its tools, or takes the most similar one",
	Fix:   "Pass the tool use on, or return an error.",
	Judge: unlessRefused("a tool that was not offered", func(_ *evidence.Case, a *evidence.Answer) check.Verdict {
		if len(a.Uses()) == 0 {
			return judgeTextInstead(a)
		}
		use := a.Uses()[0]
		if use.Name != Cancelling.Name {
			return check.Warn("expected a use of %s, found one of %s", Cancelling.Name, use.Name).
				ShowJSON(a.At(use.Path), use.Raw)
		}
		return check.Pass("the tool use reached the server, and the client did not run it").
			ShowJSON(a.At(use.Path), use.Raw)
	}),
}

// usesUnoffered needs a model that used the tool that was not offered.
func usesUnoffered(e *evidence.Case) *check.Verdict {
	_, v := calledWith(e.Rounds[0], func(use dialect.Block) bool { return use.Name == Cancelling.Name })
	return v
}

// notRun needs a client that did not run the tool that was not offered. It returns the failure for one that did.
func notRun(e *evidence.Case) *check.Verdict {
	for _, call := range e.Session.ForeignCalls {
		if call.Tool == Cancelling.Name {
			return check.Instead(check.Fail("expected no call of %s, which was not offered, found one", call.Tool).
				Show(call.Place, "%s", call.Tool))
		}
	}
	last := e.Rounds[0].Asked
	if answers := e.Rounds[0].Answers; len(answers) > 0 {
		last = answers[0].Place
	}
	return check.UnsettledAfter(e.Session, last, "the client could still run the tool")
}

// judgeTextInstead passes a text in place of the model's tool use.
func judgeTextInstead(a *evidence.Answer) check.Verdict {
	text := dialect.PlainText(a.Blocks())
	if strings.TrimSpace(text) == "" {
		return check.Fail("expected the tool use, a text or an error, found an empty result").ShowMembers(a, "content")
	}
	return check.Pass("the client returned a text in place of the tool use: %q", evidence.Clip(text)).
		Show(a.At("content"), "%q", text)
}
