// Package recordings holds conversations of the built-in client with our own scripted model, as cassettes in one packed
// archive. No provider was called. After a change of a scenario or of a wire format, record them again:
//
//	go test ./conformance -run TestRecordings -update
//
// There is one cassette for each scenario and way to ask the model. The client of "balance" sends on histories that it
// should refuse, so that the checks can find another one that does.
package recordings

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/internal/solid"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

//go:embed recordings.solid
var archive []byte

var unpacked = sync.OnceValue(func() map[string][]byte {
	files, err := solid.Unpack(archive)
	if err != nil {
		panic(err) // the archive is embedded
	}
	return files
})

// Text returns a recording by name, as the text of a cassette; nil for an unknown name.
func Text(name string) []byte { return unpacked()[name] }

// Names returns the names of the recordings, sorted. A name is the scenario, a dot and the wire form, such as
// "parallel.openai-chat-plain".
func Names() []string { return slices.Sorted(maps.Keys(unpacked())) }

// Scenarios returns the scenarios that have recordings, sorted.
func Scenarios() []string {
	var scenarios []string
	for _, name := range Names() {
		scenario, _, _ := strings.Cut(name, ".")
		scenarios = append(scenarios, scenario)
	}
	return slices.Compact(scenarios)
}

// Unrecorded returns the cases of these scenarios that have no recordings: some would be longer than all others
// together, and some tell others again. A run from the recordings skips them.
func Unrecorded() []string {
	return []string{"basic/long", "basic/*-with-tools", "basic/*-with-results", "loop/sixty-four-rounds",
		"parallel/result-long", "*/*after-image", "*/*after-failure"}
}

// Read returns a recording by name. The error for an unknown name says which is near.
func Read(name string) (*cassettes.File, error) {
	if text := Text(name); text != nil {
		return cassettes.Parse(name, text)
	}
	err := fmt.Errorf("recording %q not found: use one of the %d names of the form SCENARIO.DIALECT, "+
		"such as parallel.native, or the path of a file that ends in .yaml", name, len(unpacked()))
	if near := words.DidYouMean(name, Names()); near != "" {
		err = fmt.Errorf("%w; %s", err, near)
	}
	return nil, err
}

// Replay returns a player of recordings by name, or of all.
func Replay(names ...string) (*cassettes.Player, error) {
	if len(names) == 0 {
		names = Names()
	}
	var files []*cassettes.File
	for _, name := range names {
		f, err := Read(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return cassettes.ReplayFiles(files...), nil
}
