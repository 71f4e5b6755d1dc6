package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/tap"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

// tapFiles are the traces that a tap writes: while it records, so that one that is killed leaves them, and at its end.
type tapFiles struct {
	dir    string
	silent bool     // without bodies
	paths  []string // of the sessions; "" for one that is not written yet
	told   bool     // that one could not be written
}

// keep writes what is recorded, about once a second, until the function that it returns was called. It says once that
// writing failed, and goes on: the disk may have room again.
func (f *tapFiles) keep(r *tap.Recording, says io.Writer) (stop func()) {
	const pause, share = time.Second, 20 // a long recording is written less often: in a twentieth of the time
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		next, written := pause, 0
		for {
			select {
			case <-ended:
				return
			case <-time.After(next):
			}
			if n := r.Len(); n > written {
				begun := time.Now()
				for i, t := range r.Traces() {
					t.Cut = true
					if t.Header.Revision == "" {
						continue // it does not say yet what the file's name is
					}
					if _, err := f.write(i, t); err != nil && !f.told {
						f.told = true
						fmt.Fprintf(says, "mcp-conform: %v. Messages still pass, and the tap tries again\n", err)
					}
				}
				next, written = max(pause, share*time.Since(begun)), n
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(ended)
		<-done
	})
}

// finish writes the whole traces, and says where they are.
func (f *tapFiles) finish(r *tap.Recording, says io.Writer) (files []string, err error) {
	var unwritten []error
	for i, t := range r.Traces() {
		file, err := f.write(i, t)
		if err != nil {
			unwritten = append(unwritten, err)
			continue
		}
		files = append(files, file)
		if !t.Whole {
			fmt.Fprintf(says, "mcp-conform: %s: the session was too long; left out at its end: %s\n", file,
				words.Count(int(t.Dropped), "event"))
		}
	}
	if unwritten == nil || files != nil {
		fmt.Fprintf(says, "mcp-conform: wrote %s\n", orNothing(strings.Join(files, ", ")))
	}
	return files, errors.Join(unwritten...)
}

func orNothing(files string) string {
	if files == "" {
		return "nothing: no client connected"
	}
	return files
}

// write writes the trace of the session, without secrets, to the session's file.
func (f *tapFiles) write(session int, t *trace.Trace) (string, error) {
	tap.Scrub(t, os.Environ())
	if f.silent {
		tap.WithoutBodies(t)
	}
	tap.Number(t)
	for len(f.paths) <= session {
		f.paths = append(f.paths, "")
	}
	path := &f.paths[session]
	if *path == "" {
		made, err := newFile(f.dir, t.Header.Revision)
		if err != nil {
			return "", err
		}
		if err := writeFile(made, t.Write); err != nil {
			return "", errors.Join(err, os.Remove(made))
		}
		*path = made
		return made, nil
	}
	return *path, writeFile(*path, t.Write)
}

// newFile makes a file under a name that no file in the folder has: the revision, and a number.
func newFile(dir, revision string) (string, error) {
	if revision == "" {
		revision = "session"
	}
	for n := 1; ; n++ {
		path := filepath.Join(dir, revision)
		if n > 1 {
			path = fmt.Sprintf("%s-%d", path, n)
		}
		path += ".ndjson"
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o644) // of two taps, one gets the name
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("writing %s: %w", path, err)
		}
		return path, f.Close()
	}
}
