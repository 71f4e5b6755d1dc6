package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// resultsName is the file with the results in the folder of a run, and tracesName the folder with its traces.
const resultsName, tracesName = "results.json", "traces"

// save writes results and traces into a folder of [claim], except the first traces, which it has. Each file is written
// completely or not at all.
func save(dir string, results *report.Results, traces []*trace.Trace, has int) error {
	if err := saveTraces(dir, traces, has); err != nil {
		return err
	}
	return writeBytes(filepath.Join(dir, resultsName), report.JSON(results))
}

func saveTraces(dir string, traces []*trace.Trace, has int) error {
	written := map[string]int{}
	for i, t := range traces {
		written[t.Header.Revision]++
		if i < has {
			continue
		}
		name := t.Header.Revision
		if n := written[name]; n > 1 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		path := filepath.Join(dir, "traces", name)
		if err := errors.Join(writeFile(path+".ndjson", t.Write), saveOutput(path, t)); err != nil {
			return err
		}
	}
	return nil
}

// saveOutput writes what the client of a trace wrote. If it wrote nothing, it removes the files that a checkpoint wrote
// under this name.
func saveOutput(path string, t *trace.Trace) error {
	var errs []error
	for i := range t.Events {
		p := t.Events[i].Process
		if p == nil || p.State != trace.Ended {
			continue
		}
		for ending, text := range map[string]string{".stdout": p.Stdout, ".stderr": p.Stderr} {
			if text == "" {
				_ = os.Remove(path + ending)
			} else {
				errs = append(errs, writeFile(path+ending, func(w io.Writer) error {
					_, err := io.WriteString(w, text)
					return err
				}))
			}
		}
	}
	return errors.Join(errs...)
}

// claim makes a folder for one run's files and returns its place: dir itself, or run-2, run-3, … in it if dir has the
// files of an earlier run, which it says. Of two runs at once, only one can make the folder of the traces. "" claims
// nothing.
func claim(dir string, says io.Writer) (string, error) {
	first := 1
	for _, n := range runNumbers(dir, tracesName) {
		first = n
	}
	for n := first; dir != ""; n++ {
		place := runPlace(dir, n)
		if err := os.MkdirAll(place, 0o755); err != nil {
			return "", fmt.Errorf("--out: expected a folder that can be written: %w", err)
		}
		err := os.Mkdir(filepath.Join(place, "traces"), 0o755)
		if err == nil && exists(filepath.Join(place, resultsName)) { // Somebody else's.
			err = errors.Join(fs.ErrExist, os.Remove(filepath.Join(place, "traces")))
		}
		if err == nil && n > 1 {
			fmt.Fprintf(says, "mcp-conform: %s has files of an earlier run; this one writes to %s\n", dir, place)
		}
		if err == nil {
			return place, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("--out: expected a folder that can be written: %w", err)
		}
	}
	return "", nil
}

// release removes a claimed folder in which nothing was written; "" is allowed.
func release(dir string) {
	if dir != "" && os.Remove(filepath.Join(dir, "traces")) == nil {
		_ = os.Remove(dir) // It stays if it has other files.
	}
}

func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, errors.Join(err, os.Remove(f.Name())))
		}
	}()
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
