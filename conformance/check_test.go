package conformance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/client"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/parallel"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/tooluse"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestTheCatalogueIsValid(t *testing.T) {
	require.NoError(t, check.Validate(catalogue()))
}

func TestEachDefectOfACatalogueIsComplainedOf(t *testing.T) {
	play := func(*server.Session) (any, error) { return nil, nil }
	sound := func() []check.Scenario {
		return []check.Scenario{{ID: "s", Revisions: check.WithTools, Cases: []harness.Case{{ID: "s/a", Handler: play}, {ID: "s/b", Handler: play}}, Checks: []check.Check{
			{ID: "one", Rule: "says", Cause: "usual", Fix: "mend", Judge: func(*evidence.Case) check.Verdict { return check.Verdict{} }, Levels: check.Everywhere(report.Robust)},
			{ID: "two", Rule: "says", Cause: "usual", Fix: "mend", Judge: func(*evidence.Case) check.Verdict { return check.Verdict{} }, Levels: check.Everywhere(report.Must),
				Statements: check.ResultSchema, Cases: []string{"a"}},
		}}}
	}
	require.NoError(t, check.Validate(sound()))
	required := "check s/one: ID, Says, Usual, Mend, Judge and Levels are required"
	for name, c := range map[string]struct {
		spoil func([]check.Scenario) []check.Scenario
		want  string
	}{
		"a scenario twice":           {func(s []check.Scenario) []check.Scenario { return append(s, check.Scenario{ID: "s"}) }, `scenario "s": want a name of its own, without a slash`},
		"a scenario without a name":  {func(s []check.Scenario) []check.Scenario { return append(s, check.Scenario{}) }, `scenario "": want a name of its own, without a slash`},
		"a scenario with a slash":    {func(s []check.Scenario) []check.Scenario { return append(s, check.Scenario{ID: "x/y"}) }, `scenario "x/y": want a name of its own, without a slash`},
		"a scenario named client":    {func(s []check.Scenario) []check.Scenario { return append(s, check.Scenario{ID: "client"}) }, `scenario "client": want a name of its own, without a slash`},
		"a case of another scenario": {func(s []check.Scenario) []check.Scenario { s[0].Cases[1].ID = "other/b"; return s }, "case other/b: want s/NAME, once"},
		"a case twice":               {func(s []check.Scenario) []check.Scenario { s[0].Cases[1].ID = "s/a"; return s }, "case s/a: want s/NAME, once"},
		"a case without a name":      {func(s []check.Scenario) []check.Scenario { s[0].Cases[1].ID = "s"; return s }, "case s: want s/NAME, once"},
		"a case without a play":      {func(s []check.Scenario) []check.Scenario { s[0].Cases[1].Handler = nil; return s }, "case s/b: one of Play and Make is required"},
		"a case of another revision": {func(s []check.Scenario) []check.Scenario {
			s[0].Cases[1].Revisions = []server.Revision{server.V20250618}
			return s
		}, "case s/b: it is for 2025-06-18, and the scenario is not"},
		"a check twice":             {func(s []check.Scenario) []check.Scenario { s[0].Checks[0].ID = "two"; return s }, "check s/two: the name is taken"},
		"a check named like a case": {func(s []check.Scenario) []check.Scenario { s[0].Checks[0].ID = "b"; return s }, "check s/b: the name is taken"},
		"a check without Says":      {func(s []check.Scenario) []check.Scenario { s[0].Checks[0].Rule = ""; return s }, required},
		"a check without Usual":     {func(s []check.Scenario) []check.Scenario { s[0].Checks[0].Cause = ""; return s }, required},
		"a check without Mend":      {func(s []check.Scenario) []check.Scenario { s[0].Checks[0].Fix = ""; return s }, required},
		"a check without Judge":     {func(s []check.Scenario) []check.Scenario { s[0].Checks[0].Judge = nil; return s }, required},
		"a check without Levels": {func(s []check.Scenario) []check.Scenario { s[0].Checks[0].Levels = nil; return s },
			required + "; check s/one: it has no level in any revision of the scenario"},
		"a check of another revision": {func(s []check.Scenario) []check.Scenario {
			s[0].Checks[0].Levels = map[server.Revision]report.Level{server.V20250618: report.Robust}
			return s
		}, "check s/one: it has no level in any revision of the scenario"},
		"a case that is not there": {func(s []check.Scenario) []check.Scenario { s[0].Checks[1].Cases = []string{"c"}; return s }, "check s/two: case c is not there"},
		"a requirement that is not there": {func(s []check.Scenario) []check.Scenario {
			s[0].Checks[0].Statements = []string{"2025-11-25/none/1"}
			return s
		}, "check s/one: requirement 2025-11-25/none/1 is not in the table of requirements"},
		"a MUST that nobody wrote": {func(s []check.Scenario) []check.Scenario {
			s[0].Checks[1].Statements = check.ResultSchema[:3]
			return s
		},
			"check s/two: it is a MUST of 2026-07-28, and no requirement says so"},
		"a SHOULD that nobody wrote": {func(s []check.Scenario) []check.Scenario {
			s[0].Checks[0].Levels = check.Levels(report.Should, report.Robust)
			return s
		}, "check s/one: it is a SHOULD of 2025-11-25, and no requirement says so"},
		"a MUST that is a SHOULD": {func(s []check.Scenario) []check.Scenario {
			s[0].Checks[1].Statements = append([]string{"2025-11-25/sampling/16"}, check.ResultSchema[3])
			return s
		}, "check s/two: it is a MUST of 2025-11-25, and what it enforces there is none"},
	} {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, check.Validate(c.spoil(sound())), "the catalogue is wrong: "+c.want)
		})
	}
}

