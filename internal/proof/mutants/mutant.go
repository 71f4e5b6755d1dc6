package mutants

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// Mutant is the reference client with one bug.
type Mutant struct {
	// Name selects the mutant, as in --client builtin:mutant/NAME.
	Name string
	// Chapter is the scenario whose checks it must fail, mostly.
	Chapter string
	// Doc says in one sentence what the client does wrong.
	Doc string
	// Kills are the checks that must fail the mutant, as chapter/check.
	Kills []string
	// Also are checks that may fail it too, because they look at the same thing. No other check may.
	Also []string
	// Plays are patterns of scenarios and cases that its checks of the chapter always need; nil if it has others.
	Plays []string
	// Dialects are the dialects in which the bug shows; nil for all.
	Dialects []string
	// Except are dialects in which the bug does not show.
	Except []string
	// Model is the model with which the bug shows, if the models of one dialect differ; "" for all.
	Model string
	// Streamed is true for a bug that only a streaming client has.
	Streamed bool
	// Once is true for a bug that is the same in all settings of its dialects. The self-test uses the first of them.
	Once bool
	// Wire is true for a bug on the wire to the server, which is the same for every way to ask the model.
	Wire bool
	// In are the revisions in which the bug shows; nil for the newest of each era.
	In []server.Revision
	// Era is "legacy" or "modern" for a bug that only one era has; "" for both.
	Era string
	// Stdio is true for a bug that only a client over stdio can have.
	Stdio bool
	// Hangs is true for a mutant that never ends by itself in the legacy era.
	Hangs bool

	// Remembers is true for a bug that depends on messages which it does not change. What it does under a condition does
	// not follow from what it does without.
	Remembers bool

	// When limits the bug to some samples; the zero value does not.
	When Condition

	edit func(w *Wire) Edit
}

// EveryCase begins the checks that judge every case.
const EveryCase = "always/"

// negotiatedRules judges by the checks of every case what a client does in a version that it has found out.
const negotiatedRules = "transport/negotiated-rules"

// Client returns the mutant as a function for [harness.InProcess], in the setting that the configuration describes.
// Fired is as for [Client].
func (m *Mutant) Client(c reference.Config, fired func(Change)) func(context.Context, harness.Env) error {
	return Client(c, m.edit, m.When, fired)
}

// Conditional reports whether the bug is in messages of samples, so that a condition can limit it.
func (m *Mutant) Conditional() bool {
	for _, decision := range []string{"", harness.Decline, harness.DeclineAnswer} {
		w := &Wire{Env: harness.Env{Decision: decision}, Context: context.Background(), traffic: newTraffic()}
		e := m.edit(w)
		if env := w.Env; e.Env != nil {
			if e.Env(&env); env.Decision != decision {
				return true
			}
		}
		edited, all := reflect.ValueOf(e), reflect.ValueOf(Everything(w))
		for i := range edited.NumField() {
			if !edited.Field(i).IsZero() && !all.Field(i).IsZero() {
				return true
			}
		}
	}
	return false
}

// ShowsIn reports whether the bug shows in a client that asks the model as the configuration says.
func (m *Mutant) ShowsIn(c reference.Config) bool {
	c = c.Complete()
	return c.Loop == (m.Chapter == ClientLoop) && c.Host == (m.Chapter == HostLoop) && !(m.Streamed && c.Plain) &&
		(m.Dialects == nil || slices.Contains(m.Dialects, c.Dialect)) &&
		!slices.Contains(m.Except, c.Dialect) && (m.Model == "" || m.Model == c.Model)
}

// Concerns reports whether the check, as chapter/check, must or may fail the mutant. A check of every case may.
func (m *Mutant) Concerns(id string) bool {
	return strings.HasPrefix(id, EveryCase) || id == negotiatedRules || slices.Contains(m.Kills, id) ||
		slices.Contains(m.Also, id)
}

// Revisions returns the revisions in which the bug shows, given the newest revision of each era.
func (m *Mutant) Revisions(newest []server.Revision) []server.Revision {
	if m.In != nil {
		return m.In
	}
	return newest
}

// Find returns the mutant with that name, or nil.
func Find(name string) *Mutant {
	i := slices.IndexFunc(all(), func(m Mutant) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	found := all()[i]
	return &found
}

// All returns every mutant, in the order of the catalogue.
func All() []Mutant { return slices.Clone(all()) }

var all = sync.OnceValue(read)
