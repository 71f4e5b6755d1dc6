package conformance

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var idMinted = Check{
	ID: "id-minted", Rule: "where the provider gives a tool call no id, the client mints one that no other has", Levels: everywhere(report.Robust), Answered: 1,
	Cases: []string{"two-turns"},
	Cause: "the tool's name is taken for an id, or the id that the provider does not give is left empty",
	Fix:   "mint an id for each tool use, such as a random one, and keep the order of the calls for the way back",
	Judge: func(e *Evidence) Verdict {
		seen := map[string]Place{}
		for _, r := range e.Rounds[:min(2, len(e.Rounds))] {
			x, a := r.LastModel(), r.Result()
			if a == nil {
				break
			}
			if x == nil || len(x.calls()) == 0 {
				return NotObserved("what the model called cannot be read").See(r.Asked, "")
			}
			for _, call := range x.calls() {
				if call.ID != "" {
					return NotApplicable("the model gives its tool calls ids")
				}
			}
			for _, use := range a.uses() {
				at := a.At(use.Path).At("id")
				other, taken := seen[use.ID]
				switch {
				case use.ID == "":
					return Broken("the model gave the call of %s no id, and the client minted none", use.Name).See(a.At(use.Path), "%s", compact(use.Raw))
				case taken:
					return Broken("the model gave its calls no ids, and the client minted %s for two of them", use.ID).See(other, "%q", use.ID).See(at, "%q", use.ID)
				}
				seen[use.ID] = at
			}
		}
		if len(seen) < 2 {
			return NotObserved("it takes two tool uses to compare ids, and %d came back (see tool-use/tool-use-block)", len(seen))
		}
		return Pass("the client minted %d ids for %d tool uses", len(seen), len(seen)).See(e.Rounds[1].Result().Place, "")
	},
}

// anySignature is what Gemini takes for the signature of a call that was not its own
// (ai.google.dev/gemini-api/docs/thought-signatures).
const anySignature = "skip_thought_signature_validator"

var thoughtSignature = Check{
	ID: "thought-signature", Rule: "the signatures that a model puts on its tool calls are handed back to it with them", Levels: everywhere(report.Robust), Asked: 2,
	Cases: []string{"two-turns"},
	Cause: "MCP has no member for them, and they are dropped on the way to the server",
	Fix:   "remember each signature by the id of its tool use, or put it into the tool use's _meta, and hand it back with the call",
	Judge: func(e *Evidence) Verdict {
		first := e.Rounds[0].LastModel()
		if first == nil || len(first.calls()) == 0 {
			return NotObserved("what the model called cannot be read").See(e.Rounds[0].Asked, "")
		}
		if !slices.ContainsFunc(first.calls(), func(c modelCall) bool { return c.Signature != "" }) {
			return NotApplicable("the model puts no signatures on its tool calls")
		}
		x := e.Rounds[1].LastModel()
		if x == nil || x.Request == nil {
			return NotObserved("the model was not asked again, or could not read what it was asked").See(e.Rounds[1].Asked, "")
		}
		given, placeholder := map[string]bool{}, false
		restated := turns(x.Request.Messages, dialect.ToolUse)
		for _, use := range restated {
			given[use.Signature] = true
			placeholder = placeholder || use.Signature == anySignature
		}
		for _, call := range first.calls() {
			if call.Signature == "" || given[call.Signature] {
				continue
			}
			tell := func(v Verdict) Verdict {
				return v.See(Place{Label: "model said"}, "%s, signed %s", call.Name, clip(call.Signature)).Saw("model was given", x.Place, "%s", describe(restated))
			}
			if placeholder {
				return tell(Warn("the call of %s came back to the model with a placeholder for its signature", call.Name))
			}
			return tell(Broken("the call of %s came back to the model without its signature", call.Name))
		}
		return Pass("the signatures came back").See(x.Place, "%s", describe(restated))
	},
}
