package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/legitimate"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

type explainCommand struct {
	ID string `arg:"" help:"A check, such as parallel/results-reach-model, or a scenario."`
}

func (c *explainCommand) Run(_ context.Context, s streams) error {
	var b bytes.Buffer
	var names []string
	gateway := conformance.GatewayChecks()
	for i := range gateway {
		names = append(names, gateway[i].ID)
		if c.ID == gateway[i].ID {
			explainGateway(&b, &gateway[i])
		}
	}
	for _, scenario := range conformance.Scenarios() {
		names = append(names, scenario.ID)
		if scenario.ID == c.ID {
			explainScenario(&b, &scenario)
		}
		for _, check := range scenario.Checks {
			names = append(names, check.ID)
			if _, name, _ := strings.Cut(check.ID, "/"); c.ID == check.ID || c.ID == name {
				explainCheck(&b, &check)
			}
		}
	}
	if b.Len() == 0 {
		return &conformance.SelectionError{Pattern: c.ID, Nearest: words.Near(c.ID, names)}
	}
	_, err := s.out.Write(b.Bytes())
	return err
}

func explainGateway(b *bytes.Buffer, c *conformance.Check) {
	fmt.Fprintln(b, c.ID)
	explainLine(b, "rule", c.Rule)
	explainLine(b, "likely cause", c.Cause)
	explainLine(b, "fix", c.Fix)
	explainLine(b, "reproduce", "mcp-conform run --gateway -- COMMAND")
	explainLine(b, "page", strings.TrimSuffix(report.CheckPages(version()), "checks/")+"gateways.md")
}

func explainScenario(b *bytes.Buffer, s *conformance.Scenario) {
	fmt.Fprintf(b, "%s — %s\n\n", s.ID, s.Purpose)
	for _, c := range s.Checks {
		_, name, _ := strings.Cut(c.ID, "/")
		fmt.Fprintf(b, "  %-24s %s\n", name, c.Rule)
	}
	fmt.Fprintf(b, "\nMore: mcp-conform explain %s/CHECK\n", s.ID)
}

func explainCheck(b *bytes.Buffer, c *conformance.Check) {
	fmt.Fprintln(b, c.ID)
	explainLine(b, "rule", c.Rule)
	explainLine(b, "likely cause", c.Cause)
	explainLine(b, "fix", c.Fix)
	for _, r := range server.AllRevisions() {
		level, ok := c.Levels[r]
		if !ok {
			continue
		}
		text := string(level)
		for _, req := range c.Requirements {
			if strings.HasPrefix(req.ID, string(r)+"/") {
				text += fmt.Sprintf(": %s\n%s", req.Text, req.URL)
			}
		}
		explainLine(b, string(r), text)
	}
	explainLine(b, "covered by", coverage(c.ID, c.Cases))
	var changes []string
	for _, l := range legitimate.By(c.ID) {
		changes = append(changes, l.Change+" — "+l.Reason)
	}
	explainLine(b, "legitimate", strings.Join(changes, "\n"))
	var killers []string
	for _, m := range mutants.All() {
		if slices.Contains(m.Kills, c.ID) {
			killers = append(killers, fmt.Sprintf("builtin:mutant/%s (%s)", m.Name, m.Doc))
		}
	}
	explainLine(b, "mutants", strings.Join(killers, "\n"))
	selected := " --scenario " + c.ID
	if strings.HasPrefix(c.ID, clientScenario) {
		selected = "" // Part of every run.
	}
	explainLine(b, "reproduce", "mcp-conform run"+selected+" -- COMMAND")
	scenario, name, _ := strings.Cut(c.ID, "/")
	explainLine(b, "page", report.CheckPages(version())+scenario+".md#"+name)
}

const clientScenario = "client/"

func coverage(id string, cases []string) string {
	switch {
	case len(cases) > 0:
		return strings.Join(cases, ", ")
	case strings.HasPrefix(id, clientScenario):
		return "every session of every run"
	}
	return "every case of every run"
}

func explainLine(b *bytes.Buffer, label, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, "  %-13s  %s\n", label, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 17)))
}
