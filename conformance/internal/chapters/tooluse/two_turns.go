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

var airportList = toolUse{"list_airports", `{}`}

// The model uses the same tool in two turns, each time with an empty input.
var twoTurns = harness.Case{
	ID: "tool-use/two-turns",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("Where can I fly to?", simpleFlight, story.ListAirports)
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
			llm.When(llm.Turn(1)).Reply(airportList.call()),
			llm.When(llm.Turn(2)).Reply(airportList.call()),
			llm.When(llm.Turn(3)).Reply(llm.Text("To Zürich and to Tokyo.")),
		)
	},
	Expect: airportList,
}

var idGenerated = check.Check{
	ID: "id-minted", Cases: []string{"two-turns"},
	Rule:   "The client generates a unique id for a tool call to which the provider gives none",
	Levels: check.Robust, Results: 1,
	Cause: "the tool's name serves as id, or the missing id becomes an empty one",
	Fix:   "Generate an id for each tool use, such as a random one. Keep the order of the calls for their results.",
	Judge: func(e *evidence.Case) check.Verdict {
		seen := map[string]evidence.Place{}
		for _, r := range e.Rounds[:min(2, len(e.Rounds))] {
			a := r.Result()
			if a == nil {
				break
			}
			switch given, v := someCall(r, func(c evidence.ModelCall) bool { return c.ID != "" }); {
			case v != nil:
				return *v
			case given:
				return check.NotApplicable("the provider gives its tool calls ids")
			}
			for _, use := range a.Uses() {
				at := a.At(use.Path).At("id")
				if use.ID == "" {
					return check.Fail("expected a generated id for the call of %s, found none", use.Name).
						ShowJSON(a.At(use.Path), use.Raw)
				}
				if other, taken := seen[use.ID]; taken {
					return check.Fail("expected a generated id for each call, found %s twice", use.ID).
						Show(other, "%q", use.ID).Show(at, "%q", use.ID)
				}
				seen[use.ID] = at
			}
		}
		if len(seen) < 2 {
			return check.NotObserved("the results have %d of 2 tool uses (see tool-use/tool-use-block)", len(seen))
		}
		return check.Pass("the client generated %d ids for %d tool uses", len(seen), len(seen)).
			At(e.Rounds[1].Result().Place)
	},
}

// someCall reports whether a condition holds for one of the model's tool calls of the round. It returns a verdict if no
// call could be decoded.
func someCall(r *evidence.Round, is func(evidence.ModelCall) bool) (bool, *check.Verdict) {
	var calls []evidence.ModelCall
	if x := r.LastExchange(); x != nil {
		calls = x.Calls()
	}
	return slices.ContainsFunc(calls, is), check.Unless(len(calls) > 0,
		check.NotObserved("the model's tool calls cannot be decoded").At(r.Asked))
}

var freshIDs = check.Check{
	ID: "fresh-ids", Cases: []string{"two-turns"},
	Rule:   "Tool uses of different turns have different ids",
	Levels: check.Robust, Results: 2, Needs: []check.Need{returnsToolUse(1), returnsToolUse(2)},
	Cause: "ids are generated from the tool's name, or from a counter that starts anew with each request",
	Fix:   "Pass the provider's ids on. If it has none, generate ids that are unique across turns.",
	Judge: func(e *evidence.Case) check.Verdict {
		first, second := e.Rounds[0].Result(), e.Rounds[1].Result()
		for _, a := range first.Uses() {
			for _, b := range second.Uses() {
				if a.ID == b.ID && a.ID != "" {
					return check.Fail("expected different ids in two turns, found %s in both", a.ID).
						Show(first.At(a.Path).At("id"), "%q", a.ID).Show(second.At(b.Path).At("id"), "%q", b.ID)
				}
			}
		}
		return check.Pass("the tool uses of two turns have different ids").ShowUses(first).ShowUses(second)
	},
}

// anySignature is what Gemini accepts as signature of a call that another model made
// (ai.google.dev/gemini-api/docs/thought-signatures).
const anySignature = "skip_thought_signature_validator"

var thoughtSignature = check.Check{
	ID: "thought-signature", Cases: []string{"two-turns"},
	Rule:   "The model receives the thought signatures of its tool calls again, with the calls",
	Levels: check.Robust, Requests: 2, Needs: []check.Need{modelSignsCalls, modelAskedAgain},
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
			return v.Show(modelSaid, "%s, signed %s", call.Name, evidence.Clip(call.Signature)).
				ShowAs("model received", x.Place, "%s", evidence.Describe(restated))
		}
		return check.Pass("the model received its signatures again").Show(x.Place, "%s", evidence.Describe(restated))
	},
}

// modelSignsCalls needs tool calls of the model with signatures, in the first turn.
func modelSignsCalls(e *evidence.Case) *check.Verdict {
	signed, v := someCall(e.Rounds[0], func(c evidence.ModelCall) bool { return c.Signature != "" })
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
