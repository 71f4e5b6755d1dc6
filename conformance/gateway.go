package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

// Checks of a gateway, in the scenario gateway. They compare a run through it with a run without it, so they are not in
// the catalogue.
const (
	gatewayScenario = "gateway"
	// gatewayCapabilities: the server sees the capabilities that the client declares.
	gatewayCapabilities = "capabilities"
	// gatewayLocal: a gateway listens on the loopback interface only.
	gatewayLocal = "local"
	// gatewayApplies: a check that applies without the gateway applies through it.
	gatewayApplies = "applies"
	// gatewayJudged: a check that passes without the gateway can be judged through it.
	gatewayJudged = "judged"
)

const gatewayNote = "the client of the messages and checks is what the server sees: the gateway, with the built-in " +
	"client behind it; what fails without the gateway, too, is not counted"

// ofGateway returns the results of the gateway, if the suite has one.
func (s *Suite) ofGateway(rs *report.Results, traces []*trace.Trace) *report.Results {
	if s.Direct == nil {
		return rs
	}
	return judgeGateway(s.Direct, rs, traces)
}

// addAlone adds the results of a gateway that sessions of their own show: with several clients, with large messages,
// and, in a run of all scenarios, with a slow answer, which waits beside the others. It returns their traces, but for
// those of large messages.
func (s *Suite) addAlone(ctx context.Context, rs *report.Results) ([]*trace.Trace, error) {
	revisions := revisionsOf(rs)
	slow, errs := make([]*report.Result, len(revisions)), make([]error, len(revisions))
	waits := make([]*trace.Trace, len(revisions))
	var waiting sync.WaitGroup
	for i, revision := range revisions {
		if s.Only != nil {
			break
		}
		waiting.Go(func() {
			slow[i], waits[i], errs[i] = s.alone(ctx, thatTakes(slowAnswer, largeLimit), server.Revision(revision))
		})
	}
	var results []*report.Result
	var traces []*trace.Trace
	for _, revision := range revisions {
		clients, sessions, err := s.together(ctx, server.Revision(revision))
		results, errs = append(results, clients), append(errs, err)
		large, _, errLarge := s.alone(ctx, ofFiveMegabytes(largeLimit), server.Revision(revision))
		dies, death, errDies := s.alone(ctx, thatDies(dyingLimit), server.Revision(revision))
		results, errs = append(results, large, dies), append(errs, errLarge, errDies)
		traces = append(append(traces, sessions...), death)
	}
	waiting.Wait()
	traces = slices.DeleteFunc(append(traces, waits...), func(t *trace.Trace) bool { return t == nil })
	for _, r := range slices.Concat(results, slow) {
		if r != nil {
			rs.Results = append(rs.Results, *r)
		}
	}
	advise(rs.Results)
	rs.Count()
	return traces, errors.Join(errs...)
}

// isOfGateway reports whether a case is of a session that is only for gateways. No run of a client has it.
func isOfGateway(caseID string) bool { return strings.HasPrefix(caseID, gatewayScenario+"/") }

// judgeGateway returns the results of a gateway: those of a run through it, less what is not its doing. direct are the
// results of the same client without it, and traces those of the run through it.
//
// A check that passes directly and does not pass through the gateway is a failure of the gateway. Checks that no longer
// apply, and those that could not be judged, are one result each: one bug may cause many.
func judgeGateway(direct, through *report.Results, traces []*trace.Trace) *report.Results {
	g := gatewayJudge{direct: map[string]*report.Result{}}
	for i := range direct.Results {
		r := &direct.Results[i]
		g.direct[r.ID()+" "+r.Revision] = r
	}
	judged := *through
	judged.Results = nil
	judged.Notes = append(slices.Clip(through.Notes), gatewayNote)
	for i := range through.Results {
		judged.Results = append(judged.Results, g.judge(through.Results[i]))
	}
	for _, revision := range revisionsOf(through) {
		lost := compareCapabilities(traces, revision)
		judged.Results = append(append(judged.Results, lost, listensLocally(traces, revision)),
			judgeLegs(traces, revision)...)
		explained := func(all []report.Result) string {
			if lost.Verdict == report.Fail {
				return "see gateway/capabilities"
			}
			return followsFrom(judged.Results, all, revision)
		}
		judged.Results = append(judged.Results,
			g.collected(gatewayApplies, revision, g.gone, explained(g.gone)),
			g.collected(gatewayJudged, revision, g.unseen, explained(g.unseen)))
	}
	advise(judged.Results)
	judged.Count()
	return &judged
}

// followsFrom names the failures from which it follows that checks do not apply or were not judged: those of the same
// scenarios. It returns "" if a scenario has none.
func followsFrom(results, all []report.Result, revision string) string {
	var failures []string
	for i := range all {
		if all[i].Revision != revision {
			continue
		}
		failed := slices.IndexFunc(results, func(r report.Result) bool {
			return r.Revision == revision && r.Scenario == all[i].Scenario && r.Verdict == report.Fail
		})
		if failed < 0 {
			return ""
		}
		failures = append(failures, results[failed].ID())
	}
	slices.Sort(failures)
	return "see " + strings.Join(slices.Compact(failures), ", ")
}

