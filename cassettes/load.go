package cassettes

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/words"
)

// load reads an embedded recording by name, or a file by a path that ends in .yaml. Its error lists what exists.
func load(name string) (*recording, error) {
	if !strings.HasSuffix(name, extension) {
		data, err := embedded(name)
		if err != nil {
			err = fmt.Errorf("recording %q not found: use one of the %d names of the form SCENARIO.DIALECT, "+
				"such as %s, or the path of a file that ends in %s", name, len(Names()), anyName, extension)
			if near := words.DidYouMean(name, Names()); near != "" {
				err = fmt.Errorf("%w; %s", err, near)
			}
			return nil, err
		}
		return parse(name, data)
	}
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

const anyName = "parallel.native"

func beside(path string) string {
	entries, _ := os.ReadDir(filepath.Dir(path)) // an unreadable folder lists none
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension) {
			names = append(names, e.Name())
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
