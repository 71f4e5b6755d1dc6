package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// failures returns results of one check that fails in cases, and says of each a message.
func failures(messages ...string) *report.Results {
	r := result("basic/a", "2025-11-25", report.Must, report.Fail, messages[0])
	for i, message := range messages {
		r.Cases = append(r.Cases, report.CaseResult{
			Case: "basic/" + string(rune('k'+i)), Verdict: report.Fail, Message: message})
	}
	r.Cases = append(r.Cases, report.CaseResult{Case: "basic/fine", Verdict: report.Pass, Message: "all is well here"})
	rs := &report.Results{Results: []report.Result{r}}
	rs.Count()
	return rs
}

func TestCasesThatSaySomethingElseAreToldApart(t *testing.T) {
	rs := failures("expected a response to 1000 levels, found none", "expected a response to 6 MiB of text, found none",
		"expected a response to 7 levels, found none")
	require.Contains(t, string(report.Text(rs, report.TextOptions{})), `
      expected a response to 1000 levels, found none   (k, m)
      expected a response to 6 MiB of text, found none   (l)
`)
	require.Contains(t, string(report.Text(rs, report.TextOptions{Verbose: true})), `
      expected a response to 1000 levels, found none

      other cases       expected a response to 6 MiB of text, found none   (l)
`)
	require.Contains(t, string(report.Markdown(rs, report.MarkdownOptions{})), "6 MiB of text")
}

func TestMessagesThatDifferInOneWordAreOne(t *testing.T) {
	for _, other := range []string{
		`expected the call of get_time in the request, found "b" (messages[1])`,
		`sampling request 12: expected the call of get_weather in the request, found "a \" b" (messages[10].content[2])`,
	} {
		rs := failures(
			`sampling request 1: expected the call of get_weather in the request, found "a" (messages[2])`, other)
		require.Contains(t, string(report.Text(rs, report.TextOptions{})), "(messages[2])   (k, l)\n", other)
	}
	rs := failures("expected a role, found none", "expected one role, found two")
	require.Contains(t, string(report.Text(rs, report.TextOptions{})),
		"found none   (k)\n      expected one role, found two   (l)\n")
}

func TestManyMessagesAreCounted(t *testing.T) {
	four := []string{"one", "two words", "now three words", "four words are here"}
	text := func(messages ...string) string {
		return string(report.Text(failures(messages...), report.TextOptions{}))
	}
	require.Contains(t, text(four...),
		"      two words   (l)\n      now three words   (m)\n      four words are here   (n)\n")
	five := text(append(four, "and these are five words")...)
	require.Contains(t, five, "      now three words   (m)\n      and 2 other messages, which -v shows\n")
	require.NotContains(t, five, "four words are here")
}

func TestALaterRevisionTellsWhatOnlyItSays(t *testing.T) {
	rs, later := failures("one", "two words"), failures("one", "two words", "now three words")
	later.Results[0].Revision = "2026-07-28"
	rs.Results = append(rs.Results, later.Results...)
	require.Contains(t, string(report.Text(rs, report.TextOptions{})),
		"      one   (k)\n      two words   (l)\n      2026-07-28: now three words   (m)\n")
}
