package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// runPlace is the folder of the nth run: dir itself, or run-2, run-3, … in it.
func runPlace(dir string, n int) string {
	if n == 1 {
		return dir
	}
	return filepath.Join(dir, fmt.Sprintf("run-%d", n))
}

// runNumbers returns the runs in a folder that have the files, the oldest first.
func runNumbers(dir string, files ...string) []int {
	numbers := []int{1}
	entries, _ := os.ReadDir(dir) // Without a folder there is no run.
	for _, e := range entries {
		text, is := strings.CutPrefix(e.Name(), "run-")
		if n, err := strconv.Atoi(text); is && err == nil && n > 1 && runPlace(dir, n) == filepath.Join(dir, e.Name()) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return slices.DeleteFunc(numbers, func(n int) bool {
		return slices.ContainsFunc(files, func(file string) bool { return !exists(filepath.Join(runPlace(dir, n), file)) })
	})
}

// newestRun returns the folder of the newest run, and says which it is if the folder has several; otherwise the path.
func newestRun(path string, says io.Writer) string {
	if !isFolder(path) {
		return path
	}
	runs := runNumbers(path, tracesName, resultsName)
	if len(runs) == 0 || len(runs) == 1 && runs[0] == 1 {
		return path
	}
	newest := runPlace(path, runs[len(runs)-1])
	fmt.Fprintf(says, "mcp-conform: reading %s, the newest run in %s\n", newest, path)
	return newest
}

// removeRuns removes the files of all but the newest runs of a folder. 0 keeps all.
func removeRuns(dir string, keep int) error {
	runs := runNumbers(dir, tracesName, resultsName)
	var err error
	for _, n := range runs[:max(0, len(runs)-keep)] {
		place := runPlace(dir, n)
		err = errors.Join(err, os.RemoveAll(filepath.Join(place, tracesName)), os.Remove(filepath.Join(place, resultsName)))
		_ = os.Remove(place) // It stays if it has other files.
	}
	return err
}

// claimOut claims the folder for the files of the run, after it has read what the last run left there.
func (o *output) claimOut(says io.Writer) (err error) {
	for _, path := range []string{o.Report["json"], o.Out} {
		if rs, err := readResults(newestRun(path, io.Discard)); path != "" && err == nil {
			o.last = rs
		}
	}
	o.runs = o.Out
	if o.Out, err = claim(o.Out, says); err != nil {
		return &exitError{exitHarness, err}
	}
	return nil
}

// since says what is new since the last run.
func (o *output) since(rs *report.Results) string { return report.Since(o.last, rs, o.Strict) }
