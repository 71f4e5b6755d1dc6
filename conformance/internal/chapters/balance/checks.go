package balance

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
)

// Markers are words in the parts that a careless converter drops, by the case that sends them first.
var Markers = map[string]string{
	"balance/result-for-nothing": "eighteen degrees", "balance/result-for-another": "nine degrees",
	"balance/user-calls": "Reykjavik", "balance/assistant-answers": "twelve degrees",
}

// NotDropped is exported for the tests, which are in a package of their own.
var NotDropped = check.Check{
	ID: "not-dropped", Cases: []string{"result-for-nothing", "result-for-another", "result-for-nothing-after-failure",
		"user-calls", "user-calls-after-failure", "assistant-answers", "assistant-answers-after-failure"},
	Rule:   "A tool use or result out of place is refused or reaches the model; the client does not drop it",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{sent},
	Cause: "the converter skips tool uses and results that it does not expect: under another role, or without the other",
	Fix:   "Return an error (-32602) for a block that has no place in the provider's format.",
	Judge: func(e *evidence.Case) check.Verdict {
		marker, expected := Markers[story.Plain(e.Case.ID)], check.Expected[check.Refusal](e)
		r := e.Rounds[expected.Index]
		if len(r.Answers) == 0 && e.Revision.Modern() {
			if v := check.UnsettledSince(e, r.Asked); v != nil {
				return *v
			}
		}
		dropped := func(found string) check.Verdict {
			return expected.Show(check.Fail("expected %q in the model request or a refusal, found %s: %s", marker, found,
				expected.What), r)
		}
		if x := r.LastExchange(); x != nil && x.Request != nil && x.End.Refused != "" && !x.Says(marker) {
			return dropped("a request without it, which the model refused")
		}
		if how := check.HowRefused(e, r); how != "" {
			return check.Pass("the client refuses it: %s", how)
		}
		if r.Result() == nil {
			return check.NoResult(e, r)
		}
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		if !x.Says(marker) {
			return dropped("neither").ShowResult(r.Result())
		}
		return check.Pass("it reached the model").At(x.Place)
	},
}

var noModelCall = check.Check{
	ID:     "no-model-call",
	Rule:   "A forbidden history costs no model call",
	Levels: check.Advice, Requests: 1, Needs: []check.Need{sent},
	Cause: "the history is passed on without validation, or validated after the model answered",
	Fix:   "Validate the history before you call the model.",
	Judge: check.CostsNoModelCall,
}

var alive = check.Check{
	ID:     "alive",
	Rule:   "The session continues after a forbidden history",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{sent},
	Cause: "an exception about an unexpected history ends the connection, or the client",
	Fix:   "Turn the exception into an error for that one request, and continue.",
	Judge: check.Alive,
}
