package cassettes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// ErrWrite is the error of a file that cannot be written, as opposed to one that is invalid or has nothing to record.
var ErrWrite = errors.New("cannot write the cassette")

type writeError struct{ error }

func (e writeError) Is(target error) bool { return target == ErrWrite }
func (e writeError) Unwrap() error        { return e.error }

// write saves a cassette, whose YAML is document, and its timings (nil: none). It first reads the YAML back and
// compares: earlier versions of the library silently lost spaces at the beginning of bodies.
func write(path string, origin Origin, saved []*cassette.Interaction, document []byte, when []timing) error {
	commented := withComments(origin, len(saved), when != nil, document)
	back, err := parse(path, commented)
	if err != nil {
		return err
	}
	for i := range saved {
		was, is := saved[i], back.interactions[i]
		for _, pair := range [][2]any{{was.Request, is.Request}, {was.Response, is.Response}} {
			// Written with all members, in which an empty list is like a missing one.
			before, after := fmt.Sprintf("%+v", pair[0]), fmt.Sprintf("%+v", pair[1])
			if before != after {
				at := 0
				for at < min(len(before), len(after)) && before[at] == after[at] {
					at++
				}
				return fmt.Errorf("interaction %d differs when it is read back: recorded …%.80q, read …%.80q", i,
					before[max(at-20, 0):], after[max(at-20, 0):])
			}
		}
	}
	staged := []file{{path, commented}}
	if when != nil {
		beside := (&timings{Interactions: when}).encode()
		if _, err := parseTimings(timingFile(path), beside, back); err != nil {
			return err
		}
		staged = []file{{timingFile(path), beside}, staged[0]}
	}
	if err := replace(staged...); err != nil {
		return writeError{err}
	}
	if when != nil {
		return nil
	}
	if err := os.Remove(timingFile(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return writeError{err}
	}
	return nil
}

type file struct {
	path string
	data []byte
}

// replace writes all files or none: it writes temporary files first and then renames them. All are in one folder.
func replace(files ...file) error {
	if err := os.MkdirAll(filepath.Dir(files[0].path), 0o755); err != nil {
		return err
	}
	var temporaries []string
	for _, f := range files {
		temporary, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*")
		if err != nil {
			return fmt.Errorf("cannot create files in the folder %s: %w", filepath.Dir(f.path), cause(err))
		}
		defer os.Remove(temporary.Name()) // already renamed if all went well
		_, err = temporary.Write(f.data)
		if err = errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
			return fmt.Errorf("%s was not written, the old file is unchanged: %w", filepath.Base(f.path), cause(err))
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

// writable reports why path cannot be written, before a provider is called. It tries the nearest folder that exists.
func writable(path string) error {
	folder := filepath.Dir(path)
	for above := filepath.Dir(folder); above != folder; above = filepath.Dir(folder) {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			break
		}
		folder = above
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errors.New("the path is a folder")
	}
	probe, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*")
	if err != nil {
		return writeError{fmt.Errorf("cannot create files in the folder %s: %w", folder, cause(err))}
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// cause removes the name of a temporary file from an error.
func cause(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
