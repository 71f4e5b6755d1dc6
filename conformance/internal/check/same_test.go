package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAResultNamesTheDifferenceThatExplainsAllItsCases(t *testing.T) {
	verdict := func(caseID string, v Verdict) caseVerdict {
		return caseVerdict{on: &evidence.Case{Case: trace.Case{ID: caseID}}, Verdict: v}
	}
	place := func(seq int64, path string) report.Evidence {
		return report.Evidence{Case: "loop/a", Seq: seq, Path: path}
	}
	lost := Verdict{Kind: report.Fail, Evidence: []report.Evidence{
		place(3, "params.toolChoice"), place(3, "params.messages[0]"), place(4, "")},
		details: &Details{advice: &advice{kind: "lost"}}}
	root := Judged{Result: report.Result{Scenario: "always", Check: "given", Verdict: report.Fail, Difference: "lost"},
		verdicts: []caseVerdict{verdict("loop/a", lost)}}
	shows := func(places ...report.Evidence) Verdict { return Verdict{Kind: report.Fail, Evidence: places} }
	refused := Verdict{Kind: report.Fail, Reason: evidence.ModelRefused}
	for name, c := range map[string]struct {
		verdicts []caseVerdict
		same     bool
	}{
		"refused by the model":         {[]caseVerdict{verdict("loop/a", refused)}, true},
		"refused in another case, too": {[]caseVerdict{verdict("loop/a", refused), verdict("loop/b", refused)}, false},
		"another case passes": {[]caseVerdict{verdict("loop/a", refused),
			verdict("loop/b", Verdict{Kind: report.Pass})}, true},
		"same place": {[]caseVerdict{verdict("loop/a",
			shows(place(3, "params.toolChoice"), place(9, "")))}, true},
		"same setting of a later request": {[]caseVerdict{verdict("loop/a",
			shows(place(9, "params.toolChoice"), place(10, "")))}, true},
		"same place of a later history": {[]caseVerdict{verdict("loop/a",
			shows(place(9, "params.messages[0]"), place(10, "")))}, false},
		"another place": {[]caseVerdict{verdict("loop/a", shows(place(3, "params.tools")))}, false},
		"same messages": {[]caseVerdict{verdict("loop/a", shows(place(3, "params"), place(4, "")))}, true},
		"same messages, and another": {[]caseVerdict{verdict("loop/a",
			shows(place(3, ""), place(4, ""), place(5, "")))}, false},
		"one of the messages": {[]caseVerdict{verdict("loop/a", shows(place(4, "")))}, false},
		"no verdicts":         {nil, false},
	} {
		all := []Judged{
			root,
			{Result: report.Result{Scenario: "loop", Check: "b", Verdict: report.Fail}, verdicts: c.verdicts},
		}
		NameSame(all)
		require.Equal(t, c.same, all[1].SameAs == "always/given (lost)", name)
		require.Empty(t, all[0].SameAs)
	}
}

func TestAResultNamesTheCheckThatItRepeats(t *testing.T) {
	for name, c := range map[string]struct {
		own, other report.Verdict
		want       string
	}{
		"both fail":             {report.Fail, report.Fail, "always/headers"},
		"one warns":             {report.Fail, report.Warn, "always/headers"},
		"the other check holds": {report.Fail, report.Pass, ""},
		"it passes":             {report.Pass, report.Fail, ""},
	} {
		all := []Judged{
			{Result: report.Result{Scenario: "always", Check: "headers", Verdict: c.other}},
			{Result: report.Result{Scenario: "transport", Check: "rules", Verdict: c.own}, See: "always/headers"},
		}
		NameSame(all)
		require.Equal(t, c.want, all[1].SameAs, name)
		require.Empty(t, all[0].SameAs, name)
	}
}
