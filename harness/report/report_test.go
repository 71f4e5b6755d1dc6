package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestLevelAndVerdictDecideWhetherARunFails(t *testing.T) {
	type outcome struct{ fails, failsStrict, warns bool }
	var (
		fatal = outcome{true, true, false}
		warns = outcome{false, true, true}
	)
	notObserved := map[report.Level]outcome{report.Must: fatal, report.Robust: fatal,
		report.Should: warns, report.Advice: warns, report.May: {false, false, true}}
	require.Len(t, notObserved, len(report.Levels()))
	for _, level := range report.Levels() {
		for _, verdict := range report.Verdicts() {
			want := map[report.Verdict]outcome{report.Fail: fatal, report.Warn: warns,
				report.NotObserved: notObserved[level]}[verdict] // the zero outcome for the others
			r := report.Result{Level: level, Verdict: verdict}
			require.Equal(t, want, outcome{r.Failed(false), r.Failed(true), r.Warned()}, "%s %s", level, verdict)
			rs := report.Results{Results: []report.Result{{Level: report.Must, Verdict: report.Pass}, r}}
			require.Equal(t, want.fails, rs.Failed(false), "%s %s", level, verdict)
			require.Equal(t, want.failsStrict, rs.Failed(true), "%s %s", level, verdict)
			require.True(t, rs.Has(verdict))
		}
	}
}

func TestARunWithoutResultsHasFailed(t *testing.T) {
	require.True(t, (&report.Results{}).Failed(false))
	require.False(t, (&report.Results{}).Has(report.Pass))
}

func TestWorstFollowsTheOrderOfVerdicts(t *testing.T) {
	require.Equal(t, report.NotObserved, report.Worst())
	require.Equal(t, report.NotObserved, report.Worst("unknown"))
	order := report.Verdicts()
	for i, worse := range order {
		for _, better := range order[i:] {
			require.Equal(t, worse, report.Worst(better, worse, better))
		}
	}
}

func TestTheSummaryHasEveryVerdict(t *testing.T) {
	pass := report.Result{Verdict: report.Pass}
	rs := report.Results{Results: []report.Result{pass, {Verdict: report.Warn}, pass}}
	rs.Count()
	require.Equal(t, map[report.Verdict]int{"fail": 0, "harness_error": 0, "not_observed": 0, "warn": 1,
		"info": 0, "pass": 2, "unsupported": 0, "not_applicable": 0}, rs.Summary)
}
