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
			return nil, fmt.Errorf("there is no recording %q: want a scenario and a form, such as %s, of which there are %d; or the path of a file that ends in %s",
				name, anyName, len(Names()), extension)
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

// anyName is the name of an embedded recording.
const anyName = "parallel.native"

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
