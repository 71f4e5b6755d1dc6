package cassettes

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const extension = ".yaml"

// load reads a cassette, and its timings. The error for a missing one lists what the folder has.
func load(name string) (*recording, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cassette %s not found: its folder contains %s: %w", name, beside(name), err)
	}
	if err != nil {
		return nil, fmt.Errorf("cassette %s: %w", name, err)
	}
	r, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	return r, loadTimings(name, r)
}

func beside(name string) string {
	entries, _ := os.ReadDir(filepath.Dir(name)) // an unreadable folder lists none
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension) {
			names = append(names, e.Name())
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
