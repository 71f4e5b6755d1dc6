package check

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// ClientScenario is the scenario of checks of the client as a whole (package chapters/client). Every run has them, so
// that no run passes without evidence.
const ClientScenario = "client"

// ProviderPrefix begins the IDs of the cases in which the model fails on purpose.
const ProviderPrefix = "provider-errors/"

// HostLoopPrefix begins the IDs of the cases in which the model of a host makes mistakes towards the host.
const HostLoopPrefix = "host-loop/"

// Catalogue is a list of scenarios, in the order of reports.
type Catalogue []Scenario

// Scenario is cases that are played, and the checks that judge them.
type Scenario struct {
	ID string
	// Purpose says in half a sentence what the scenario is about.
	Purpose string
	// Revisions are those in which the scenario is played.
	Revisions []server.Revision
	Cases     []harness.Case
	Checks    []Check
	// EveryCase is true for a scenario without cases of its own: its checks judge every case of the run.
	EveryCase bool
	// ClientLoop is true for a scenario about clients that run the tool loop themselves. It applies to no other.
	ClientLoop bool
}

// Check is one rule. Its verdict depends on the evidence alone.
type Check struct {
	// ID is stable: baselines and reports refer to it.
	ID string
	// Rule is the requirement on the client, in a sentence.
	Rule string
	// Levels say how binding the rule is, by revision. A check is not judged in a revision without a level.
	Levels map[server.Revision]report.Level
	// Statements are the IDs of the statements of the specification that the rule enforces (package requirements), in
	// each revision that makes them and does not exclude them. Reports name the first one of a revision. A level must not
	// be stricter than the statements of its revision.
	Statements []string
	// Cases are the IDs of the cases that the check judges, without the scenario; nil for all cases of the scenario.
	Cases []string
	// Requests is how many sampling requests the server must have sent, and Results how many of the first ones must have a
	// result, before there is anything to judge. Otherwise the verdict is not_observed, with the reason.
	Requests, Results int
	// Needs are further preconditions, tried in order after Requests and Results, and First those tried before.
	Needs, First []Need
	// Whole is true for a rule about the session as a whole. It is judged however far the case came.
	Whole bool
	// ServerLoop is true, in a scenario with EveryCase, for a rule about clients that leave the tool loop to the server.
	// It does not apply where the client runs a tool that the model uses. Elsewhere that holds for each check that fails.
	ServerLoop bool
	// Judge judges one case, once all preconditions hold.
	Judge func(*evidence.Case) Verdict
	// JudgeSession replaces Judge in a scenario with EveryCase: it judges one session as a whole. Else nil.
	JudgeSession func(*evidence.Session) Verdict
	// Negotiated is true for a rule that also holds in sessions whose server speaks other revisions than the run's.
	Negotiated bool
	// Cause is what usually makes a client break the rule, and Fix what to do about it.
	Cause, Fix string
}

// Requirement returns the first statement that the check enforces in a revision; nil if the specification has none.
func (c *Check) Requirement(revision server.Revision) *report.Requirement {
	return firstOf(c.Statements, revision)
}

// Enforces returns the statements that the check enforces in a revision.
func (c *Check) Enforces(revision server.Revision) []*requirements.Statement {
	return enforced(c.Statements, revision)
}

func firstOf(statements []string, revision server.Revision) *report.Requirement {
	if all := enforced(statements, revision); len(all) > 0 {
		return &report.Requirement{ID: all[0].Place, URL: all[0].URL, Text: all[0].Text}
	}
	return nil
}

func enforced(ids []string, revision server.Revision) []*requirements.Statement {
	var all []*requirements.Statement
	for _, id := range ids {
		if s := requirements.In(revision, id); s != nil && s.Excluded == "" {
			all = append(all, s)
		}
	}
	return all
}

// CasesOf returns the IDs of the scenario's cases that the check judges.
func (c *Check) CasesOf(s *Scenario) []string {
	var ids []string
	for _, one := range s.Cases {
		if c.Judges(one.ID) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// Judges reports whether the check judges the case of its scenario.
func (c *Check) Judges(caseID string) bool {
	_, name, _ := strings.Cut(caseID, "/")
	return c.Cases == nil || slices.Contains(c.Cases, name)
}
