package consent

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The user declines the request.
var request = harness.Case{
	ID: "consent/request", Decision: harness.Decline, Expect: declinedRequest(), Barrier: true,
	Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Which river flows through Vienna?")) },
	Script:  story.Says("The Danube."),
}

func declinedRequest() check.Refusal {
	f := refusal("a request that the user declined")
	f.Private = true
	return f
}

var declined = check.Check{
	ID: "declined", Cases: []string{"request"},
	Statements: []string{"sampling/02", "sampling/21"},
	Rule:       "The client does not answer a request that the user declines",
	Levels:     check.Should, Requests: 1, Needs: []check.Need{userDecides},
	Cause: "the client asks no user, or does not wait for the decision",
	Fix: "Ask the user before you call the model. If the user declines, return an error (-1). " +
		"Since 2026-07-28 do not retry the call.",
	Judge: check.Refused,
}

var declinedCode = check.Check{
	ID: "declined-code", Cases: []string{"request"}, Statements: []string{"sampling/error-codes"},
	Rule:     "The error for a request that the user declines has the code -1",
	Levels:   check.InNewestLegacy(report.Should),
	Requests: 1, Needs: []check.Need{userDecides},
	Cause: "every error of the sampling handler gets one code, such as -32603 or 0",
	Fix:   `Return {"code": -1, "message": "User rejected sampling request"}.`,
	Judge: check.HasCode,
}

var noModelCall = check.Check{
	ID: "no-model-call", Cases: []string{"request"},
	Rule:   "A request that the user declines does not reach the model",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{userDecides},
	Cause: "the client calls the model before the user has decided",
	Fix:   "Ask the user first.",
	Judge: check.CostsNoModelCall,
}

var noMadeUpAnswer = check.Check{
	ID: "no-made-up-answer", Cases: []string{"request"},
	Rule:   "The client does not invent an answer to a request that the user declines",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{userDecides},
	Cause: "the sampling handler returns a message which says that the user declined",
	Fix:   "Return an error from the sampling handler. Since 2026-07-28 do not retry the call.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		switch a := r.Result(); {
		case a == nil && len(r.Answers) == 0 && !e.Revision.Modern():
			return noResponse()
		case a == nil:
			return check.Refused(e)
		case evidence.IsNoAnswer(a):
			return showResult(check.Warn("expected a refusal, found a result without content"), r)
		case len(r.Model) > 0:
			return check.Pass("the model gave the answer").At(r.Model[0].Place)
		case check.Unmarked(e, r) != nil:
			return *check.Unmarked(e, r)
		}
		return showResult(check.Fail("expected a refusal, found an answer without a request to the model"), r)
	},
}
