package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// most is everything, known failures, and a client whose texts try to break formats.
func most() *report.Results {
	rs := everything()
	rs.Client = "node `x` | <script>alert(1)</script> ]]> -- \x1b[31m"
	hostile := result("s/hostile", "2025-11-25", report.Must, report.Fail,
		"```\n::error::boom, 100%\r\n# head | <b>&amp;</b> \x00\x01 ]]> \xff")
	rs.Results = append(rs.Results, append(known().Results, hostile)...)
	rs.Baseline = known().Baseline
	rs.Count()
	return rs
}

func TestEncodersMatchTheGoldenFiles(t *testing.T) {
	at := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	for name, rs := range map[string]*report.Results{"most": most(), "calm": calm(), "none": {Client: "nobody"}} {
		golden(t, name+".junit.xml", report.JUnit(rs, false))
		golden(t, name+".md", report.Markdown(rs, report.MarkdownOptions{}))
		golden(t, name+".annotations", report.Annotations(rs, false))
		golden(t, name+".checks.json", report.Official(rs, at))
		golden(t, name+".badge.json", report.Badge(rs, false))
	}
}

func TestEveryFormatShowsWhatFailsTheRun(t *testing.T) {
	for _, strict := range []bool{false, true} {
		for _, level := range report.Levels() {
			for _, verdict := range report.Verdicts() {
				rs := &report.Results{Results: []report.Result{result("s/c", "2025-11-25", level, verdict, "m")}}
				rs.Count()
				failed := rs.Failed(strict) || verdict == report.HarnessError
				var suites struct {
					Failures int `xml:"failures,attr"`
					Errors   int `xml:"errors,attr"`
				}
				require.NoError(t, xml.Unmarshal(report.JUnit(rs, strict), &suites))
				about := fmt.Sprint(strict, level, verdict)
				require.Equal(t, failed, suites.Failures+suites.Errors > 0, about)
				require.Equal(t, failed, bytes.HasPrefix(report.Annotations(rs, strict), []byte("::error ")), about)
				markdown := report.Markdown(rs, report.MarkdownOptions{Strict: strict})
				require.Equal(t, failed, bytes.Contains(markdown, []byte("### ✗ `s/c`")), about)
				var badge struct{ Color string }
				require.NoError(t, json.Unmarshal(report.Badge(rs, strict), &badge))
				require.Equal(t, failed, badge.Color == "red" || badge.Color == "lightgrey", about)
			}
		}
	}
}

// crowd is a run in which many checks fail, each in its own way, and as many warn.
func crowd(n int) *report.Results {
	rs := &report.Results{}
	for i := range n {
		message := fmt.Sprintf("failure %d: %s", i, strings.Repeat("long ", 2000))
		rs.Results = append(rs.Results, result(fmt.Sprintf("s/fails-%d", i), "2025-11-25", report.Must, report.Fail, message),
			result(fmt.Sprintf("s/warns-%d", i), "2025-11-25", report.Should, report.Warn, message))
	}
	return rs
}

func TestAnnotationsStayWithinTheLimitsOfGitHub(t *testing.T) {
	for n, want := range map[int]int{9: 9, 10: 10, 11: 10, 500: 10} {
		text := string(report.Annotations(crowd(n), false))
		require.Equal(t, want, strings.Count(text, "::error "))
		require.Equal(t, want, strings.Count(text, "::warning "))
		require.Equal(t, 2*want, strings.Count(text, "\n"))
		require.Equal(t, n > 10, strings.Contains(text, fmt.Sprintf("%d more: see the step summary", n-9)))
		for _, line := range strings.Split(text, "\n") {
			require.Less(t, len(line), 5000)
		}
	}
}

func TestAnnotationsNameTheFileOfTheBaseline(t *testing.T) {
	rs := known()
	rs.Baseline.Problems[0].Place = `C:\ci\known.yaml:12`
	require.Contains(t, string(report.Annotations(rs, false)), `file=C%3A\ci\known.yaml,line=12,`)
}

func TestAMessageInACodeSpanIsNoMarkdown(t *testing.T) {
	const hostile = `a | b ![c](https://example.com/d.png) \|`
	rs := &report.Results{Client: "client", Results: []report.Result{
		result("s/warns", "2025-11-25", report.Should, report.Warn, hostile),
		result("s/ticks", "2025-11-25", report.Should, report.Warn, "``"+hostile)}}
	text := string(report.Markdown(rs, report.MarkdownOptions{}))
	require.Contains(t, text, ": `"+hostile+"`\n")
	require.Contains(t, text, ": ``` ``"+hostile+" ```\n")
}

func TestMarkdownKeepsItsLimitAndCountsTheRest(t *testing.T) {
	rs := crowd(200)
	whole := report.Markdown(rs, report.MarkdownOptions{})
	require.Greater(t, len(whole), report.StepSummaryLimit)
	part := report.Markdown(rs, report.MarkdownOptions{Limit: report.StepSummaryLimit})
	require.LessOrEqual(t, len(part), report.StepSummaryLimit)
	require.Regexp(t, `\n\d+ more findings do not fit here.\n$`, string(part))
}

func TestABadgeIsRedForABaselineThatDoesNotFit(t *testing.T) {
	require.Contains(t, string(report.Badge(known(), false)), "baseline out of date")
	fits := known()
	fits.Baseline.Problems = nil
	require.Contains(t, string(report.Badge(fits, false)), "1 passed, 2 known failures")
}
