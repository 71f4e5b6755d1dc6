package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/selftest"
	"github.com/mcp-conform/mcp-conform/internal/mutants"
	"github.com/mcp-conform/mcp-conform/internal/nearest"
)

type selftestCommand struct {
	Mutant []string `arg:"" optional:"" help:"Play these mutants, and no others."`
	Format string   `enum:"text,json" default:"text" help:"Format: text or json."`
	Every  bool     `help:"Play each mutant on every wire to the model on which its fault shows, and the whole catalogue on each."`
}

// Run plays the kill matrix.
func (c *selftestCommand) Run(ctx context.Context, s streams) error {
	for _, name := range c.Mutant {
		if mutants.Find(name) == nil {
			return &exitError{exitUsage, fmt.Errorf("there is no mutant %q; %s", name, hint(name, mutantNames()))}
		}
	}
	m, err := selftest.Run(ctx, selftest.Options{Parallel: runtime.NumCPU(), Every: c.Every, Mutants: c.Mutant})
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted")}
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if c.Format == "json" {
		enc := json.NewEncoder(&b)
		enc.SetIndent("", "  ")
		if err := enc.Encode(m); err != nil {
			return err
		}
	} else {
		matrixText(&b, m)
	}
	if _, err := s.out.Write(b.Bytes()); err != nil {
		return err
	}
	if len(m.Wrong) > 0 {
		return &exitError{exitFailed, fmt.Errorf("the checks are not proven: %d things are wrong", len(m.Wrong))}
	}
	return nil
}

// matrixText writes a line a mutant: who failed it, over all settings in which it was played.
func matrixText(b *bytes.Buffer, m *selftest.Matrix) {
	fmt.Fprintf(b, "%-22s %-6s %s\n", "client", "played", "failed by")
	mutants := 0
	for _, name := range append([]string{""}, mutantNames()...) {
		played := 0
		var killed []string
		for _, row := range m.Rows {
			if row.Mutant != name {
				continue
			}
			played++
			for _, id := range row.Killed {
				if !slices.Contains(killed, id) {
					killed = append(killed, id)
				}
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
		if killed == nil {
			killed = []string{"nothing"}
		}
		fmt.Fprintf(b, "%-22s %5dx %s\n", name, played, strings.Join(killed, ", "))
	}
	for _, wrong := range m.Wrong {
		fmt.Fprintf(b, "WRONG  %s\n", wrong)
	}
	fmt.Fprintf(b, "%d checks, %d mutants, %d sessions: %d wrong\n", len(m.Checks), mutants, len(m.Rows), len(m.Wrong))
}

// hint names what is nearest to a name that is not there.
func hint(name string, names []string) string {
	if near := nearest.Names(name, names); near != nil {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return "mcp-conform selftest lists the names"
}

func mutantNames() []string {
	var names []string
	for _, m := range mutants.All() {
		names = append(names, m.Name)
	}
	return names
}