func TestToolsAndMarksAreFitForTheWires(t *testing.T) {
	tools, marks := map[string]string{}, map[string]string{}
	for _, s := range catalogue() {
		for _, c := range s.Cases {
			if c.Carrier == "" {
				require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, c.Tool(), "what every provider takes for a tool's name")
			}
			require.Empty(t, tools[c.Tool()], "%s and %s have one tool", c.ID, tools[c.Tool()])
			require.Regexp(t, `^[a-z0-9]{6,}$`, c.Mark())
			for mark, other := range marks {
				require.False(t, strings.Contains(mark, c.Mark()) || strings.Contains(c.Mark(), mark), "the marks of %s and %s cannot be told apart", c.ID, other)
			}
			tools[c.Tool()], marks[c.Mark()] = c.ID, c.ID
			if c.Script != nil {
				for _, rule := range c.Script(c.Mark()) {
					require.NotNil(t, rule)
				}
			}
		}
	}
}

func TestARequirementIsThatOfTheRevision(t *testing.T) {
	require.Equal(t, "2025-11-25/sampling/08", parallel.ResultsReachModel.Requirement(server.V20251125).ID)
	require.Equal(t, "2026-07-28/sampling/09", parallel.ResultsReachModel.Requirement(server.V20260728).ID)
	require.Nil(t, basic.Answered.Requirement(server.V20251125))
	require.Nil(t, basic.MaxTokens.Requirement(server.V20251125))
}

func TestACheckIsShownByItsCases(t *testing.T) {
	require.Equal(t, []string{"parallel/two-cities", "parallel/thirty-three"}, parallel.UniqueIDs.CasesOf(&parallel.Scenario))
	require.Equal(t, []string{"basic/question", "basic/truncated"}, basic.Answered.CasesOf(&basic.Scenario))
	require.Equal(t, everyCaseOf("tool-use"), (&check.Check{}).CasesOf(&tooluse.Scenario), "one that names no cases is shown by all")
}

func TestTheChecksOfTheClientAreComplete(t *testing.T) {
	var ids []string
	for _, c := range client.ClientChecks() {
		require.NotEmpty(t, c.Rule)
		require.NotEmpty(t, c.Cause)
		require.NotEmpty(t, c.Fix)
		ids = append(ids, c.ID)
	}
	require.Equal(t, []string{"connects", "only-messages", "sampled", "ends-cleanly"}, ids)
}
