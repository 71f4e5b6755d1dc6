package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Scenario is a story: cases that are played, and the checks that judge them.
type Scenario struct {
	ID string
	// Purpose says in half a sentence what the story is about.
	Purpose string
	// Revisions are those in which it is played.
	Revisions []server.Revision
	Cases     []harness.Case
	Checks    []Check
}

// Check is one rule. Its verdict depends on the evidence alone.
type Check struct {
	// ID is stable: baselines and reports refer to it.
	ID string
	// Rule is the requirement on the client, in a sentence.
	Rule string
	// Levels say how binding the rule is, by revision. A check is not judged in a revision without a level.
	Levels map[server.Revision]report.Level
	// Statements are the IDs of the statements of the specification that the rule enforces (package requirements). Reports name the
	// first one of a revision. A level must not be stricter than the statements of its revision.
	Statements []string
	// Cases are the IDs of the cases that the check judges, without the scenario; nil for all cases of the scenario.
	Cases []string
	// Requests is how many sampling requests the server must have sent, and Results how many of the first ones must have a result, before
	// there is anything to judge. Otherwise the verdict is not_observed, with the reason.
	Requests, Results int
	// Needs are further preconditions, tried in order after Requests and Results.
	Needs []Need
	// Whole is true for a rule about the session as a whole. It is judged however far the case came.
	Whole bool
	// Judge judges one case, once all preconditions hold.
	Judge func(*evidence.Case) Verdict
	// Cause is what usually makes a client break the rule, and Fix what to do about it.
	Cause, Fix string
}

// Levels of a rule, by revision.
func Everywhere(l report.Level) map[server.Revision]report.Level {
	return Levels(l, l)
}

func InLegacy(l report.Level) map[server.Revision]report.Level {
	return map[server.Revision]report.Level{server.V20250326: l, server.V20250618: l, server.V20251125: l}
}

func InModern(l report.Level) map[server.Revision]report.Level {
	return map[server.Revision]report.Level{server.V20260728: l}
}

// sinceTools are those of a rule about tools, or about content that is an array: both came together.
func SinceTools(l report.Level) map[server.Revision]report.Level {
	return map[server.Revision]report.Level{server.V20251125: l, server.V20260728: l}
}

func BeforeTools(l report.Level) map[server.Revision]report.Level {
	return map[server.Revision]report.Level{server.V20250326: l, server.V20250618: l}
}

// levels are those of a rule that the newer era has made stricter.
func Levels(legacy, modern report.Level) map[server.Revision]report.Level {
	l := InLegacy(legacy)
	l[server.V20260728] = modern
	return l
}

// withTools are the revisions in which a sampling request may carry tools.
var WithTools = []server.Revision{server.V20251125, server.V20260728}

// Known returns every revision that some scenario is played in.
func AllRevisions() []server.Revision {
	return []server.Revision{server.V20250326, server.V20250618, server.V20251125, server.V20260728}
}

// Validate returns what is wrong with the catalogue itself: names that clash, checks that name cases or requirements that
// are not there, or that do not say what breaks them.
func Validate(scenarios Catalogue) error {
	var wrong []string
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	taken := map[string]bool{ClientScenario: true}
	for i := range scenarios {
		s := &scenarios[i]
		if s.ID == "" || strings.Contains(s.ID, "/") || taken[s.ID] {
			complain("scenario %q: want a name of its own, without a slash", s.ID)
		}
		taken[s.ID] = true
		cases := s.validateCases(complain)
		for _, c := range s.Checks {
			id := s.ID + "/" + c.ID
			if taken[id] || cases[c.ID] {
				complain("check %s: the name is taken", id)
			}
			taken[id] = true
			c.validate(s, cases, complain)
		}
	}
	if wrong != nil {
		return fmt.Errorf("the catalogue is wrong: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// validateCases returns the names of the scenario's cases.
func (s *Scenario) validateCases(complain func(string, ...any)) map[string]bool {
	names := map[string]bool{}
	for _, c := range s.Cases {
		scenario, name, _ := strings.Cut(c.ID, "/")
		if scenario != s.ID || name == "" || names[name] {
			complain("case %s: want %s/NAME, once", c.ID, s.ID)
		}
		names[name] = true
		if (c.Handler == nil) == (c.Make == nil) {
			complain("case %s: one of Play and Make is required", c.ID)
		}
		for _, r := range c.Revisions {
			if !slices.Contains(s.Revisions, r) {
				complain("case %s: it is for %s, and the scenario is not", c.ID, r)
			}
		}
	}
	return names
}

func (c *Check) validate(s *Scenario, cases map[string]bool, complain func(string, ...any)) {
	id := s.ID + "/" + c.ID
	if c.ID == "" || c.Rule == "" || c.Cause == "" || c.Fix == "" || c.Judge == nil || len(c.Levels) == 0 {
		complain("check %s: ID, Says, Usual, Mend, Judge and Levels are required", id)
	}
	for _, name := range c.Cases {
		if !cases[name] {
			complain("check %s: case %s is not there", id, name)
		}
	}
	for _, r := range c.Statements {
		if requirements.ByID[r] == nil {
			complain("check %s: requirement %s is not in the table of requirements", id, r)
		}
	}
	judged := false
	for _, r := range s.Revisions {
		judged = judged || c.Levels[r] != ""
		if err := c.founded(r); err != nil {
			complain("check %s: %v", id, err)
		}
	}
	if !judged {
		complain("check %s: it has no level in any revision of the scenario", id)
	}
}

// Requirement returns the first statement that the check enforces in a revision; nil where none spells it out.
func (c *Check) Requirement(revision server.Revision) *report.Requirement {
	for _, id := range c.Statements {
		if strings.HasPrefix(id, string(revision)+"/") {
			s := requirements.ByID[id]
			return &report.Requirement{ID: s.ID, URL: s.URL, Text: s.Text}
		}
	}
	return nil
}

// ShownBy returns the IDs of the scenario's cases that show the check.
func (c *Check) ShownBy(s *Scenario) []string {
	var ids []string
	for _, one := range s.Cases {
		if c.Shows(one.ID) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// shownBy reports whether the case is one of those that show the check.
func (c *Check) Shows(caseID string) bool {
	_, name, _ := strings.Cut(caseID, "/")
	return c.Cases == nil || slices.Contains(c.Cases, name)
}

// Catalogue is a list of scenarios, in the order in which they are reported.
type Catalogue []Scenario

// clientScenario is the name under which a client as a whole is judged: that it came, that it was of use, how it went. These
// checks are part of every run and cannot be left out, so that no run is green on nothing.
const ClientScenario = "client"

const ProviderPrefix = "provider-errors/"
