package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/mutants"
	"github.com/mcp-conform/mcp-conform/internal/selftest"
)

type selftestCommand struct {
	Mutant []string `arg:"" optional:"" help:"Play only these mutants."`
	Format string   `enum:"text,json" default:"text" help:"Format: text or json."`
	Every  bool     `help:"${selftest_every}"`
}

// Run plays the kill matrix.
func (c *selftestCommand) Run(ctx context.Context, s streams) error {
	for _, name := range c.Mutant {
		if mutants.Find(name) == nil {
			return usage(fmt.Errorf("unknown mutant %q; %s", name,
				hint(name, mutantNames(), "mcp-conform selftest lists the names")))
		}
	}
	m, err := selftest.Run(ctx, selftest.Options{Parallel: runtime.NumCPU(), Every: c.Every, Mutants: c.Mutant})
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted")}
	}
	if err != nil {
		return err
	}
	if c.Format == "json" {
		err = s.json(m)
	} else {
		_, err = s.out.Write(matrixText(m))
	}
	if err == nil && len(m.Wrong) > 0 {
		err = &exitError{exitFailed, fmt.Errorf("the checks are not proven: %d problems", len(m.Wrong))}
	}
	return err
}

// matrixText writes a line for each client: the checks that failed, over all its settings.
func matrixText(m *selftest.Matrix) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-22s %-6s %s\n", "client", "played", "failed checks")
	mutants := 0
	for _, name := range append([]string{""}, mutantNames()...) {
		played := 0
		var failed []string
		for _, row := range m.Rows {
			if row.Mutant == name {
				played++
				failed = append(failed, row.Killed...)
			}
		}
		if played == 0 {
			continue
		}
		if name == "" {
			name = "reference"
		} else {
			mutants++
		}
		fmt.Fprintf(&b, "%-22s %5dx %s\n", name, played, strings.Join(inOrder(failed), ", "))
	}
	for _, wrong := range m.Wrong {
		fmt.Fprintf(&b, "WRONG  %s\n", wrong)
	}
	fmt.Fprintf(&b, "%d checks, %d mutants, %d sessions: %d wrong\n", len(m.Checks), mutants, len(m.Rows), len(m.Wrong))
	return b.Bytes()
}

// inOrder returns the ids without repetitions; "none" for no ids.
func inOrder(ids []string) []string {
	var unique []string
	for _, id := range ids {
		if !slices.Contains(unique, id) {
			unique = append(unique, id)
		}
	}
	if unique == nil {
		return []string{"none"}
	}
	return unique
}
