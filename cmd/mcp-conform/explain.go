package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/internal/mutants"
)

type explainCommand struct {
	ID string `arg:"" help:"A check, such as parallel/results-reach-model, or a scenario."`
}

// Run explains a check, or lists what a scenario has.
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
		fmt.Fprintf(b, "  %-24s %s\n", c.ID, c.Says)
	}
	fmt.Fprintf(b, "\nmcp-conform explain %s/CHECK says more.\n", s.ID)
}

func explainCheck(b *bytes.Buffer, s *conformance.Scenario, c *conformance.Check) {
	id := s.ID + "/" + c.ID
	explainText(b, id, c)
	for _, r := range conformance.Known() {
		level, ok := levelsIn(s, c)[r]
		if !ok {
			continue
		}
		fmt.Fprintf(b, "  %-13s  %s", r, level)
		if req := c.Requirement(r); req != nil {
			fmt.Fprintf(b, ": %s\n  %15s%s", req.Says, "", req.URL)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "  shown by       %s\n", strings.Join(c.ShownBy(s), ", "))
	var killers []string
	for _, m := range mutants.All() {
		if slices.Contains(m.Kills, id) {
			killers = append(killers, fmt.Sprintf("builtin:mutant/%s (%s)", m.Name, m.Doc))
		}
	}
	fmt.Fprintf(b, "  fails          %s\n", strings.Join(killers, "\n                 "))
	fmt.Fprintf(b, "  again          mcp-conform run --scenario %s -- COMMAND\n", id)
}

func explainText(b *bytes.Buffer, id string, c *conformance.Check) {
	fmt.Fprintf(b, "%s\n  wants          %s\n  usual cause    %s\n  how to mend    %s\n", id, c.Says, c.Usual, c.Mend)
}
