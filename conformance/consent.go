package conformance

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// A person stands between the server and the model: who may refuse the request before the model is asked, and the answer before the server
// gets it. What a refusal looks like is an error in the first era, and nothing at all in the second, where a client need not come back.
var consent = Scenario{
	ID:        "consent",
	Purpose:   "the person says no, or is asked for too much at once",
	Revisions: AllRevisions(),
	Cases: []harness.Case{
		{
			ID: "consent/request", Decision: harness.Decline, Barrier: true,
			Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Which river flows through Vienna?")) },
			Script:  says("The Danube."),
		},
		{
			ID: "consent/answer", Decision: harness.DeclineAnswer, Barrier: true,
			Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Which river flows through Cairo?")) },
			Script:  says(refusedAnswer),
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
			Script: says(fruitSaid),
		},
	},
	Checks: []Check{declined, declinedCode, declinedNoModelCall, noMadeUpAnswer, declinedMRTR, declinedAfter, declinedAlive, burst},
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
func declinedRound(e *Evidence) (*Round, *Verdict) {
	r := e.Rounds[0]
	if e.Session.Supports[harness.Decisions] || slices.ContainsFunc(r.Answers, func(a Answer) bool { return a.Err != nil && a.Err.Code == codeDeclined }) {
		return r, nil
	}
	v := Unsupported(`it is not known whether anybody was asked: it takes a client whose person decides as it is told to (decision in MCP_CONFORMANCE_CONTEXT, Env.Decision), and that says so ({"mcp-conform":"supports","feature":"decisions"}, Env.Announce)`).
		See(r.Asked, "")
	return nil, &v
}

// sentWithout returns the verdict where a call was sent again and lacks an answer that it was asked for; nil where none was.
func (ev *Evidence) sentWithout(format string, args ...any) *Verdict {
	for _, r := range ev.Rounds {
		if at := ev.withoutKey(r); at != nil {
			v := Broken(format, args...).See(r.Asked, "").See(at.At("inputResponses"), "← there is no answer under %q", r.id)
			return &v
		}
	}
	return nil
}

// withoutKey returns the retry of a round's call that lacks its answer, for which null is not enough; nil where there is none.
func (ev *Evidence) withoutKey(r *Round) *Place {
	s := ev.Session
	asked := s.order[r.Asked.Ref]
	for i := asked + 1; i < len(s.Trace.Events); i++ {
		e := &s.Trace.Events[i]
		otherCall := e.Call != 0 && e.Call != s.Trace.Events[asked].Call // 0 for a retry that the server could not tell whose it is
		if e.Case != ev.Case.ID || otherCall || e.Frame == nil || e.Frame.Dir != trace.FromClient {
			continue
		}
		m := s.message(e)
		isRetry := hasMember(m.params, "inputResponses") || hasMember(m.params, "requestState")
		answered := slices.ContainsFunc(r.Answers, func(a Answer) bool { return a.Ref == e.Ref() && string(a.Result) != "null" })
		if m.method == "tools/call" && isRetry && !answered {
			return &Place{e.Ref(), "params", "the retry"}
		}
	}
	return nil
}

// Levels and requirements of what every revision says of a person's consent.
var (
	everyoneMayRefuse = []string{"2025-03-26/sampling/user-interaction-model", "2025-06-18/sampling/user-interaction-model",
		"2025-11-25/sampling/01", "2025-11-25/sampling/14", "2026-07-28/sampling/02", "2026-07-28/sampling/21"}
	everyoneMayReview = []string{"2025-03-26/sampling/user-interaction-model", "2025-06-18/sampling/user-interaction-model",
		"2025-11-25/sampling/02", "2026-07-28/sampling/03"}
	refusalCode = map[server.Revision]report.Level{server.V20251125: report.Should}
)
