package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/selftest"
)

type selftestCommand struct {
	Mutant []string `arg:"" optional:"" help:"Play only these mutants."`
	Format string   `enum:"text,json" default:"text" help:"Format: text or json."`
	Every  bool     `help:"${selftest_every}"`

	Conditions bool   `help:"${selftest_conditions}"`
	Faults     int    `placeholder:"N" help:"${selftest_faults}"`
	Seed       uint64 `default:"1" help:"Seed of the random faults."`
	Only       int    `placeholder:"I" help:"Play only the fault with this number, and show what it changed."`
	Out        string `placeholder:"DIR" help:"With --only: also write results and traces to this folder."`
}

func (c *selftestCommand) Validate() error {
	switch {
	case c.Every && c.Conditions || (c.Every || c.Conditions) && c.Faults > 0:
		return errors.New("--every, --conditions and --faults exclude each other")
	case c.Faults < 0:
		return errors.New("--faults: expected a positive number")
	case c.Faults > 0 && c.Mutant != nil:
		return errors.New("--faults: draws its own bugs; leave out the mutants")
	case c.Only < 0 || c.Only > c.Faults:
		return fmt.Errorf("--only: expected a number from 1 to --faults, found %d", c.Only)
	case c.Out != "" && c.Only == 0:
		return errors.New("--out: needs --only")
	}
	return nil
}

func (c *selftestCommand) Run(ctx context.Context, s streams) error {
	if c.Faults > 0 {
		return c.faults(ctx, s)
	}
	for _, name := range c.Mutant {
		if mutants.Find(name) == nil {
			return usage(fmt.Errorf("unknown mutant %q; %s", name,
				hint(name, mutantNames(), "mcp-conform selftest lists the names")))
		}
	}
	o := selftest.Options{Parallel: runtime.NumCPU(), Every: c.Every, Mutants: c.Mutant}
	if c.Conditions {
		pairs, err := selftest.RunConditions(ctx, o)
		return c.write(ctx, s, pairs, err, func() ([]byte, []string) { return pairs.Text(), pairs.Wrong })
	}
	m, err := selftest.Run(ctx, o)
	return c.write(ctx, s, m, err, func() ([]byte, []string) { return matrixText(m), m.Wrong })
}

func (c *selftestCommand) write(ctx context.Context, s streams, played any, err error,
	text func() (report []byte, wrong []string)) error {
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted")}
	}
	if err != nil {
		return err
	}
	report, wrong := text()
	if c.Format == "json" {
		err = s.json(played)
	} else {
		_, err = s.out.Write(report)
	}
	if err == nil && len(wrong) > 0 {
		err = &exitError{exitFailed, fmt.Errorf("the checks are not proven: %d problems", len(wrong))}
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
