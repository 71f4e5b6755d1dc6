package conformance

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/balance"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/cancel"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/client"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/clientloop"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/consent"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/declare"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/explore"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/hostloop"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/loop"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/malformed"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/mrtr"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/parallel"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/provider"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/tasks"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/timing"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/tooluse"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/transport"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

func catalogue() check.Catalogue {
	return check.Catalogue{
		always.Scenario,
		declare.Scenario, basic.Scenario, tooluse.Scenario, parallel.Scenario, loop.Scenario, balance.Scenario,
		malformed.Scenario, cancel.Scenario, timing.Scenario, provider.Scenario, consent.Scenario, mrtr.Scenario,
		transport.Scenario, tasks.Scenario, clientloop.Scenario, hostloop.Scenario, explore.Scenario,
	}
}

// Scenario describes one scenario of the catalogue.
type Scenario struct {
	ID string `json:"id"`
	// Purpose says in half a sentence what the scenario is about.
	Purpose string `json:"purpose"`
	// Revisions are those in which the scenario is played.
	Revisions []server.Revision `json:"revisions"`
	// Cases holds the IDs of its cases, such as "parallel/two-cities".
	Cases  []string `json:"cases"`
	Checks []Check  `json:"checks"`
}

// Check describes one check of the catalogue.
type Check struct {
	// ID is scenario and check, such as "parallel/results-reach-model". It is stable.
	ID string `json:"id"`
	// Rule is the requirement on the client, in a sentence.
	Rule string `json:"rule"`
	// Levels say how binding the rule is, by revision. A check is not judged in a revision without a level.
	Levels map[server.Revision]report.Level `json:"levels"`
	// Cases are the IDs of the cases that the check judges; nil for a check of the client as a whole, or of every case.
	Cases []string `json:"cases"`
	// Requirements are the statements of the specification behind the rule: at most one for each revision.
	Requirements []report.Requirement `json:"requirements"`
	// Cause is the likely cause of a failure, and Fix what to do about it.
	Cause string `json:"-"`
	Fix   string `json:"-"`

	enforces []string // The places of all statements behind the rule.
}

// Scenarios returns the catalogue in the order of reports. The first two have no cases and are part of every run:
// "client" has the checks of the client as a whole, "always" those of every message of every case.
func Scenarios() []Scenario {
	whole := Scenario{ID: check.ClientScenario, Purpose: "the client as a whole", Revisions: server.AllRevisions()}
	for _, c := range client.Checks() {
		c.Levels = check.Everywhere(report.Robust)
		in := &check.Scenario{ID: check.ClientScenario, Revisions: server.AllRevisions()}
		whole.Checks = append(whole.Checks, describe(in, &c))
	}
	scenarios := []Scenario{whole}
	all := catalogue()
	for i := range all {
		s := &all[i]
		described := Scenario{ID: s.ID, Purpose: s.Purpose, Revisions: s.Revisions}
		for _, c := range s.Cases {
			described.Cases = append(described.Cases, c.ID)
		}
		for j := range s.Checks {
			described.Checks = append(described.Checks, describe(s, &s.Checks[j]))
		}
		scenarios = append(scenarios, described)
	}
	return scenarios
}

func describe(s *check.Scenario, c *check.Check) Check {
	d := Check{
		ID: s.ID + "/" + c.ID, Rule: c.Rule, Cases: c.CasesOf(s), Cause: c.Cause, Fix: c.Fix,
		Levels: map[server.Revision]report.Level{}, Requirements: []report.Requirement{},
	}
	for _, r := range s.Revisions {
		level, ok := c.Levels[r]
		if !ok {
			continue
		}
		d.Levels[r] = level
		for _, statement := range c.Enforces(r) {
			d.enforces = append(d.enforces, statement.Place)
		}
		if req := c.Requirement(r); req != nil {
			d.Requirements = append(d.Requirements, *req)
		}
	}
	return d
}
