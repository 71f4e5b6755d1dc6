package loop

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
)

// MostRounds is the number of rounds after which a client counts as one without a limit.
const MostRounds = 64

// The model always calls the tool once more. A client may end such a loop at its own limit, also by forbidding tools.
var endless = harness.Case{ID: "loop/sixty-four-rounds", Barrier: true,
	Handler: inTurn("How is the weather everywhere?", MostRounds, nil),
	Script: func(string) []*llm.Rule {
		return []*llm.Rule{llm.When(withoutTools).Reply(llm.Text("That is all.")),
			llm.When().Reply(story.Calls([]string{"Anywhere"})...)}
	}}

var iterationLimit = check.Check{
	ID: "iteration-limit", Cases: []string{"sixty-four-rounds"},
	Rule:   "Reports after how many rounds of a loop the client stops",
	Levels: check.May, Requests: 1,
	Statements: []string{"sampling/27"},
	Cause:      "servers and clients limit loops to 5 or 10 rounds, to 25, or not at all",
	Fix:        "Nothing to fix: the limit is the client's choice. Set one against servers that loop for ever.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, how := stop(e)
		switch sent := len(e.Rounds); {
		case r == nil && sent < MostRounds:
			return check.NotSent(e, sent+1)
		case r == nil:
			return check.Info("the client continues for all %d rounds of the case", sent).At(e.Rounds[sent-1].Asked)
		case how == "":
			return check.NotObserved("no result for sampling request %d %s%s", r.N, evidence.See("loop/stops-with-error"),
				e.WhyNoResult(r.N)).
				At(r.Asked)
		}
		return check.Info("the client continues for %d rounds: %s", r.N-1, how).At(r.Asked)
	},
}

// stop returns the round in which the client ended the endless loop, and how; a nil round if it continued to the end,
// and "" if it is not known that it stopped.
func stop(e *evidence.Case) (r *evidence.Round, how string) {
	for _, r := range e.Rounds {
		a := r.Result()
		switch {
		case a != nil && len(a.Uses()) > 0:
		case a != nil && a.Blocks() != nil:
			return r, fmt.Sprintf("it answers with the text %q", evidence.Clip(dialect.PlainText(a.Blocks())))
		default:
			return r, check.HowRefused(e, r)
		}
	}
	return nil, ""
}

var stopsWithError = check.Check{
	ID: "stops-with-error", Cases: []string{"sixty-four-rounds"},
	Rule:   "Every request of a long loop gets a response; a client that stops early returns an error",
	Levels: check.Robust, Requests: 1,
	Cause: "the client's own loop ends without a response to the sampling request that is over the limit",
	Fix:   "Return an error for the sampling request that is over the limit. Since 2026-07-28, cancel the call.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, how := stop(e)
		if r == nil || how != "" {
			return check.Pass("every request of the loop got a response, or the client refused it")
		}
		cancels, _ := e.CallCancels()
		switch {
		case r.CassetteMiss() != "":
			return check.NotObserved("the model had no answer for sampling request %d", r.N)
		case len(r.Answers) > 0 && !e.Session.AnswersAny():
			return check.AnswersNothing(e, r.N)
		case len(r.Answers) > 0:
			return *check.UnreadableContent(r.Result())
		case len(cancels) > 0:
			return check.Pass("the client continues for %d rounds and then cancels its call", r.N-1)
		case !e.Revision.Modern(), e.Session.Ended != nil && !e.Session.Ended.Clean():
			return check.Missing("expected a response to sampling request %d, found none: %s", r.N, e.Session.Ending()).
				At(r.Asked).ShowOutput(e.Session)
		}
		return check.UnsettledSince(e, r.Asked).Or(check.NoResult(e, r))
	},
}
