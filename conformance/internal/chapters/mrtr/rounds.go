package mrtr

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var retriesOnce = check.Check{
	ID: "retries-once", Rule: "a wish for input is answered by one retry", Levels: check.InModern(report.Robust), Cases: wishing,
	Cause: "two layers of a client, a library and its host, both make the request again",
	Fix:   "let one of them do it",
	Judge: func(e *evidence.Case) check.Verdict {
		return eachRetry(e, nil, func(from, retry *evidence.CarryingRequest) check.Verdict {
			if from.Retries[0] == retry {
				return check.Verdict{}
			}
			return check.Fail("the client made its request %d times in answer to one result", len(from.Retries)).
				Show(from.InputRequired.Place, "").Show(from.Retries[0].Place, "").Show(retry.Place, "")
		}, "each wish was answered by one retry")
	},
}

var fiveRounds = check.Check{
	ID: "rounds", Rule: "a call is gone on with when its result asks for input again", Levels: check.InModern(report.Robust), Cases: []string{"five-rounds"}, Requests: 1,
	Cause: "a retry is held to be the last, and its result is not looked at",
	Fix:   "look at the result of a retry as at that of the call, up to a limit of rounds (10 is usual)",
	Judge: func(e *evidence.Case) check.Verdict {
		wishes := e.InputRequiredResults()
		switch n := e.Retries(); {
		case n >= enoughRounds:
			return check.Pass("the client made %d rounds", n).Show(wishes[n-1].Retries[0].Place, "")
		case n == 0:
			return check.NotObserved("the client made no retry at all (see mrtr/retried)").Show(wishes[0].InputRequired.Place, "")
		default:
			if v := unanswered(e); v != nil {
				return *v
			}
			return check.ShowOutput(e.Session, check.Fail("the client stopped after %d rounds of %d%s", n, enoughRounds, e.Died()).Show(wishes[len(wishes)-1].InputRequired.Place, ""))
		}
	},
}

var endless = check.Check{
	ID: "endless", Rule: "a server that asks for ever is given up on", Levels: check.InModern(report.Robust), Cases: []string{"for-ever"}, Requests: 1,
	Cause: "the client makes its request again for as long as it is asked to",
	Fix:   "give up on a call after a number of rounds (10 is usual), with an error for whoever made it",
	Judge: func(e *evidence.Case) check.Verdict {
		wishes := e.InputRequiredResults()
		if len(wishes) == 0 {
			return noWish(e)
		}
		last := wishes[len(wishes)-1]
		n := e.Retries()
		switch why := e.Session.Unsettled(last.InputRequired.Place); {
		case n >= tooManyRounds:
			return check.Fail("the client made its request again %d times, and showed no sign of a limit", n).Show(last.Retries[0].Place, "")
		case n == 0:
			return check.NotObserved("the client made no retry at all (see mrtr/retried)").Show(last.InputRequired.Place, "")
		case e.Outcome != nil && e.Outcome.Ended != "":
			return check.Pass("the client gave up after %d rounds, and says of its call: %s", n, e.Outcome.Ended).Show(last.InputRequired.Place, "")
		case why != "":
			return check.NotObserved("that the client gave up after %d rounds cannot be said: %s", n, why).Show(last.InputRequired.Place, "")
		}
		return check.Pass("the client gave up after %d rounds", n).Show(last.InputRequired.Place, "")
	},
}

var stateOnly = check.Check{
	ID: "state-only", Rule: "what becomes of a result that has a state and asks for nothing", Levels: check.InModern(report.May), Cases: []string{"only-state"},
	Statements: []string{"2026-07-28/mrtr/23"},
	Cause:      "a client may retry at once, or not at all",
	Fix:        "nothing has to be mended",
	Judge: func(e *evidence.Case) check.Verdict {
		wishes := e.InputRequiredResults()
		switch {
		case len(wishes) == 0:
			return noWish(e)
		case len(wishes[0].Retries) > 0:
			return check.Info("a result without input requests is answered by a retry").Show(wishes[0].Retries[0].Place, "")
		}
		if why := e.Session.Unsettled(wishes[0].InputRequired.Place); why != "" {
			return check.NotObserved("no retry came, and it is not settled that none would have: %s", why)
		}
		return check.Info("a result without input requests is not answered by a retry").Show(wishes[0].InputRequired.Place, "")
	},
}
