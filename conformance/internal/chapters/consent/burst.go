package consent

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Some are exported for the tests, which are in a package of their own.
const (
	BurstSize = 50
	Fruit     = "A pear." // the model's answer to each request
)

// The server sends 50 requests at once. The barrier tells a client that refuses all of them from one that refuses
// everything.
var fifty = harness.Case{
	ID: "consent/fifty", Barrier: true,
	Handler: func(s *server.Session) (any, error) {
		asks := make([]any, BurstSize)
		for i := range asks {
			asks[i] = s.Ask(fmt.Sprintf("Name a fruit, please: this is number %d.", i+1))
		}
		return fmt.Sprintf("%d answers", len(s.SampleAll(asks...))), nil
	},
	Script: story.Says(Fruit),
}

var burst = check.Check{
	ID: "burst", Cases: []string{"fifty"}, Statements: []string{"sampling/24"},
	Rule:   "Reports how many of 50 concurrent requests the client answers; it may refuse some with errors",
	Levels: check.May, Requests: BurstSize,
	Cause: "the client has no limit, or drops the requests beyond it",
	Fix:   "Return an error for every request beyond the limit.",
	Judge: func(e *evidence.Case) check.Verdict {
		answered, refused, codes := 0, 0, map[int]bool{}
		var lost *evidence.Round
		var invented []*evidence.Round
		for _, r := range e.Rounds {
			switch a := r.Result(); {
			case a != nil:
				answered++
				if len(r.Model) == 0 && !e.Session.AnswersItself && len(e.Session.Unmarked) == 0 &&
					!evidence.Holds(a.Blocks(), Fruit) {
					invented = append(invented, r)
				}
			case len(r.Answers) > 0:
				refused++
				codes[r.Answers[0].Err.Code] = true
			default:
				lost = r
			}
		}
		switch all := len(e.Rounds); {
		case answered == 0:
			return check.NotApplicable("the client answered none of %d concurrent requests, so no limit shows", all)
		case len(invented) > 0:
			return showResult(check.Warn("expected errors for requests beyond the limit, found %d answers without the model",
				len(invented)), invented[0])
		case lost != nil:
			return check.Warn("expected a response to each of %d concurrent requests, found %d answers and %d errors",
				all, answered, refused).At(lost.Asked)
		case refused > 0:
			return check.Info("of %d concurrent requests the client answered %d and refused %d, with the codes %v",
				all, answered, refused, slices.Sorted(maps.Keys(codes)))
		default:
			return check.Info("the client answered all %d concurrent requests", all)
		}
	},
}
