package mrtr

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// tooManyRounds is more than any reasonable limit: a client that completes them has none.
const tooManyRounds = 100

var (
	fiveRounds = inRounds(harness.Case{ID: "mrtr/five-rounds"}, 5)
	forEver    = inRounds(harness.Case{ID: "mrtr/for-ever", Barrier: true}, tooManyRounds)
)

// inRounds asks for one sample per round. The checks compare with the number of rounds.
func inRounds(c harness.Case, rounds int) harness.Case {
	c.Script, c.Expect = story.Says("Another one."), rounds
	c.Handler = func(s *server.Session) (any, error) {
		for range rounds {
			if _, err := s.Sample(s.Ask("And another one?")); err != nil {
				return nil, err
			}
		}
		return "That is enough.", nil
	}
	return c
}

var rounds = check.Check{
	ID: "rounds", Rule: "The client continues a call whose retry asks for input again", Levels: robust,
	Cases: []string{"five-rounds"}, Requests: 1, Needs: []check.Need{inputRequired, someRetry},
	Cause: "the client takes the result of a retry as complete",
	Fix:   "Handle the result of a retry like that of the call, up to a limit of rounds (usually 10).",
	Judge: func(e *evidence.Case) check.Verdict {
		results, n, want := e.InputRequiredResults(), e.Retries(), check.Expected[int](e)
		if n >= want {
			return check.Pass("the client completed %d rounds", n).Show(results[n-1].Retries[0].Place, "")
		}
		if v := modelAnswered(e); v != nil {
			return *v
		}
		return check.ShowOutput(e.Session, check.Fail("expected %d rounds, found %d%s", want, n, e.Died()).
			Show(results[len(results)-1].InputRequired.Place, ""))
	},
}

var endless = check.Check{
	ID: "endless", Rule: "The client abandons a call whose results ask for input without end", Levels: robust,
	Cases: []string{"for-ever"}, Requests: 1, Needs: []check.Need{inputRequired, someRetry},
	Cause: "the client retries as long as the server asks",
	Fix:   "Abandon a call after a number of rounds (usually 10), and return an error to its caller.",
	Judge: func(e *evidence.Case) check.Verdict {
		results, n, outcome := e.InputRequiredResults(), e.Retries(), e.ReportedOutcome()
		last := results[len(results)-1]
		at := last.InputRequired.Place
		switch why := e.Session.Unsettled(at); {
		case n >= check.Expected[int](e):
			return check.Fail("expected a limit of rounds, found %d rounds", n).Show(last.Retries[0].Place, "")
		case outcome != "":
			return check.Pass("the client abandoned the call after %d rounds and reports: %s", n, outcome).Show(at, "")
		case why != "":
			return check.NotObserved("the client may still continue after %d rounds: %s", n, why).Show(at, "")
		}
		return check.Pass("the client abandoned the call after %d rounds", n).Show(at, "")
	},
}
