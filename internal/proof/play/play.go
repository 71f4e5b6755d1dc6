// Package play plays clients in virtual time, for packages selftest, faults and variations. It learns from a run in
// which cases the conditions of package mutants occur.
package play

import (
	"context"
	"hash/fnv"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// Setting is how a client reaches the server and asks the model, in one revision.
type Setting struct {
	Revision server.Revision
	Config   reference.Config
	Stdio    bool
}

// Suite plays a client in the setting.
func (s *Setting) Suite(client func(context.Context, harness.Env) error) *conformance.Suite {
	var options []harness.Option
	if s.Stdio {
		options = append(options, harness.Stdio())
	}
	if s.Config.Host {
		options = append(options, harness.Agent())
	}
	return &conformance.Suite{Client: harness.InProcess(client, options...), Revisions: []server.Revision{s.Revision},
		Seed: 1, Bubble: InVirtualTime}
}

// InVirtualTime runs a function in a bubble. The command has no test, and needs none: nothing in the bubble uses it.
func InVirtualTime(f func()) { synctest.Test(new(testing.T), func(*testing.T) { f() }) }

// Growing returns the first n cases, and then, for each further number, those up to it that were not there before.
func Growing(cases []string, n ...int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		from := 0
		for _, to := range n {
			if to = min(to, len(cases)); to > from && !yield(cases[from:to]) {
				return
			}
			from = max(from, to)
		}
	}
}

// Number is a number that depends on a name alone. It chooses what a mutant or a variation plays, so that a new one
// changes nothing for others.
func Number(name string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return int(h.Sum32() >> 8)
}
