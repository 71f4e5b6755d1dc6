package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/report/html"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/workers"
)

type reportCommand struct {
	Results []string    `arg:"" placeholder:"RESULTS" help:"Folders of run --out, or files of run --report json=FILE."`
	Report  reportFiles `default:"html=report.html" placeholder:"FORMAT=FILE" help:"${report_report}"`
	Strict  bool        `help:"Warnings are failures, too."`
}

// Validate checks the formats.
func (c *reportCommand) Validate() error {
	if err := c.Report.Validate(); err != nil {
		return err
	}
	for name := range c.Report {
		if name != "html" && len(c.Results) > 1 {
			return fmt.Errorf("--report %s: expected the results of one run, found %d: only html compares runs", name,
				len(c.Results))
		}
	}
	return nil
}

func (c *reportCommand) Run(_ context.Context, s streams) error {
	var runs []html.Run
	for _, path := range c.Results {
		run, err := readRun(newestRun(path, s.err))
		if err != nil {
			return usage(err)
		}
		runs = append(runs, run)
	}
	if err := c.Report.prepare(); err != nil {
		return err
	}
	if page := c.Report["html"]; page != "" && len(runs) > 1 {
		if err := writeBytes(page, html.Encode(runs, c.Strict)); err != nil {
			return &exitError{exitHarness, err}
		}
	} else if err := c.Report.write(runs[0].Results, formatOptions{c.Strict, time.Now(), runs[0].Traces}); err != nil {
		return &exitError{exitHarness, err}
	}
	for _, f := range formats {
		if path := c.Report[f.name]; path != "" {
			fmt.Fprintf(s.err, "mcp-conform: wrote %s\n", path)
		}
	}
	return nil
}

func readRun(path string) (html.Run, error) {
	rs, err := readResults(path)
	if err != nil {
		return html.Run{}, err
	}
	run := html.Run{Results: rs}
	if isFolder(path) {
		run.Traces, err = readTraces(filepath.Join(path, "traces"))
	}
	return run, err
}

// savedTraces reads a trace, or those of a folder: of one that run --out wrote, or of any other.
func savedTraces(path string) ([]*trace.Trace, error) {
	if !isFolder(path) {
		one, err := readTrace(path)
		return []*trace.Trace{one}, err
	}
	traces, err := readTraces(filepath.Join(path, "traces"))
	if err == nil && len(traces) == 0 {
		traces, err = readTraces(path)
	}
	if err == nil && len(traces) == 0 {
		err = fmt.Errorf("%s: expected traces (*.ndjson), found none", path)
	}
	return traces, err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readTraces reads the traces of a folder; nil if the folder does not exist.
func readTraces(dir string) ([]*trace.Trace, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading traces: %w", err)
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { // -2 before -10
		return cmp.Compare(len(a.Name()), len(b.Name()))
	})
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) != ".ndjson" })
	traces, errs := make([]*trace.Trace, len(entries)), make([]error, len(entries))
	workers.Each(len(entries), runtime.GOMAXPROCS(0), func(i int) {
		traces[i], errs[i] = readTrace(filepath.Join(dir, entries[i].Name()))
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return traces, nil
}

func readTrace(path string) (*trace.Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := trace.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func readResults(path string) (*report.Results, error) {
	if isFolder(path) {
		path = filepath.Join(path, resultsName)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	rs, err := report.ReadJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rs, nil
}
