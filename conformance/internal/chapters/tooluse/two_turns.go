package tooluse

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

var airportList = toolUse{airportsIn.Name, `{}`}

// airportsIn has a dash in its name and a parameter of two types.
var airportsIn = server.Tool{Name: "list-airports", Description: story.ListAirports.Description,
	InputSchema: story.Object{"type": "object", "properties": story.Object{
		"country": story.Object{"type": []string{"string", "null"}}}}}

// The model uses the same tool in two turns, each time with an empty input.
var twoTurns = harness.Case{
	ID: "tool-use/two-turns",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("Where can I fly to?", simpleFlight, airportsIn)
		first, err := s.Sample(ask)
		if err != nil {
			return nil, err
		}
		next := ask.After(first, story.Texts("none is open yet"))
		second, err := s.Sample(next)
		if err != nil {
			return nil, err
		}
		return s.Sample(next.After(second, story.Texts("Zürich and Tokyo")))
	},
	Script: func(string) []*llm.Rule {
		return llm.Script(
			llm.When(llm.LastUser("Zürich and Tokyo")).Reply(llm.Text("To Zürich and to Tokyo.")),
			llm.When().ReplyFunc(airportList.call()),
		)
	},
}

// someCall reports whether a condition holds for one of the model's tool calls of the round. It returns a verdict if no
// call could be decoded.
func someCall(r *evidence.Round, is func(dialect.Block) bool) (bool, *check.Verdict) {
	var calls []dialect.Block
	if x := r.LastExchange(); x != nil {
		calls = x.Calls()
	}
	return slices.ContainsFunc(calls, is), check.Unless(len(calls) > 0,
		check.NotObserved("the model's tool calls cannot be decoded").At(r.Asked))
}

// anySignature is what Gemini accepts as signature of a call that another model made
// (ai.google.dev/gemini-api/docs/thought-signatures).
const anySignature = "skip_thought_signature_validator"

var thoughtSignature = check.Check{
	ID: "thought-signature", Cases: []string{"two-turns"},
	Rule:   "The model receives the thought signatures of its tool calls again, with the calls",
	Levels: check.Robust, Requests: 2, Needs: []check.Need{modelUses(1), modelSignsCalls, modelAskedAgain},
	Cause: "MCP has no member for signatures, so they are lost on the way to the server",
	Fix:   "Store each signature by the id of its tool use, or in the _meta of the tool use. Send it back with the call.",
	Judge: func(e *evidence.Case) check.Verdict {
		x := e.Rounds[1].LastExchange()
		restated := evidence.BlocksOf(x.Request.Messages, dialect.ToolUse)
		signed := func(signature string) bool {
			return slices.ContainsFunc(restated, func(use dialect.Block) bool { return use.Signature == signature })
		}
		for _, call := range e.Rounds[0].LastExchange().Calls() {
			if call.Signature == "" || signed(call.Signature) {
				continue
			}
			v := check.Fail("expected the call of %s with its signature, found it without", call.Name)
			if signed(anySignature) {
				v = check.Warn("expected the call of %s with its signature, found a placeholder", call.Name)
			}
			_, place, _ := saidBy(e, 1)
			return v.Show(place, "%s, signed %s", call.Name, evidence.Clip(call.Signature)).
				ShowAs("model received", x.Place, "%s", evidence.Describe(restated))
		}
		return check.Pass("the model received its signatures again").Show(x.Place, "%s", evidence.Describe(restated))
	},
}

// modelSignsCalls needs tool calls of the model with signatures, in the first turn.
func modelSignsCalls(e *evidence.Case) *check.Verdict {
	signed, v := someCall(e.Rounds[0], func(c dialect.Block) bool { return c.Signature != "" })
	if v == nil {
		v = check.Unless(signed, check.NotApplicable("the model does not sign its tool calls"))
	}
	return v
}

// modelAskedAgain needs a request to the model for the second sampling request.
func modelAskedAgain(e *evidence.Case) *check.Verdict {
	return check.Unless(dialectOf(e.Rounds[1]) != "",
		check.NotObserved("the model received no valid request for sampling request 2").At(e.Rounds[1].Asked))
}
