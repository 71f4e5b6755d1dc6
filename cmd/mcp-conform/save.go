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

// save writes results and traces into a folder and returns their place: the folder itself, or run-2, run-3, … in it if
// it has the files of an earlier run. Each file is written completely or not at all.
func save(dir string, results *report.Results, traces []*trace.Trace) (string, error) {
	dir, err := claim(dir)
	if err != nil {
		return "", err
	}
	written := map[string]int{}
	for _, t := range traces {
		written[t.Header.Revision]++
		name := t.Header.Revision
		if n := written[name]; n > 1 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		if err := writeFile(filepath.Join(dir, "traces", name+".ndjson"), t.Write); err != nil {
			return "", err
		}
	}
	return dir, writeFile(filepath.Join(dir, "results.json"), func(w io.Writer) error {
		_, err := w.Write(report.JSON(results))
		return err
	})
}

// claim makes a folder for one run's files. Of two runs at once, only one can make the folder of the traces.
func claim(dir string) (string, error) {
	for n := 1; ; n++ {
		place := dir
		if n > 1 {
			place = filepath.Join(dir, fmt.Sprintf("run-%d", n))
		}
		if err := os.MkdirAll(place, 0o755); err != nil {
			return "", fmt.Errorf("--out: %w", err)
		}
		err := os.Mkdir(filepath.Join(place, "traces"), 0o755)
		if err == nil {
			return place, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("--out: %w", err)
		}
	}
}

// writeFile writes a file under a temporary name and renames it.
func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("--out: writing %s: %w", path, errors.Join(err, os.Remove(f.Name())))
		}
	}()
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
