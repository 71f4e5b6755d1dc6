package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestALaterRunSaysWhatChanged(t *testing.T) {
	run := func(verdicts ...report.Verdict) *report.Results {
		rs := &report.Results{Client: "client"}
		for i, v := range verdicts {
			rs.Results = append(rs.Results, report.Result{Scenario: "s", Check: string(rune('a' + i)), Revision: "r",
				Level: report.Must, Verdict: v})
		}
		return rs
	}
	const ok, bad, odd = report.Pass, report.Fail, report.Warn
	kinds := run(bad)
	kinds.Results[0].Others = []report.Finding{{Difference: "lost-text"}}
	warned := run(bad)
	warned.Results[0].Others = []report.Finding{{Difference: "lost-text", Verdict: odd}}
	known := run(bad)
	known.Results[0].Known = &report.Known{}
	part := run(ok)
	part.Results[0].Scenario, part.Flags = "always", []string{"--scenario", "a"}
	rule := run(bad)
	rule.Results[0].Scenario = "always"
	other := run(bad)
	other.Client = "other"
	for name, c := range map[string]struct {
		earlier, now *report.Results
		strict       bool
		want         string
	}{
		"equal":                   {run(ok, bad), run(ok, bad), false, "nothing new since the last run"},
		"new and fixed":           {run(ok, bad, ok), run(bad, ok, bad), false, "2 new, 1 fixed since the last run"},
		"warnings":                {run(ok), run(odd), false, "nothing new since the last run"},
		"strict":                  {run(ok), run(odd), true, "1 new, 0 fixed since the last run"},
		"another kind":            {run(bad), kinds, false, "1 new, 0 fixed since the last run"},
		"another warning":         {run(bad), warned, false, "nothing new since the last run"},
		"strict, another warning": {run(bad), warned, true, "1 new, 0 fixed since the last run"},
		"a warning before":        {warned, kinds, false, "1 new, 0 fixed since the last run"},
		"known now":               {run(bad), known, false, "nothing new since the last run"},
		"not judged then":         {run(report.HarnessError, ok), run(bad, ok), false, "nothing new since the last run"},
		"not judged now":          {run(bad), run(report.Unsupported), false, "nothing new since the last run"},
		"other cases":             {part, rule, false, ""},
		"another client":          {other, run(bad), false, ""},
		"no earlier run":          {nil, run(bad), false, ""},
		"nothing judged":          {run(report.HarnessError), run(bad), false, ""},
	} {
		require.Equal(t, c.want, report.Since(c.earlier, c.now, c.strict), name)
	}
	require.Contains(t, string(report.Text(run(bad), report.TextOptions{Since: "1 new"})), "failed: 1 failed, 1 new")
}
