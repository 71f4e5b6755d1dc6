package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/reference"
)

type explainCommand struct {
	ID string `arg:"" help:"A check, such as parallel/results-reach-model, or a scenario."`
}

// Run explains a check, or lists the checks of a scenario.
func (c *explainCommand) Run(s streams) error {
	var b bytes.Buffer
	var names []string
	for _, scenario := range conformance.Scenarios() {
		names = append(names, scenario.ID)
		if scenario.ID == c.ID {
			explainScenario(&b, &scenario)
		}
		for i := range scenario.Checks {
			check := &scenario.Checks[i]
			id := scenario.ID + "/" + check.ID
			names = append(names, id)
			if c.ID == id || c.ID == check.ID {
				explainCheck(&b, &scenario, check)
			}
		}
	}
	for _, check := range conformance.ClientChecks() {
		id := "client/" + check.ID
		names = append(names, id)
		if c.ID == id || c.ID == check.ID {
			explainText(&b, id, &check)
		}
	}
	if b.Len() == 0 {
		return &conformance.SelectionError{Pattern: c.ID, Nearest: conformance.Nearest(c.ID, names)}
	}
	_, err := s.out.Write(b.Bytes())
	return err
}

func explainScenario(b *bytes.Buffer, s *conformance.Scenario) {
	fmt.Fprintf(b, "%s — %s\n\n", s.ID, s.Purpose)
	for _, c := range s.Checks {
		fmt.Fprintf(b, "  %-24s %s\n", c.ID, c.Rule)
	}
	fmt.Fprintf(b, "\nMore: mcp-conform explain %s/CHECK\n", s.ID)
}

func explainCheck(b *bytes.Buffer, s *conformance.Scenario, c *conformance.Check) {
	id := s.ID + "/" + c.ID
	explainText(b, id, c)
	for _, r := range conformance.AllRevisions() {
		level, ok := levelsIn(s, c)[r]
		if !ok {
			continue
		}
		text := string(level)
		if req := c.Requirement(r); req != nil {
			text += fmt.Sprintf(": %s\n%s", req.Text, req.URL)
		}
		explainLine(b, string(r), text)
	}
	explainLine(b, "covered by", strings.Join(c.ShownBy(s), ", "))
	var mutants []string
	for _, m := range reference.Mutants() {
		if slices.Contains(m.Kills, id) {
			mutants = append(mutants, fmt.Sprintf("builtin:mutant/%s (%s)", m.Name, m.Doc))
		}
	}
	explainLine(b, "mutants", strings.Join(mutants, "\n"))
	explainLine(b, "reproduce", "mcp-conform run --scenario "+id+" -- COMMAND")
}

func explainText(b *bytes.Buffer, id string, c *conformance.Check) {
	fmt.Fprintln(b, id)
	explainLine(b, "rule", c.Rule)
	explainLine(b, "likely cause", c.Cause)
	explainLine(b, "fix", c.Fix)
}

func explainLine(b *bytes.Buffer, label, text string) {
	fmt.Fprintf(b, "  %-13s  %s\n", label, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 17)))
}
