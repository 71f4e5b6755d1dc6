// Package checktest validates catalogues, for tests.
package checktest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Validate returns the mistakes of a catalogue: duplicate names, unknown cases and statements, missing fields, levels
// without a statement.
func Validate(scenarios check.Catalogue) error {
	v := validation{taken: map[string]bool{check.ClientScenario: true}}
	for i := range scenarios {
		s := &scenarios[i]
		if s.ID == "" || strings.Contains(s.ID, "/") || v.taken[s.ID] {
			v.add("scenario %q: expected a unique name without a slash", s.ID)
		}
		v.taken[s.ID] = true
		cases := v.cases(s)
		for j := range s.Checks {
			v.check(s, &s.Checks[j], cases)
		}
	}
	if v.mistakes != nil {
		return fmt.Errorf("invalid catalogue: %s", strings.Join(v.mistakes, "; "))
	}
	return nil
}

type validation struct {
	taken    map[string]bool // names of scenarios and checks
	mistakes []string
}

func (v *validation) add(format string, args ...any) {
	v.mistakes = append(v.mistakes, fmt.Sprintf(format, args...))
}

// cases validates the scenario's cases and returns their names.
func (v *validation) cases(s *check.Scenario) map[string]bool {
	names := map[string]bool{}
	for _, c := range s.Cases {
		scenario, name, _ := strings.Cut(c.ID, "/")
		if scenario != s.ID || name == "" || names[name] {
			v.add("case %s: expected %s/NAME, once", c.ID, s.ID)
		}
		names[name] = true
		if (c.Handler == nil) == (c.Make == nil) {
			v.add("case %s: expected one of Handler and Make", c.ID)
		}
		for _, r := range c.Revisions {
			if !slices.Contains(s.Revisions, r) {
				v.add("case %s: its revision %s is not a revision of the scenario", c.ID, r)
			}
		}
	}
	return names
}

func (v *validation) check(s *check.Scenario, c *check.Check, cases map[string]bool) {
	id := s.ID + "/" + c.ID
	if v.taken[id] || cases[c.ID] {
		v.add("check %s: the name is taken", id)
	}
	v.taken[id] = true
	if c.ID == "" || c.Rule == "" || c.Cause == "" || c.Fix == "" || len(c.Levels) == 0 ||
		(c.Judge == nil) == (c.JudgeSession == nil) {
		v.add("check %s: ID, Rule, Cause, Fix, Levels and one of Judge and JudgeSession are required", id)
	}
	v.references(id, c, cases)
	judged := false
	for _, r := range s.Revisions {
		judged = judged || c.Levels[r] != ""
		if err := founded(c, r); err != nil {
			v.add("check %s: %v", id, err)
		}
	}
	if !judged {
		v.add("check %s: no level in any revision of the scenario", id)
	}
}

// references validates the cases and statements that the check names.
func (v *validation) references(id string, c *check.Check, cases map[string]bool) {
	for _, name := range c.Cases {
		if !cases[name] {
			v.add("check %s: unknown case %s", id, name)
		}
	}
	for _, statement := range c.Statements {
		if !requirements.Known(statement) {
			v.add("check %s: unknown statement %s", id, statement)
		}
	}
}

// strictness orders the levels of the specification. Our own levels have -1: they need no statement.
func strictness(l report.Level) int {
	return slices.Index([]report.Level{report.May, report.Should, report.Must}, l)
}

// founded returns an error if a check's level is stricter than every statement that it enforces in the revision.
func founded(c *check.Check, revision server.Revision) error {
	level := c.Levels[revision]
	if strictness(level) <= strictness(report.May) {
		return nil
	}
	highest := -1
	for _, s := range c.Enforces(revision) {
		highest = max(highest, strictness(s.Level))
	}
	if highest < strictness(level) {
		return fmt.Errorf("level %s in %s needs a statement of that level, found none", level, revision)
	}
	return nil
}
