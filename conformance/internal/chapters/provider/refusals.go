package provider

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// Some are exported for the tests, which are in a package of their own.
const (
	Filtered    = "The bridge opens at" // what a content filter leaves of the answer
	RefusalText = "I am sorry, but I cannot help with that."
)

// The provider filters the answer, or the model refuses to give one.
var refusals = []harness.Case{
	failing("content-filter", failure{name: "a content filter"},
		llm.When().Reply(llm.Text(Filtered)).StopReason(llm.StopContentFilter)),
	failing("refusal", failure{name: "a refusal", refusal: RefusalText},
		llm.When().Reply(llm.Text(RefusalText)).StopReason(llm.StopRefusal)),
}

var refusalTold = check.Check{
	ID: "refusal-told", Cases: names(refusals),
	Rule:   "An answer that the model refused or the provider filtered becomes an error, or its stop reason says so",
	Levels: check.Robust, Requests: 1,
	Needs: []check.Need{resultDespiteFailure, check.ReadableContent(1)},
	Cause: "unknown stop reasons become endTurn, or the client ignores the provider's refusal field",
	Fix: "Return the provider's stop reason unchanged if MCP has no word for it, " +
		"and the text of the model's refusal as the content.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, f := e.Rounds[0], failureOf(e)
		a, x := r.Result(), r.LastExchange()
		reason, given := a.Text("stopReason")
		switch plainEnd := endsAsUsual(x); {
		case given && !slices.Contains(evidence.StandardStopReasons, reason):
			return check.Pass("the stop reason says why there is no answer: %s", reason).
				Show(a.At("stopReason"), "%q", reason)
		case plainEnd && f.refusal == "":
			return check.NotApplicable("the provider has no stop reason for a content filter")
		case plainEnd && evidence.Holds(a.Blocks(), f.refusal):
			return check.Pass("the provider reports a usual end, and the text of the refusal is passed on").
				Show(a.At("content"), "%q", f.refusal)
		case plainEnd:
			v := check.Fail("expected a stop reason or the text of the refusal, found neither").
				ShowAs("model said", x.Place, "%q", f.refusal)
			return v.ShowMembers(a, "content", "stopReason")
		case !given && !givesReasons(e.Session):
			return check.NotApplicable("the client gives no stop reasons (see tool-use/stop-reason-tooluse)")
		case !given:
			return check.Warn("expected the provider's stop reason for %s, found none", f).ShowMembers(a, "content")
		}
		return check.Fail("expected a stop reason for %s, found %s", f, reason).ShowMembers(a, "stopReason", "content")
	},
}

// givesReasons reports whether the client gives a stop reason in any result of its session.
func givesReasons(s *evidence.Session) bool {
	return s.Answers(func(r *evidence.Round) bool { _, given := r.Result().Text("stopReason"); return given })
}

// endsAsUsual reports whether the provider gave a refusal the stop reason of any other answer. OpenAI and compatible
// providers mark a refusal by its field, if at all, and Ollama and Cohere have no word for it.
func endsAsUsual(x *evidence.Exchange) bool {
	reply := x.Reply()
	return reply != nil && reply.FinishReason == dialects.FactsOf(x.Dialect).End
}
