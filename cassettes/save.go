package cassettes

import (
	"errors"
	"fmt"
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
	if when != nil {
		beside := (&timings{Interactions: when}).encode()
		if _, err := parseTimings(timingFile(path), beside, back); err != nil {
			return err
		}
		if err := replace(timingFile(path), beside); err != nil {
			return err
		}
	} else if err := os.Remove(timingFile(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return replace(path, framed)
}

// replace writes a file, whole or not at all.
func replace(path string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // not there any more, if all went well
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
