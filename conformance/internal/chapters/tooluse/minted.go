package tooluse

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var idMinted = check.Check{
	ID: "id-minted", Rule: "where the provider gives a tool call no id, the client mints one that no other has", Levels: check.Everywhere(report.Robust), Results: 1,
	Cases: []string{"two-turns"},
	Cause: "the tool's name is taken for an id, or the id that the provider does not give is left empty",
	Fix:   "mint an id for each tool use, such as a random one, and keep the order of the calls for the way back",
	Judge: func(e *evidence.Case) check.Verdict {
		seen := map[string]evidence.Place{}
		for _, r := range e.Rounds[:min(2, len(e.Rounds))] {
			x, a := r.LastExchange(), r.Result()
			if a == nil {
				break
			}
			if x == nil || len(x.Calls()) == 0 {
				return check.NotObserved("what the model called cannot be read").Show(r.Asked, "")
			}
			for _, call := range x.Calls() {
				if call.ID != "" {
					return check.NotApplicable("the model gives its tool calls ids")
				}
			}
			for _, use := range a.Uses() {
				at := a.At(use.Path).At("id")
				other, taken := seen[use.ID]
				switch {
				case use.ID == "":
					return check.Fail("the model gave the call of %s no id, and the client minted none", use.Name).Show(a.At(use.Path), "%s", evidence.Compact(use.Raw))
				case taken:
					return check.Fail("the model gave its calls no ids, and the client minted %s for two of them", use.ID).Show(other, "%q", use.ID).Show(at, "%q", use.ID)
				}
				seen[use.ID] = at
			}
		}
		if len(seen) < 2 {
			return check.NotObserved("it takes two tool uses to compare ids, and %d came back (see tool-use/tool-use-block)", len(seen))
		}
		return check.Pass("the client minted %d ids for %d tool uses", len(seen), len(seen)).Show(e.Rounds[1].Result().Place, "")
	},
}

// anySignature is what Gemini takes for the signature of a call that was not its own
// (ai.google.dev/gemini-api/docs/thought-signatures).
const anySignature = "skip_thought_signature_validator"

var thoughtSignature = check.Check{
	ID: "thought-signature", Rule: "the signatures that a model puts on its tool calls are handed back to it with them", Levels: check.Everywhere(report.Robust), Requests: 2,
	Cases: []string{"two-turns"},
	Cause: "MCP has no member for them, and they are dropped on the way to the server",
	Fix:   "remember each signature by the id of its tool use, or put it into the tool use's _meta, and hand it back with the call",
	Judge: func(e *evidence.Case) check.Verdict {
		first := e.Rounds[0].LastExchange()
		if first == nil || len(first.Calls()) == 0 {
			return check.NotObserved("what the model called cannot be read").Show(e.Rounds[0].Asked, "")
		}
		if !slices.ContainsFunc(first.Calls(), func(c evidence.ModelCall) bool { return c.Signature != "" }) {
			return check.NotApplicable("the model puts no signatures on its tool calls")
		}
		x := e.Rounds[1].LastExchange()
		if x == nil || x.Request == nil {
			return check.NotObserved("the model was not asked again, or could not read what it was asked").Show(e.Rounds[1].Asked, "")
		}
		given, placeholder := map[string]bool{}, false
		restated := evidence.Turns(x.Request.Messages, dialect.ToolUse)
		for _, use := range restated {
			given[use.Signature] = true
			placeholder = placeholder || use.Signature == anySignature
		}
		for _, call := range first.Calls() {
			if call.Signature == "" || given[call.Signature] {
				continue
			}
			tell := func(v check.Verdict) check.Verdict {
				return v.Show(evidence.Place{Label: "model said"}, "%s, signed %s", call.Name, evidence.Clip(call.Signature)).ShowAs("model was given", x.Place, "%s", evidence.Describe(restated))
			}
			if placeholder {
				return tell(check.Warn("the call of %s came back to the model with a placeholder for its signature", call.Name))
			}
			return tell(check.Fail("the call of %s came back to the model without its signature", call.Name))
		}
		return check.Pass("the signatures came back").Show(x.Place, "%s", evidence.Describe(restated))
	},
}
