package cassettes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// write writes a cassette, whose YAML is document, and its timings (nil for none), each under another name that is then renamed, once it has
// been seen that the cassette can be read again: YAML of earlier versions lost spaces at the beginning of bodies, without a word.
func write(path string, origin Origin, saved []*cassette.Interaction, document []byte, when []timing) error {
	framed := frame(origin, len(saved), when != nil, document)
	back, err := parse(path, framed)
	if err != nil {
		return err
	}
	for i := range saved {
		for _, pair := range [][2]any{{saved[i].Request, back.interactions[i].Request}, {saved[i].Response, back.interactions[i].Response}} {
			if diff := cmp.Diff(pair[0], pair[1], cmpopts.EquateEmpty()); diff != "" {
				return fmt.Errorf("interaction %d would not be read as it was recorded (-recorded +read):\n%s", i, diff)
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	staged := []file{{path, framed}}
	if when != nil {
		beside := (&timings{Interactions: when}).encode()
		if _, err := parseTimings(timingFile(path), beside, back); err != nil {
			return err
		}
		staged = []file{{timingFile(path), beside}, staged[0]}
	}
	if err := replace(staged...); err != nil || when != nil {
		return err
	}
	if err := os.Remove(timingFile(path)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// file is one to be written.
type file struct {
	path string
	data []byte
}

// replace writes files, whole or not at all: each has its place only when there was room for all.
func replace(files ...file) error {
	var temporaries []string
	for _, f := range files {
		temporary, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*")
		if err != nil {
			return fmt.Errorf("the folder %s takes no files: %w", filepath.Dir(f.path), cause(err))
		}
		defer os.Remove(temporary.Name()) // not there any more, if all went well
		_, err = temporary.Write(f.data)
		if err = errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
			return fmt.Errorf("%s was not written, and what was there before stands: %w", filepath.Base(f.path), cause(err))
		}
		temporaries = append(temporaries, temporary.Name())
	}
	for i, f := range files {
		if err := os.Rename(temporaries[i], f.path); err != nil {
			return err
		}
	}
	return nil
}

// writable reports why a file could not be written at path, so that it is known before a provider is asked: the folder, or the nearest one above
// it that is there, takes no files.
func writable(path string) error {
	folder := filepath.Dir(path)
	for above := filepath.Dir(folder); above != folder; above = filepath.Dir(folder) {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			break
		}
		folder = above
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errors.New("it is a folder")
	}
	probe, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("the folder %s takes no files: %w", folder, cause(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// cause is an error without the name of a temporary file.
func cause(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
