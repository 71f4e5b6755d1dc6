package cassettes

import (
	"embed"
	"slices"
	"strings"
)

// recordings are the recordings of the project, compressed. The README.md of the folder says how to make them.
//
//go:embed recordings/*.yaml.gz
var recordings embed.FS

const (
	embeddedFolder = "recordings"
	extension      = ".yaml"
	compressed     = extension + ".gz"
)

func embedded(name string) ([]byte, error) {
	data, err := recordings.ReadFile(embeddedFolder + "/" + name + compressed)
	if err != nil {
		return nil, err
	}
	text, err := unzipped(data)
	return []byte(text), err
}

// Names returns the names of the embedded recordings, sorted. A name is the scenario, a dot and the wire form, such as
// "parallel.openai-chat-plain".
func Names() []string {
	entries, err := recordings.ReadDir(embeddedFolder)
	if err != nil {
		panic(err) // the folder is embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), compressed))
	}
	return names
}

// Scenarios returns the scenarios that have embedded recordings, sorted.
func Scenarios() []string {
	var scenarios []string
	for _, name := range Names() {
		scenario, _, _ := strings.Cut(name, ".")
		scenarios = append(scenarios, scenario)
	}
	return slices.Compact(scenarios)
}

// Unrecorded returns the cases of these scenarios that have no recordings, because those would be longer than all
// others together. A run from the recordings skips them.
func Unrecorded() []string {
	return []string{"basic/long", "loop/sixty-four-rounds", "parallel/result-long"}
}
