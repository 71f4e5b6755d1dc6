package mutants

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// object is a JSON object.
type object = map[string]any

// edits are what mutants change, by their name.
type edits map[string]func(w *Wire) Edit

// catalogue says of each mutant what it does wrong, and which checks fail it. Its first lines explain the format.
//
//go:embed catalogue.txt
var catalogue string

// read reads the catalogue. It panics if the catalogue and the edits do not match.
func read() []Mutant {
	known := edits{}
	for _, chapter := range []edits{alwaysEdits,
		clientEdits, stdioEdits, declareEdits, basicEdits, toolEdits, parallelEdits,
		loopEdits, balanceEdits, malformedEdits, cancelEdits, timeEdits, providerEdits, consentEdits, mrtrEdits,
		transportEdits, versionEdits, taskEdits, anthropicEdits, ollamaEdits, responsesEdits, geminiEdits, givenEdits,
		clientLoopEdits, hostLoopEdits,
		translationEdits()} {
		for name, edit := range chapter {
			known[name] = edit
		}
	}
	var mutants []Mutant
	_, sections, _ := strings.Cut(catalogue, "\n== ")
	for section := range strings.SplitSeq(sections, "\n== ") {
		chapter, entries, _ := strings.Cut(section, "\n\n")
		entries = strings.ReplaceAll(strings.TrimSpace(entries), "\n\t", "\t")
		for entry := range strings.SplitSeq(entries, "\n") {
			title, checks, _ := strings.Cut(entry, "\t")
			name, doc, _ := strings.Cut(title, ": ")
			m := Mutant{Name: name, Chapter: chapter, Doc: doc, edit: known[name]}
			if m.edit == nil {
				panic(fmt.Sprintf("mutants: the catalogue has %q: no edit with that name is left", entry))
			}
			delete(known, name)
			m.read(chapter, checks)
			mutants = append(mutants, m)
		}
	}
	for name := range known {
		panic(fmt.Sprintf("mutants: the edit %q is missing in the catalogue", name))
	}
	return mutants
}

// read reads which checks fail the mutant, and where its bug shows.
func (m *Mutant) read(chapter, text string) {
	text, limits, _ := strings.Cut(text, "[")
	must, may, _ := strings.Cut(text, "|")
	whole := func(list string) []string {
		checks := strings.Fields(list)
		for i, id := range checks {
			if !strings.Contains(id, "/") {
				checks[i] = chapter + "/" + id
			}
		}
		return checks
	}
	m.Kills, m.Also = whole(must), whole(may)
	for _, word := range strings.Fields(strings.TrimSuffix(limits, "]")) {
		m.limit(word)
	}
}

// limit limits where the bug shows.
func (m *Mutant) limit(word string) {
	name, list, _ := strings.Cut(word, "=")
	values := strings.Split(list, ",")
	switch flags := map[string]*bool{"wire": &m.Wire, "once": &m.Once, "streamed": &m.Streamed, "stdio": &m.Stdio,
		"hangs": &m.Hangs, "remembers": &m.Remembers}; {
	case flags[name] != nil:
		*flags[name] = true
	case name == "legacy", name == "modern":
		m.Era = name
	case name == "only":
		m.Dialects = values
	case name == "except":
		m.Except = values
	case name == "plays":
		m.Plays = values
	case name == "model":
		m.Model = list
	case name == "in":
		for _, revision := range values {
			m.In = append(m.In, server.Revision(revision))
		}
	default:
		panic(fmt.Sprintf("mutants: the catalogue limits %s by the unknown word %q", m.Name, word))
	}
}
