package consent

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The user declines the request.
var request = harness.Case{
	ID: "consent/request", Decision: harness.Decline, Expect: userDeclines(true), Barrier: true,
	Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Which river flows through Vienna?")) },
	Script:  story.Says("The Danube."),
}

var declined = check.Check{
	ID: "declined", Cases: []string{"request"},
	Statements: []string{"sampling/02", "sampling/21"},
	Rule:       "The client does not answer a request that the user declines",
	Levels:     check.Should, Requests: 1, Needs: []check.Need{userDecides},
	Cause: "the client asks no user, or does not wait for the decision",
	Fix: "Ask the user before you call the model. If the user declines, return an error (-1). " +
		"In 2026-07-28 do not retry the call.",
	Judge: refused,
}

var declinedCode = check.Check{
	ID: "declined-code", Cases: []string{"request"}, Statements: []string{"sampling/error-codes"},
	Rule:     "The error for a request that the user declines has the code -1",
	Levels:   map[server.Revision]report.Level{server.V20251125: report.Should},
	Requests: 1, Needs: []check.Need{userDecides},
	Cause: "every error of the sampling handler gets one code, such as -32603 or 0",
	Fix:   `Return {"code": -1, "message": "User rejected sampling request"}.`,
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if len(r.Answers) == 0 || r.Answers[0].Err == nil {
			return check.NotApplicable("the client returned no error (see consent/declined)")
		}
		a := r.Answers[0]
		if a.Err.Code == codeDeclined {
			return check.Pass("the error has the code %d", codeDeclined).ShowJSON(a.Place, a.RawErr)
		}
		var written jsonvalue.Object // the code may be of another type
		_ = json.Unmarshal(a.RawErr, &written)
		return check.Fail("expected the error code %d, found %s", codeDeclined, check.OrMissing(written["code"])).
			ShowJSON(a.At("code"), a.RawErr)
	},
}

var noModelCall = check.Check{
	ID: "no-model-call", Cases: []string{"request"},
	Rule:   "A request that the user declines does not reach the model",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{userDecides},
	Cause: "the client calls the model before the user has decided",
	Fix:   "Ask the user first.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if len(r.Model) > 0 {
			return check.Fail("expected no request to the model, found one").At(r.Asked, r.Model[0].Place)
		}
		return check.NoModelCall(e, r, "")
	},
}

var noMadeUpAnswer = check.Check{
	ID: "no-made-up-answer", Cases: []string{"request"},
	Rule:   "The client does not invent an answer to a request that the user declines",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{userDecides},
	Cause: "the sampling handler returns a message which says that the user declined",
	Fix:   "Return an error from the sampling handler. In 2026-07-28 do not retry the call.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		switch a := r.Result(); {
		case a == nil && len(r.Answers) == 0 && !e.Revision.Modern():
			return noResponse()
		case a == nil:
			return refused(e)
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

var declinedMRTR = check.Check{
	ID: "declined-mrtr", Cases: []string{"request", "fifty"}, Statements: []string{"mrtr/22"},
	Rule:   "The client MUST NOT retry a call without a response to each of its input requests",
	Levels: check.InModern(report.Must), Requests: 1,
	Cause: "the client leaves out declined input requests, and retries the call with the rest",
	Fix: "Retry a call only with a response under every key of its inputRequests. " +
		"Otherwise end the call, and report it to the user or the model.",
	Judge: func(e *evidence.Case) check.Verdict {
		if v := check.RetriedWithoutKey(e, "expected a response to each input request, found one missing"); v != nil {
			return *v
		}
		declines := check.Expected[userDeclines](e)
		if v := userDecides(e); v != nil && declines {
			return *v
		}
		if answers := e.Rounds[0].Answers; len(answers) > 0 {
			return check.Pass("the retry has a response to each input request").At(answers[0].Place)
		}
		if declines {
			return refused(e)
		}
		return check.NotApplicable("the client did not retry the call")
	},
}