// advise adds cause and fix to results of the gateway's own checks that have none.
func advise(results []report.Result) {
	for _, c := range GatewayChecks() {
		for i := range results {
			if r := &results[i]; r.ID() == c.ID && r.Verdict != report.Pass && r.Verdict != report.NotApplicable {
				r.Cause, r.Fix = cmp.Or(r.Cause, c.Cause), cmp.Or(r.Fix, c.Fix)
			}
		}
	}
}

func revisionsOf(rs *report.Results) []string {
	seen := map[string]bool{}
	for i := range rs.Results {
		seen[rs.Results[i].Revision] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// gatewayJudge compares results with those of the direct run, by id and revision.
type gatewayJudge struct {
	direct       map[string]*report.Result
	gone, unseen []report.Result // checks that no longer apply, and those that were not judged
}

func (g *gatewayJudge) judge(r report.Result) report.Result {
	before := g.direct[r.ID()+" "+r.Revision]
	if before == nil || r.Verdict == report.Pass || r.Verdict == report.HarnessError {
		return r
	}
	switch before.Verdict {
	case report.Fail, report.NotObserved, report.Warn, report.HarnessError:
		return notJudged(r, "does not pass without the gateway, either: "+before.Message)
	case report.Info:
		if r.Verdict != report.Info {
			return notJudged(r, "reports only: "+r.Message)
		}
	case report.Pass:
		return g.worse(r)
	case report.NotApplicable, report.Unsupported:
		if r.Verdict == report.NotObserved || r.Verdict == report.Unsupported {
			return notJudged(r, "does not apply without the gateway, either: "+before.Message)
		}
	}
	return r
}

// worse judges a check that passes without the gateway.
func (g *gatewayJudge) worse(r report.Result) report.Result {
	const passes = "The check passes without the gateway: a message was changed or lost on its way."
	switch r.Verdict {
	case report.Fail:
		r.Cause, r.Fix = passes, ""
	case report.Warn:
		if r.Level == report.Should || r.Level == report.Must { // a gateway must not break what works
			r.Verdict = report.Fail
		}
		r.Cause, r.Fix = passes, ""
	case report.NotObserved:
		g.unseen = append(g.unseen, r)
		return notJudged(r, "see gateway/judged: "+r.Message)
	case report.NotApplicable, report.Unsupported:
		switch r.ID() {
		case "always/token-unique": // it is about the client's pings
			return notJudged(r, "a gateway may answer pings itself")
		case "always/capabilities-constant": // it is about several sessions
			return notJudged(r, "a gateway may have one session where its client has several")
		case "always/error-shape", "always/no-internals": // their only error may be that of a cancelled request
			return notJudged(r, "a client may respond to a cancelled request with an error, or not at all")
		}
		g.gone = append(g.gone, r)
		return notJudged(r, "see gateway/applies: "+r.Message)
	}
	return r
}

func notJudged(r report.Result, message string) report.Result {
	r.Verdict, r.Message, r.Difference, r.Others = report.NotApplicable, message, "", nil
	r.Evidence, r.Around, r.Cause, r.Fix, r.Prerequisite, r.Reproduce = nil, nil, "", "", "", ""
	return r
}

// collected is one result for all checks of a kind. What another failure explains is not counted.
func (g *gatewayJudge) collected(check, revision string, all []report.Result, explained string) report.Result {
	r := report.Result{Scenario: gatewayScenario, Check: check, Revision: revision, Level: report.Robust,
		Verdict: report.Pass, Message: "all checks that pass without the gateway are judged through it"}
	if check == gatewayApplies {
		r.Message = "all checks that apply without the gateway apply through it"
	}
	why := map[string][]string{}
	n := 0
	for i := range all {
		if one := &all[i]; one.Revision == revision {
			why[one.Message] = append(why[one.Message], one.ID())
			n++
		}
	}
	if n == 0 {
		return r
	}
	reasons := slices.Collect(maps.Keys(why))
	slices.SortFunc(reasons, func(a, b string) int {
		if d := len(why[b]) - len(why[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, reason := range reasons {
		r.Evidence = append(r.Evidence, report.Evidence{Label: words.Count(len(why[reason]), "check"),
			Text: reason + "\n" + strings.Join(why[reason], ", ")})
	}
	first := fmt.Sprintf("%s (%s)", reasons[0], strings.Join(why[reasons[0]][:min(3, len(why[reasons[0]]))], ", "))
	switch {
	case explained != "":
		r.Verdict, r.Evidence = report.NotApplicable, nil
		r.Message = fmt.Sprintf("not judged: %s, %s", words.Count(n, "check"), explained)
	case check == gatewayApplies:
		r.Verdict = report.Fail
		r.Message = fmt.Sprintf("applicable only without the gateway: %s, most of all: %s",
			words.Count(n, "check"), first)
	default:
		r.Verdict = report.NotObserved
		r.Message = fmt.Sprintf("judged only without the gateway: %s, most of all: %s",
			words.Count(n, "check"), first)
	}
	return r
}
