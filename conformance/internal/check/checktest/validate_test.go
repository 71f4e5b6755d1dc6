package checktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// valid returns a small catalogue without a mistake.
func valid() check.Catalogue {
	handler := func(*server.Session) (any, error) { return nil, nil }
	judge := func(*evidence.Case) check.Verdict { return check.Verdict{} }
	return check.Catalogue{{ID: "s", Revisions: server.DefaultRevisions(),
		Cases: []harness.Case{{ID: "s/a", Handler: handler}, {ID: "s/b", Handler: handler}},
		Checks: []check.Check{
			{ID: "one", Rule: "r", Cause: "c", Fix: "f", Judge: judge, Levels: check.Everywhere(report.Robust)},
			{ID: "two", Rule: "r", Cause: "c", Fix: "f", Judge: judge, Levels: check.Everywhere(report.Must),
				Statements: check.ResultSchema,
				Cases:      []string{"a"}},
		}}}
}

func TestValidateReportsEachMistake(t *testing.T) {
	require.NoError(t, Validate(valid()))
	const required = "check s/one: ID, Rule, Cause, Fix, Levels and one of Judge and JudgeSession are required"
	const unique = ": expected a unique name without a slash"
	one := func(edit func(*check.Check)) func(check.Catalogue) check.Catalogue {
		return func(c check.Catalogue) check.Catalogue { edit(&c[0].Checks[0]); return c }
	}
	two := func(edit func(*check.Check)) func(check.Catalogue) check.Catalogue {
		return func(c check.Catalogue) check.Catalogue { edit(&c[0].Checks[1]); return c }
	}
	secondCase := func(edit func(*harness.Case)) func(check.Catalogue) check.Catalogue {
		return func(c check.Catalogue) check.Catalogue { edit(&c[0].Cases[1]); return c }
	}
	more := func(id string) func(check.Catalogue) check.Catalogue {
		return func(c check.Catalogue) check.Catalogue { return append(c, check.Scenario{ID: id}) }
	}
	for name, test := range map[string]struct {
		spoil func(check.Catalogue) check.Catalogue
		want  string
	}{
		"duplicate scenario":      {more("s"), `scenario "s"` + unique},
		"scenario without a name": {more(""), `scenario ""` + unique},
		"scenario with a slash":   {more("x/y"), `scenario "x/y"` + unique},
		"scenario named client":   {more("client"), `scenario "client"` + unique},
		"case of another scenario": {secondCase(func(c *harness.Case) { c.ID = "other/b" }),
			"case other/b: expected s/NAME, once"},
		"duplicate case":      {secondCase(func(c *harness.Case) { c.ID = "s/a" }), "case s/a: expected s/NAME, once"},
		"case without a name": {secondCase(func(c *harness.Case) { c.ID = "s" }), "case s: expected s/NAME, once"},
		"case without a handler": {secondCase(func(c *harness.Case) { c.Handler = nil }),
			"case s/b: expected one of Handler and Make"},
		"case of another revision": {secondCase(func(c *harness.Case) { c.Revisions = []server.Revision{server.V20250618} }),
			"case s/b: its revision 2025-06-18 is not a revision of the scenario"},
		"duplicate check":         {one(func(c *check.Check) { c.ID = "two" }), "check s/two: the name is taken"},
		"check named like a case": {one(func(c *check.Check) { c.ID = "b" }), "check s/b: the name is taken"},
		"check without a rule":    {one(func(c *check.Check) { c.Rule = "" }), required},
		"check without a cause":   {one(func(c *check.Check) { c.Cause = "" }), required},
		"check without a fix":     {one(func(c *check.Check) { c.Fix = "" }), required},
		"check without Judge":     {one(func(c *check.Check) { c.Judge = nil }), required},
		"check without levels": {one(func(c *check.Check) { c.Levels = nil }), required +
			"; check s/one: no level in any revision of the scenario"},
		"check of another revision": {one(func(c *check.Check) { c.Levels = check.BeforeTools(report.Robust) }),
			"check s/one: no level in any revision of the scenario"},
		"unknown case": {two(func(c *check.Check) { c.Cases = []string{"c"} }), "check s/two: unknown case c"},
		"unknown statement": {one(func(c *check.Check) { c.Statements = []string{"none/1"} }),
			"check s/one: unknown statement none/1"},
		"MUST without a statement": {two(func(c *check.Check) { c.Statements = []string{"basic/unique-ids"} }),
			"check s/two: level MUST in 2026-07-28 needs a statement of that level, found none"},
		"SHOULD without a statement": {one(func(c *check.Check) { c.Levels = check.Levels(report.Should, report.Robust) }),
			"check s/one: level SHOULD in 2025-11-25 needs a statement of that level, found none"},
		"MUST on a SHOULD statement": {two(func(c *check.Check) {
			c.Statements = []string{"sampling/23", "sampling/18"}
		}), "check s/two: level MUST in 2025-11-25 needs a statement of that level, found none"},
	} {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, Validate(test.spoil(valid())), "invalid catalogue: "+test.want)
		})
	}
}

func TestCheckNamesItsCasesAndRequirements(t *testing.T) {
	s := &valid()[0]
	require.Equal(t, []string{"s/a", "s/b"}, s.Checks[0].CasesOf(s), "no names stand for all cases")
	require.Equal(t, []string{"s/a"}, s.Checks[1].CasesOf(s))
	require.Equal(t, "2026-07-28/schema/CreateMessageResult", s.Checks[1].Requirement(server.V20260728).ID)
	require.Nil(t, s.Checks[0].Requirement(server.V20260728))
}
