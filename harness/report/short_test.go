package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestAFailedPrerequisiteIsReportedOnce(t *testing.T) {
	root := result("client/connects", "2025-11-25", report.Robust, report.Fail, "the client never used the server")
	rs := &report.Results{Results: []report.Result{root}}
	for _, id := range []string{"basic/answered", "basic/has-model", "always/new-id"} {
		r := result(id, "2025-11-25", report.Must, report.NotObserved, "nothing came")
		r.Prerequisite = "client/connects"
		rs.Results = append(rs.Results, r)
	}
	rs.Count()
	text := string(report.Text(rs, report.TextOptions{}))
	require.Contains(t, text, "NOT SEEN  not judged because of client/connects: 3 checks\n")
	require.Equal(t, 1, strings.Count(text, "FAIL  "))
	require.NotContains(t, text, "basic/answered")
	require.Contains(t, text, "failed: 1 failed, 3 not judged")
	require.Contains(t, string(report.Text(rs, report.TextOptions{Verbose: true})), "answered")
}

func TestChecksThatSawNothingForOneReasonShareABlock(t *testing.T) {
	rs := &report.Results{}
	for i, id := range []string{"basic/a", "basic/b", "basic/c", "basic/d", "basic/e"} {
		rs.Results = append(rs.Results, result(id, "2025-11-25", report.Must, report.NotObserved,
			"no response to request "+strings.Repeat("1", i+1)))
	}
	rs.Count()
	text := string(report.Text(rs, report.TextOptions{}))
	require.Contains(t, text, "NOT SEEN  basic/a, basic/b, basic/c, basic/d and 1 more   2025-11-25\n")
	require.Equal(t, 1, strings.Count(text, "no response to request"), text)
}

func TestARevisionThatSaysSomethingElseHasALineOfItsOwn(t *testing.T) {
	rs := &report.Results{Results: []report.Result{
		result("basic/a", "2025-11-25", report.Must, report.Fail, "expected 2, found 1"),
		result("basic/a", "2026-07-28", report.Must, report.Fail, "expected a model, found none")}}
	rs.Count()
	require.Contains(
		t,
		string(report.Text(rs, report.TextOptions{})),
		"FAIL  basic/a   2025-11-25 2026-07-28\n      expected 2, found 1\n      2026-07-28: expected a model, found none\n",
	)
}

func TestEachKindOfDifferenceIsAFinding(t *testing.T) {
	r := result("always/model-was-given", "2025-11-25", report.Must, report.Fail, "expected 2 results, found 1")
	r.Difference, r.Fix, r.Case = "lost-result", "Map every result.", "parallel/two-cities"
	r.Cases = []report.CaseResult{
		{Case: "parallel/two-cities", Verdict: report.Fail, Message: "a", Difference: "lost-result"},
		{Case: "basic/media", Verdict: report.Fail, Message: "b", Difference: "lost-media"}}
	r.Others = []report.Finding{{Difference: "lost-media", Message: "expected an image, found none",
		Fix: "Map images.", Case: "basic/media", Reproduce: "play basic/media"}}
	for range 10 {
		r.Others = append(r.Others, report.Finding{Difference: fmt.Sprint("kind-", len(r.Others))})
	}
	rs := &report.Results{Results: []report.Result{r}}
	for _, text := range []string{string(report.Text(rs, report.TextOptions{})),
		string(report.Markdown(rs, report.MarkdownOptions{})), string(report.JUnit(rs, false)),
		string(report.Annotations(rs, false))} {
		for _, want := range []string{"lost-result", "Map every result", "lost-media", "an image",
			"Map images", "play basic/media"} {
			require.Contains(t, text, want)
		}
	}
	short := string(report.Text(rs, report.TextOptions{}))
	require.Contains(
		t,
		short,
		"FAIL  2 more, with -v: always/model-was-given (kind-9), always/model-was-given (kind-10)\n",
	)
	require.NotContains(t, short, "FAIL  always/model-was-given (kind-9)")
	require.Contains(t, string(report.Text(rs, report.TextOptions{Verbose: true})), "kind-9")
}

func TestFailuresThatMatterLeastAreFoldedFirst(t *testing.T) {
	secret := result("always/no-secret", "2025-11-25", report.Must, report.Fail, "found the key")
	rs := &report.Results{Results: []report.Result{
		result("a/unseen", "2025-11-25", report.Must, report.NotObserved, "not seen"),
		result("a/robust", "2025-11-25", report.Robust, report.Fail, "slow"),
	}}
	rs.Results[0].Evidence = []report.Evidence{{Text: "x"}}
	for i := range 9 {
		r := result(fmt.Sprint("b/check-", i), "2025-11-25", report.Must, report.Fail, "many")
		r.Cases = []report.CaseResult{{Case: "b/one", Verdict: report.Fail}, {Case: "b/two", Verdict: report.Fail}}
		rs.Results = append(rs.Results, r)
	}
	rs.Results = append(rs.Results, secret)
	text := string(report.Text(rs, report.TextOptions{}))
	require.Contains(t, text, "FAIL  always/no-secret   2025-11-25\n      found the key\n")
	require.Contains(t, text, "\nFAIL  1 more, with -v: a/robust\n\nNOT SEEN  1 more, with -v: a/unseen\n")
}

func TestOneCauseIsOneFinding(t *testing.T) {
	root := result("always/model-was-given", "2025-11-25", report.Must, report.Fail, "expected 2 results, found 1")
	root.Difference = "lost-result"
	other := result("time/model-slow", "2025-11-25", report.Must, report.Fail, "expected an answer, found none")
	other.SameAs = "always/model-was-given (lost-result)"
	rs := &report.Results{Results: []report.Result{root, other}}
	for _, text := range []string{string(report.Text(rs, report.TextOptions{})),
		string(report.Markdown(rs, report.MarkdownOptions{})), string(report.Annotations(rs, false))} {
		require.Contains(t, text, "time/model-slow")
		require.NotContains(t, text, "expected an answer")
	}
	require.Contains(t, string(report.JUnit(rs, false)), "same cause as     always/model-was-given (lost-result)")
	rs.Results[0].Known = &report.Known{Reason: "later"}
	require.Contains(t, string(report.Text(rs, report.TextOptions{})), "FAIL  time/model-slow")
}

func TestAWarningIsNotCut(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("expected a word ", 30))
	rs := &report.Results{Results: []report.Result{result("basic/a", "2025-11-25", report.Should, report.Warn, long)}}
	text := string(report.Text(rs, report.TextOptions{}))
	require.Contains(t, strings.Join(strings.Fields(text), " "), long)
	require.NotContains(t, text, "…")
}
