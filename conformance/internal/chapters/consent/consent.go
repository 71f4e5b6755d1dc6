package consent

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// A person stands between the server and the model: who may refuse the request before the model is asked, and the answer before the server
// gets it. What a refusal looks like is an error in the first era, and nothing at all in the second, where a client need not come back.
var Scenario = check.Scenario{
	ID:        "consent",
	Purpose:   "the person says no, or is asked for too much at once",
	Revisions: check.AllRevisions(),
	Cases: []harness.Case{
		{
			ID: "consent/request", Decision: harness.Decline, Barrier: true,
			Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Which river flows through Vienna?")) },
			Script:  story.Says("The Danube."),
		},
		{
			ID: "consent/answer", Decision: harness.DeclineAnswer, Barrier: true,
			Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Which river flows through Cairo?")) },
			Script:  story.Says(refusedAnswer),
		},
		{
			ID: "consent/fifty", Barrier: true, // a client may refuse all of them, which is told from refusing everything by what else it answers
			Handler: func(s *server.Session) (any, error) {
				asked := make([]any, burstSize)
				for i := range asked {
					asked[i] = s.Ask(fmt.Sprintf("Name a fruit, please: this is number %d.", i+1))
				}
				return fmt.Sprintf("%d answers", len(s.SampleAll(asked...))), nil
			},
			Script: story.Says(fruitSaid),
		},
	},
	Checks: []check.Check{declined, declinedCode, declinedNoModelCall, noMadeUpAnswer, declinedMRTR, declinedAfter, declinedAlive, burst},
}

// refusedAnswer is what the model says and the person keeps from the server: words that nobody else would find.
const refusedAnswer = "It is the Nile, says heron 4471."

// burstSize is how many samples are asked for at once.
const burstSize = 50

// fruitSaid is what the model says to each of them.
const fruitSaid = "A pear."

// codeDeclined is the error of a person who declined (2025-11-25, client/sampling#error-handling).
const codeDeclined = -1

// declinedRound returns the request that the person was to refuse, or the verdict for where nothing follows from what became of it. A client that does not say
// that its person decides as the run wants it may have nobody to ask, or an adapter that asks nobody: all that it can show is a refusal
// that can be nothing else.
func declinedRound(e *evidence.Case) (*evidence.Round, *check.Verdict) {
	r := e.Rounds[0]
	if e.Session.Supports[harness.Decisions] || slices.ContainsFunc(r.Answers, func(a evidence.Answer) bool { return a.Err != nil && a.Err.Code == codeDeclined }) {
		return r, nil
	}
	v := check.Unsupported(`it is not known whether anybody was asked: it takes a client whose person decides as it is told to (decision in MCP_CONFORMANCE_CONTEXT, Env.Decision), and that says so ({"mcp-conform":"supports","feature":"decisions"}, Env.Announce)`).
		Show(r.Asked, "")
	return nil, &v
}

// Levels and requirements of what every revision says of a person's consent.
var (
	everyoneMayRefuse = []string{"2025-03-26/sampling/user-interaction-model", "2025-06-18/sampling/user-interaction-model",
		"2025-11-25/sampling/01", "2025-11-25/sampling/14", "2026-07-28/sampling/02", "2026-07-28/sampling/21"}
	everyoneMayReview = []string{"2025-03-26/sampling/user-interaction-model", "2025-06-18/sampling/user-interaction-model",
		"2025-11-25/sampling/02", "2026-07-28/sampling/03"}
	refusalCode = map[server.Revision]report.Level{server.V20251125: report.Should}
)
