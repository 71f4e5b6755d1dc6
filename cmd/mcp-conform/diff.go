package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/report/compare"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

type diffCommand struct {
	Before    string `arg:"" placeholder:"BEFORE" help:"Folder of run --out, file of run --report json=FILE, or a trace."`
	After     string `arg:"" placeholder:"AFTER" help:"The same of the other run."`
	OnlyWorse bool   `help:"Show only what got worse."`
	Format    string `enum:"text,markdown" default:"text" help:"Format: text, or markdown for a pull request."`
}

// Run shows what changed, and fails if something got worse.
func (c *diffCommand) Run(_ context.Context, s streams) error {
	var runs [2]compare.Run
	for i, path := range []string{c.Before, c.After} {
		run, err := comparedRun(path)
		if err != nil {
			return usage(err)
		}
		runs[i] = run
	}
	found := compare.Runs(runs[0], runs[1])
	if found.Alike+len(found.Changes) == 0 {
		return usage(fmt.Errorf("%s and %s have no check in common: compare runs of the same revisions and scenarios",
			c.Before, c.After))
	}
	encode := compare.Text
	if c.Format == "markdown" {
		encode = compare.Markdown
	}
	if _, err := s.out.Write(encode(found, c.OnlyWorse)); err != nil {
		return err
	}
	if found.Count(compare.Worse) > 0 {
		return &exitError{exitFailed, nil}
	}
	return nil
}

// comparedRun reads saved results with their traces, or judges traces that have none.
func comparedRun(path string) (compare.Run, error) {
	run, err := readRun(path)
	if err == nil {
		return compare.Run{Name: path, Results: run.Results, Traces: run.Traces}, nil
	}
	traces, wrong := savedTraces(path)
	switch {
	case isFolder(path) && !errors.Is(err, fs.ErrNotExist):
		return compare.Run{}, err
	case !isFolder(path) && errors.Is(wrong, trace.ErrNotTrace):
		return compare.Run{}, fmt.Errorf("expected results or a trace: %w; %w", err, wrong)
	case wrong != nil:
		return compare.Run{}, wrong
	}
	rs, err := conformance.Judge(traces...)
	return compare.Run{Name: path, Results: rs, Traces: traces}, err
}
