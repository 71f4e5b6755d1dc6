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
	for _, chapter := range []edits{clientEdits, stdioEdits, declareEdits, basicEdits, toolEdits, parallelEdits,
		loopEdits, balanceEdits, malformedEdits, cancelEdits, timeEdits, providerEdits, consentEdits, mrtrEdits,
		transportEdits, versionEdits, taskEdits, anthropicEdits, ollamaEdits, responsesEdits, geminiEdits,
		translationEdits()} {
		for name, edit := range chapter {
			known[name] = edit
		}
	}
	var mutants []Mutant
	_, sections, _ := strings.Cut(catalogue, "\n== ")
	for _, section := range strings.Split(sections, "\n== ") {
		chapter, lines, _ := strings.Cut(section, "\n")
		for _, line := range strings.Split(lines, "\n") {
			switch name, doc, isName := strings.Cut(line, ": "); {
			case line == "":
			case line[0] == '\t':
				mutants[len(mutants)-1].read(chapter, line)
			case isName && known[name] != nil:
				mutants = append(mutants, Mutant{Name: name, Doc: doc, edit: known[name]})
				delete(known, name)
			default:
				panic(fmt.Sprintf("mutants: the catalogue has the line %q: no edit with that name is left", line))
			}
		}
	}
	for name := range known {
		panic(fmt.Sprintf("mutants: the edit %q is missing in the catalogue", name))
	}
	return mutants
}

// read reads a line about the mutant's checks and where its bug shows. A long one is continued on the next.
func (m *Mutant) read(chapter, line string) {
	for _, word := range strings.Fields(strings.NewReplacer("[", "[ ", "]", "").Replace(line)) {
		switch {
		case word == "|":
			m.Also = []string{}
		case word == "[":
			m.reading = true
		case m.reading:
			m.limit(word)
		default:
			if !strings.Contains(word, "/") {
				word = chapter + "/" + word
			}
			if m.Also == nil {
				m.Kills = append(m.Kills, word)
			} else {
				m.Also = append(m.Also, word)
			}
		}
	}
}

// limit limits where the bug shows.
func (m *Mutant) limit(word string) {
	name, list, _ := strings.Cut(word, "=")
	values := strings.Split(list, ",")
	switch flags := map[string]*bool{"wire": &m.Wire, "once": &m.Once, "streamed": &m.Streamed, "stdio": &m.Stdio,
		"hangs": &m.Hangs}; {
	case flags[name] != nil:
		*flags[name] = true
	case name == "legacy", name == "modern":
		m.Era = name
	case name == "only":
		m.Dialects = values
	case name == "except":
		m.Except = values
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
