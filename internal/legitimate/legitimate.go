// Package legitimate lists what a correct client may change between the server and the model, and of its own: each
// change under an ID, with the sentence or the reason that allows it. Checks show the list, variations make the
// changes, and random faults that make one are legal. A change that is not in the list is a bug of the client.
package legitimate

import (
	_ "embed" // changes.txt
	"slices"
	"strings"
)

//go:embed changes.txt
var list string

var changes = read(list)

// read reads a list of changes. A line that is indented continues the one before it.
func read(list string) (all []Change) {
	ways := map[string]Way{"model": Model, "server": Server, "both": Model | Server, "-": 0}
	for line := range strings.Lines(strings.ReplaceAll(list, "\n  ", " ")) {
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(strings.TrimSpace(line), " | ")
		if len(parts) != 4 {
			panic("changes.txt: expected id | way | change | reason, found " + line)
		}
		to, known := ways[parts[1]]
		if !known {
			panic("changes.txt: unknown way in " + line)
		}
		all = append(all, Change{parts[0], to, parts[2], parts[3]})
	}
	return all
}

// Change is a change that a correct client may make.
type Change struct {
	ID string
	// To says on which way a change of the conversation is made; 0 for a change of something else.
	To Way
	// Change says what changes. Reason is the sentence that allows it, or the reason why no sentence forbids it.
	Change, Reason string
}

// Way is a way of the conversation, or several.
type Way int

// The ways: from a sampling request to the request to the model, and from the model's reply to the result.
const (
	Model Way = 1 << iota
	Server
)

// Find returns the change with the ID; nil if it is unknown.
func Find(id string) *Change {
	if i := slices.IndexFunc(changes, func(c Change) bool { return c.ID == id }); i >= 0 {
		return &changes[i]
	}
	return nil
}

// All returns all changes.
func All() []Change { return slices.Clone(changes) }

// By returns the changes that the check with the ID allows; nil for a check without such a list.
func By(check string) []Change {
	switch check {
	case "always/model-was-given":
		return On(Model)
	case "always/server-was-given":
		return On(Server)
	}
	return nil
}

// On returns the changes on a way.
func On(w Way) []Change {
	return slices.DeleteFunc(All(), func(c Change) bool { return c.To&w == 0 })
}
