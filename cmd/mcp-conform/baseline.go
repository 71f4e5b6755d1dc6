package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/baseline"
)

// baselineName is the baseline of the baseline command without --file.
const baselineName = "mcp-conform-baseline.yaml"

type baselineCommand struct {
	Results string `arg:"" placeholder:"RESULTS" help:"Results of a run: the file of --report json=FILE or --out."`
	File    string `default:"${baseline}" placeholder:"FILE" help:"The baseline (default: ${baseline})."`
	Update  bool   `help:"Write the file. Without the flag, only show what would change."`
	Import  string `placeholder:"FILE" help:"${baseline_import}"`
	Reason  string `default:"not explained yet" placeholder:"TEXT" help:"Reason of new entries."`
	Issue   string `placeholder:"URL" help:"Issue of new entries."`
	Owner   string `placeholder:"NAME" help:"Owner of new entries."`
	Until   string `placeholder:"DATE" help:"Last day of new entries, such as 2027-01-31."`
	Strict  bool   `help:"Take in warnings, too."`
}

func (c *baselineCommand) Validate() error {
	if err := baseline.CheckDay(c.Until); err != nil {
		return fmt.Errorf("--until: %w", err)
	}
	if c.Reason == "" {
		return errors.New("--reason: the text is missing")
	}
	return nil
}

func (c *baselineCommand) Run(_ context.Context, s streams) error {
	rs, err := readResults(newestRun(c.Results, s.err))
	if err != nil {
		return usage(err)
	}
	file, err := baseline.Read(c.File, conformance.BaselineChecks())
	if errors.Is(err, fs.ErrNotExist) {
		file, err = baseline.Parse(c.File, nil, nil)
	}
	if err != nil {
		return usage(err)
	}
	fresh := baseline.Fresh{Reason: c.Reason, Issue: c.Issue, Owner: c.Owner, Until: c.Until, Strict: c.Strict}
	var official *baseline.Official
	if c.Import != "" {
		raw, err := os.ReadFile(c.Import)
		if err == nil {
			official, err = baseline.ReadOfficial(c.Import, raw)
		}
		if err != nil {
			return usage(fmt.Errorf("--import: %w", err))
		}
		fresh.Only = official.Lists
	}
	text, changes := file.Update(rs, fresh)
	if official != nil {
		if names := official.Unmatched(); len(names) > 0 {
			fmt.Fprintf(s.err, "mcp-conform: %s: no failure of this run matches %s\n", c.Import, strings.Join(names, ", "))
		}
	}
	_, unseen := fmt.Fprint(s.out, strings.Join(append(changes, ""), "\n"))
	switch {
	case unseen != nil && !c.Update:
		return unseen
	case len(changes) == 0:
		fmt.Fprintf(s.err, "mcp-conform: %s fits these results\n", c.File)
		return nil
	case !c.Update:
		return &exitError{exitFailed, fmt.Errorf("%s does not fit these results: --update writes it", c.File)}
	}
	err = os.MkdirAll(filepath.Dir(c.File), 0o755)
	if err = errors.Join(err, writeBytes(c.File, []byte(text))); err != nil {
		return &exitError{exitHarness, err}
	}
	fmt.Fprintf(s.err, "mcp-conform: wrote %s\n", c.File)
	return unseen
}

func (c *runCommand) readBaseline() (*baseline.File, error) {
	if c.Baseline == "" {
		return nil, nil
	}
	file, err := baseline.Read(c.Baseline, conformance.BaselineChecks())
	if err != nil {
		return nil, usage(err)
	}
	return file, nil
}
