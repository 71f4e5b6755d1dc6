package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/report/html"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

type format struct {
	name   string
	encode func(*report.Results, formatOptions) []byte
}

type formatOptions struct {
	strict bool
	at     time.Time
	traces []*trace.Trace
}

var formats = []format{
	{"json", func(rs *report.Results, _ formatOptions) []byte { return report.JSON(rs) }},
	{"text", func(rs *report.Results, o formatOptions) []byte {
		return report.Text(rs, report.TextOptions{Strict: o.strict, Verbose: true})
	}},
	{"junit", func(rs *report.Results, o formatOptions) []byte { return report.JUnit(rs, o.strict) }},
	{"html", func(rs *report.Results, o formatOptions) []byte {
		return html.Encode([]html.Run{{Results: rs, Traces: o.traces}}, o.strict)
	}},
	{"markdown", func(rs *report.Results, o formatOptions) []byte {
		return report.Markdown(rs, report.MarkdownOptions{Strict: o.strict})
	}},
	{"annotations", func(rs *report.Results, o formatOptions) []byte { return report.Annotations(rs, o.strict) }},
	{"checks", func(rs *report.Results, o formatOptions) []byte { return report.Official(rs, o.at) }},
	{"badge", func(rs *report.Results, o formatOptions) []byte { return report.Badge(rs, o.strict) }},
}

func formatNames() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

type reportFiles map[string]string

// add adds the file of a format. A format is written once.
func (files *reportFiles) add(text string) error {
	name, path, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("expected FORMAT=FILE, found %q", text)
	}
	if other, twice := (*files)[name]; twice && other != path {
		return fmt.Errorf("%s has two files, %s and %s: name one", name, other, path)
	}
	if *files == nil {
		*files = reportFiles{}
	}
	(*files)[name] = path
	return nil
}

func (files reportFiles) Validate() error {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := files[name]
		if err := oneOf("--report", name, formatNames()); err != nil {
			return err
		}
		if path == "" {
			return fmt.Errorf("--report: expected %s=FILE", name)
		}
		if other := seen[filepath.Clean(path)]; other != "" {
			return fmt.Errorf("--report: %s and %s write the same file %s", other, name, path)
		}
		seen[filepath.Clean(path)] = name
	}
	return nil
}

// prepare makes the folders before the run, so that a wrong path is not found out at its end.
func (files reportFiles) prepare() error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := files[name]
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return &exitError{exitHarness, fmt.Errorf("--report: expected a file that can be written: %w", err)}
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return usage(fmt.Errorf("--report: expected a file, found the folder or device %s", path))
		}
		probe, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
		if err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
		if err != nil {
			return &exitError{exitHarness, fmt.Errorf("--report: expected a file that can be written: %s: %w", path, err)}
		}
	}
	return nil
}

// write writes each file completely or not at all.
func (files reportFiles) write(rs *report.Results, o formatOptions) error {
	var all error
	for _, f := range formats {
		if path := files[f.name]; path != "" {
			all = errors.Join(all, writeBytes(path, f.encode(rs, o)))
		}
	}
	return all
}

func writeBytes(path string, raw []byte) error {
	return writeFile(path, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// onGitHub shows the results in GitHub Actions, if the program runs there: annotations, and a step summary.
func onGitHub(rs *report.Results, strict bool, w io.Writer) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	if _, err := w.Write(report.Annotations(rs, strict)); err != nil {
		return err
	}
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("writing the step summary: %w", err)
	}
	room := int64(report.StepSummaryLimit)
	if info, err := f.Stat(); err == nil {
		room -= info.Size()
	}
	if room > 0 {
		_, err = f.Write(report.Markdown(rs, report.MarkdownOptions{Strict: strict, Limit: int(room)}))
	}
	return errors.Join(err, f.Close())
}
