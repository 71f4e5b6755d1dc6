package check

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAKindThatOnlyWarnsIsAFindingBesideAFailure(t *testing.T) {
	session := &evidence.Session{Trace: &trace.Trace{}}
	verdict := func(caseID, kind string, v report.Verdict) caseVerdict {
		return caseVerdict{on: &evidence.Case{Case: trace.Case{ID: caseID}, Session: session},
			Verdict: Verdict{Kind: v, Message: kind, details: &Details{advice: &advice{kind: kind}}}}
	}
	got := fold("always", &Check{ID: "given"}, report.Must, server.V20251125, []caseVerdict{
		verdict("basic/a", "rounded", report.Warn), verdict("basic/b", "lost", report.Fail),
		verdict("basic/c", "lost", report.Warn), verdict("basic/d", "", report.Warn),
		verdict("basic/e", "changed", report.Fail), verdict("basic/f", "", report.Pass),
	})
	type shown struct {
		kind    string
		verdict report.Verdict
		cases   []string
	}
	var all []shown
	for _, f := range got.Findings() {
		one := shown{f.Difference, f.Verdict, nil}
		for _, c := range f.Cases {
			one.cases = append(one.cases, c.Case)
		}
		all = append(all, one)
	}
	rest := []string{"basic/c", "basic/d", "basic/f"} // cases of no finding are with each
	require.Equal(t, []shown{
		{"lost", report.Fail, append([]string{"basic/b"}, rest...)},
		{"changed", report.Fail, []string{"basic/c", "basic/d", "basic/e", "basic/f"}},
		{"rounded", report.Warn, append([]string{"basic/a"}, rest...)},
	}, all)
}

func TestAFindingBehindWhatBrokeTheClientNamesBothCases(t *testing.T) {
	session := &evidence.Session{Trace: &trace.Trace{}}
	on := func(c trace.Case) caseVerdict {
		return caseVerdict{on: &evidence.Case{Case: c, Session: session}, Verdict: Verdict{Kind: report.Fail}}
	}
	got := fold("always", &Check{ID: "given"}, report.Must, server.V20251125, []caseVerdict{
		on(trace.Case{ID: "basic/b", UnservedAfter: "basic/a"}), on(trace.Case{ID: "basic/c"})})
	require.Equal(t, []string{"basic/a", "basic/b"}, got.Together)
	require.Equal(t, "basic/b", got.Case)
	got = fold("always", &Check{ID: "given"}, report.Must, server.V20251125, []caseVerdict{on(trace.Case{ID: "basic/c"})})
	require.Empty(t, got.Together)
}

func TestWhatDependsOnChanceIsReproducedWhereItAlwaysShows(t *testing.T) {
	session := &evidence.Session{Trace: &trace.Trace{}}
	on := func(caseID string, rounds int) caseVerdict {
		return caseVerdict{on: &evidence.Case{Case: trace.Case{ID: caseID}, Session: session,
			Rounds: slices.Repeat([]*evidence.Round{{}}, rounds)},
			Verdict: Verdict{Kind: report.Fail}.ShownBy("transport/events")}
	}
	reproduced := func(verdicts ...caseVerdict) string {
		got := fold("always", &Check{ID: "given"}, report.Must, server.V20251125, verdicts)
		for _, c := range got.Cases {
			require.Equal(t, c.Case != "transport/events", c.Chance)
		}
		return got.Case
	}
	require.Equal(t, "transport/events", reproduced(on("basic/long", 1), on("transport/events", 8), on("basic/a", 2)))
	require.Equal(t, "basic/long", reproduced(on("basic/a", 2), on("basic/long", 1)))
	require.Equal(t, "basic/a", reproduced(on(harness.BarrierID, 0), on("basic/a", 2)))
}
