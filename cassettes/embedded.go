package cassettes

import (
	"embed"
	"slices"
	"strings"
)

// recordings holds the recordings of the project. Its README.md says how they are made.
//
//go:embed recordings
var recordings embed.FS

const (
	embeddedFolder = "recordings/"
	extension      = ".yaml"
)

// Names returns the names of the embedded recordings, sorted: the scenario, a dot, and the wire form, as in
// "parallel.openai-chat-plain".
func Names() []string {
	entries, err := recordings.ReadDir(strings.TrimSuffix(embeddedFolder, "/"))
	if err != nil {
		panic(err) // the folder is embedded
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), extension); ok {
			names = append(names, name)
		}
	}
	return names
}

// Scenarios returns the scenarios of which there are embedded recordings, sorted. Of others a run from the recordings can only miss.
func Scenarios() []string {
	var scenarios []string
	for _, name := range Names() {
		scenario, _, _ := strings.Cut(name, ".")
		scenarios = append(scenarios, scenario)
	}
	return slices.Compact(scenarios)
}

// Unrecorded returns the cases of these scenarios of which there are no recordings, since those would be longer than all others together. A
// run from the recordings leaves them out.
func Unrecorded() []string { return []string{"basic/long", "loop/sixty-four-rounds"} }
