// Package variations holds clients that differ from the reference client and are correct. It is the counterpart of
// package mutants: a mutant must fail its checks, a variation must pass every check. A variation is a small edit of the
// reference client's wires, which package mutants provides. Each one names the change in package legitimate.
//
// A verdict against a correct client is our worst bug. Add a variation for every difference that a real client has and
// the specification or the provider allows. The files are named after what differs: the requests to one provider
// (chat.go is OpenAI's chat completions), the results to the server, its sessions, and the order of calls.
package variations

import (
	"context"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// Variation is the reference client with one difference that is allowed.
type Variation struct {
	// Name is unique and stable.
	Name string
	// Doc says in one sentence what the client does. Allowed is the ID of the change in package legitimate.
	Doc, Allowed string
	// Config is how the client asks the model. A variation of requests to the model occurs only with its dialect, one of
	// whole replies only without streams; a variation towards the server occurs with every configuration.
	Config reference.Config
	// In are the revisions in which the variation occurs; nil for the newest of each era.
	In []server.Revision
	// Cases are patterns of scenarios and cases in which the variation occurs and matters.
	Cases []string
	// Warns are checks, as chapter/check, that warn about the variation. All others must not.
	Warns []string
	// AnyOrder is true for a client that does not call the tools once each in the order of the list, or never the model,
	// or that needs more time than a session has. Checks that need that cannot judge it.
	AnyOrder bool
	// OnlyCases is true for a client that is correct in its cases, but not in others, such as undeclared requests.
	OnlyCases bool

	// Whole is true for a difference that is correct only as a whole: no condition limits it.
	Whole bool

	// When limits the difference to some samples; the zero value does not.
	When mutants.Condition

	edit   func(w *mutants.Wire) mutants.Edit
	client func(c reference.Config, fired func(mutants.Change)) client // in place of edit
}

// client is a function for [harness.InProcess].
type client = func(ctx context.Context, env harness.Env) error

// Client returns the variation as a function for [harness.InProcess]. Fired is called each time the client does
// something that the reference does not, from any goroutine; nil is allowed.
func (v *Variation) Client(c reference.Config, fired func(mutants.Change)) func(context.Context, harness.Env) error {
	if fired == nil {
		fired = func(mutants.Change) {}
	}
	if v.client != nil {
		return v.client(c, fired)
	}
	return mutants.Client(c, v.edit, v.When, fired)
}

// Conditional reports whether a condition can limit the variation: not one in which tools are called, and when, and not
// one that is correct only as a whole.
func (v *Variation) Conditional() bool { return !v.AnyOrder && !v.Whole && v.client == nil }

// Find returns the variation with that name, or nil.
func Find(name string) *Variation {
	for _, v := range All() {
		if v.Name == name {
			return &v
		}
	}
	return nil
}

// All returns every variation.
func All() []Variation {
	return slices.Concat(chatVariations, anthropicVariations, geminiVariations, ollamaVariations, responsesVariations,
		resultVariations, sessionVariations, callVariations, hostVariations, loopVariations,
		hostTurnVariations, cautiousVariations)
}

// v makes a variation that edits the requests to the model. Cases are patterns, separated by spaces.
func v(name, doc, allowed, cases string, edit func(body object), options ...func(*Variation)) Variation {
	return edited(name, doc, allowed, cases, mutants.Edit{ModelRequest: edit}, options...)
}

func edited(name, doc, allowed, cases string, edit mutants.Edit, options ...func(*Variation)) Variation {
	v := Variation{Name: name, Doc: doc, Allowed: allowed, Cases: strings.Fields(cases),
		edit: func(*mutants.Wire) mutants.Edit { return edit }}
	for _, option := range options {
		option(&v)
	}
	return v
}

// Options of variations, as the members of [Variation] explain them.
func with(c reference.Config) func(*Variation)   { return func(v *Variation) { v.Config = c } }
func warns(checks ...string) func(*Variation)    { return func(v *Variation) { v.Warns = checks } }
func in(all ...server.Revision) func(*Variation) { return func(v *Variation) { v.In = all } }

// having plays a variation in the revisions that have a feature.
func having(feature func(server.Revision) bool) func(*Variation) {
	return in(slices.DeleteFunc(server.AllRevisions(), func(r server.Revision) bool { return !feature(r) })...)
}

// of names the configuration of variations that have none, and puts the prefix before their names.
func of(c reference.Config, prefix string, all ...Variation) []Variation {
	for i := range all {
		all[i].Name = prefix + all[i].Name
		if all[i].Config.Dialect == "" {
			all[i].Config = c
		}
	}
	return all
}
