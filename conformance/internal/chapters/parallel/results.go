package parallel

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// The stories of these checks, two-cities and thirty-three, are in uses.go.

var resultsReachModel = check.Check{
	ID: "results-reach-model", Cases: []string{"two-cities", "thirty-three"}, Statements: requirements.Balance,
	Rule:   "All tool results reach the model, each under its own id",
	Levels: check.Robust, Requests: 2, Needs: []check.Need{check.ModelReadsRequest(2)},
	Cause: "the converter stops after the first tool_result of a message, or joins all of them",
	Fix: "Map every tool_result block to a result of the provider: with OpenAI, one tool message each; with Anthropic, " +
		"all at the beginning of the next user message.",
	Judge: func(e *evidence.Case) check.Verdict {
		h := handoverOf(e)
		if len(h.received) < len(h.sent) {
			return h.show(check.Fail("expected %d tool results in the model request, found %d", len(h.sent), len(h.received)))
		}
		rest := slices.Clone(h.received)
		for _, s := range h.sent {
			i := withText(rest, dialect.PlainText(s.Content))
			if i < 0 {
				return h.show(check.Fail("expected the text of the result for %s, found none", evidence.QuoteID(s.ID)))
			}
			rest = slices.Delete(rest, i, i+1)
		}
		seen := map[string]bool{}
		for _, b := range h.received {
			if seen[b.ID] {
				return h.show(check.Fail("expected 1 result for %s in the model request, found 2", evidence.QuoteID(b.ID)))
			}
			seen[b.ID] = true
		}
		if h.model.End.Refused != "" {
			return h.show(check.Fail("expected a valid model request with the tool results, the model refused it"))
		}
		return h.show(check.Pass("all %d results reached the model", len(h.sent)))
	},
}

var resultsOrder = check.Check{
	ID: "results-order", Cases: []string{"two-cities"}, Statements: requirements.Balance,
	Rule:   "Each tool result reaches the model under the id of its tool use, whatever the order",
	Levels: check.Robust, Requests: 2, Needs: []check.Need{check.ModelReadsRequest(2)},
	Cause: "results are paired with tool uses by position",
	Fix:   "Pair results with tool uses by toolUseId.",
	Judge: func(e *evidence.Case) check.Verdict {
		const see = "(see parallel/results-reach-model)"
		h := handoverOf(e)
		if len(h.received) < len(h.sent) {
			return check.NotObserved("not all results reached the model %s", see)
		}
		for _, s := range h.sent {
			want, i := h.ids[s.ID], h.arrival(&s)
			if i < 0 {
				return check.NotObserved("the result for %s did not reach the model %s", evidence.QuoteID(s.ID), see)
			}
			if got := h.received[i].ID; got != want {
				return h.show(check.Fail("expected the result for %s under its id, found it under %s",
					evidence.QuoteID(want), evidence.QuoteID(got)))
			}
		}
		return h.show(check.Pass("every result reached the model under its own id"))
	},
}

var usesRestated = check.Check{
	ID: "uses-restated", Cases: []string{"two-cities"},
	Rule:   "The model receives its tool uses again with the results, each with its arguments",
	Levels: check.Robust, Requests: 2, Needs: []check.Need{check.ModelReadsRequest(2)},
	Cause: "only the text of earlier turns is kept, or the arguments are lost in the conversion to the provider's form",
	Fix:   "Map every tool_use block of the history to a tool call of the provider, with its arguments.",
	Judge: func(e *evidence.Case) check.Verdict {
		h := handoverOf(e)
		sent, received := h.uses()
		show := func(v check.Verdict) check.Verdict {
			return v.ShowAs("server sent", h.Asked, "%s", evidence.Describe(sent)).
				ShowAs("model received", h.model.Place, "%s", evidence.Describe(received))
		}
		if len(received) != len(sent) {
			return show(check.Fail("expected %d earlier tool uses in the model request, found %d", len(sent), len(received)))
		}
		for i, other := range counterparts(sent, received) {
			if other == nil || !sameUse(&sent[i], other) {
				return show(check.Fail("expected tool use %d unchanged in the model request, found another", i+1))
			}
		}
		return show(check.Pass("the model received its tool uses again"))
	},
}
