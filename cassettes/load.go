package cassettes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// load reads an embedded recording by its name, or a file by its path, which ends in .yaml. Where there is none it says what there is.
func load(name string) (*recording, error) {
	if !strings.HasSuffix(name, extension) {
		data, err := recordings.ReadFile(embeddedFolder + name + extension)
		if err != nil {
			return nil, fmt.Errorf("there is no recording %q: want one of %s, or the path of a file that ends in %s", name, list(Names()), extension)
		}
		return parse(name, data)
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no cassette %s: its folder has %s: %w", name, list(inFolder(filepath.Dir(name))), err)
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

// inFolder returns the names of the cassettes in a folder, sorted; none where it is not there.
func inFolder(folder string) []string {
	entries, _ := os.ReadDir(folder) // what cannot be read has none to offer
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension) {
			names = append(names, e.Name())
		}
	}
	return names
}

func list(names []string) string {
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}
