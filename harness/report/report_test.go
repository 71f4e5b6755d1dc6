package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestWhatFailsARunByLevelAndVerdict(t *testing.T) {
	// For each level: does the verdict fail a run, does it fail a strict one, is it one to look at?
	type outcome struct{ fails, failsStrict, warns bool }
	var (
		fine   = outcome{false, false, false}
		fatal  = outcome{true, true, false}
		look   = outcome{false, true, true}
		noMore = outcome{false, false, true}
	)
	binding := map[report.Verdict]outcome{report.Fail: fatal, report.NotObserved: fatal, report.Warn: look,
		report.HarnessError: fine, report.Info: fine, report.Pass: fine, report.Unsupported: fine, report.NotApplicable: fine}
	advisory := map[report.Verdict]outcome{report.Fail: fatal, report.NotObserved: look, report.Warn: look,
		report.HarnessError: fine, report.Info: fine, report.Pass: fine, report.Unsupported: fine, report.NotApplicable: fine}
	free := map[report.Verdict]outcome{report.Fail: fatal, report.NotObserved: noMore, report.Warn: look,
		report.HarnessError: fine, report.Info: fine, report.Pass: fine, report.Unsupported: fine, report.NotApplicable: fine}
	table := map[report.Level]map[report.Verdict]outcome{report.Must: binding, report.Robust: binding,
		report.Should: advisory, report.Advice: advisory, report.May: free}
	require.Len(t, table, len(report.Levels()), "every level is in the table")
	for level, verdicts := range table {
		require.Len(t, verdicts, len(report.Verdicts()), "every verdict is in the table")
		for verdict, want := range verdicts {
			r := report.Result{Level: level, Verdict: verdict}
			require.Equal(t, want, outcome{r.Failed(false), r.Failed(true), r.Warned()}, "%s %s", level, verdict)
			rs := report.Results{Results: []report.Result{{Level: report.Must, Verdict: report.Pass}, r}}
			require.Equal(t, want.fails, rs.Failed(false), "a run with %s %s", level, verdict)
			require.Equal(t, want.failsStrict, rs.Failed(true), "a strict run with %s %s", level, verdict)
			require.True(t, rs.Has(verdict))
		}
	}
}

func TestARunWithoutResultsHasFailed(t *testing.T) {
	require.True(t, (&report.Results{}).Failed(false))
	require.False(t, (&report.Results{}).Has(report.Pass))
}

func TestTheWorstOfVerdicts(t *testing.T) {
	require.Equal(t, report.NotObserved, report.Worst(), "of nothing")
	order := report.Verdicts()
	for i, worse := range order {
		for _, better := range order[i:] {
			require.Equal(t, worse, report.Worst(better, worse, better))
			require.Equal(t, worse, report.Worst(worse, better))
		}
	}
	require.Equal(t, report.NotObserved, report.Worst("no such verdict"), "what nobody knows shows nothing")
}

func TestTheSummaryCountsEveryVerdict(t *testing.T) {
	rs := report.Results{Results: []report.Result{{Verdict: report.Pass}, {Verdict: report.Warn}, {Verdict: report.Pass}}}
	rs.Count()
	require.Equal(t, map[report.Verdict]int{report.Fail: 0, report.HarnessError: 0, report.NotObserved: 0, report.Warn: 1,
		report.Info: 0, report.Pass: 2, report.Unsupported: 0, report.NotApplicable: 0}, rs.Summary)
}
