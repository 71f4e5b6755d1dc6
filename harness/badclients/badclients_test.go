// Package badclients holds programs that are bad clients: they crash, hang, flood, fork, and break the protocols. Each
// is the reference client with one thing wrong, at the level of its process, its connections or its messages. [Main] is
// what a process runs as one of them.
package badclients

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// object is a JSON object.
type object = map[string]any

// Client is a bad client.
type Client struct {
	Name string
	// Era is "legacy" for a client of the revisions before 2026-07-28 alone, and "modern" for one of that alone.
	Era string

	before func(b *bad)              // it connects
	opened func(b *bad)              // it is connected
	asked  func(b *bad)              // it gets a sampling request
	edit   func(b *bad) mutants.Edit // of its wires
	after  func() (exitStatus int)   // it has called all tools
}

const both, legacy, modern = "", "legacy", "modern"

// What each bad client does, and when. It does everything else right.

func before(name string, f func(b *bad)) Client        { return Client{Name: name, before: f} }
func opens(name, era string, f func(b *bad)) Client    { return Client{Name: name, Era: era, opened: f} }
func onSample(name, era string, f func(b *bad)) Client { return Client{Name: name, Era: era, asked: f} }
func after(name string, f func() int) Client           { return Client{Name: name, after: f} }
func edits(name, era string, f func(b *bad) mutants.Edit) Client {
	return Client{Name: name, Era: era, edit: f}
}

// bad is a bad client that runs.
type bad struct {
	env  harness.Env
	wire *mutants.Wire
}

// All returns every bad client.
func All() []Client { return slices.Concat(processes, bodies, connections, messages, answers) }

// Main runs the client with that name and returns its exit status: 1 if it could not do its work. The last of args is
// the server's URL.
func Main(name string, args []string) int {
	clients := All()
	i := slices.IndexFunc(clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		fmt.Fprintf(os.Stderr, "unknown bad client %q\n", name)
		return 1
	}
	env, err := harness.EnvFromProcess(args, os.Getenv)
	if err == nil {
		err = clients[i].run(env)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if after := clients[i].after; after != nil {
		return after()
	}
	return 0
}

// run runs the client to the end of its session.
func (c *Client) run(env harness.Env) error {
	b := &bad{env: env}
	if c.before != nil {
		c.before(b)
	}
	return mutants.Client(reference.Config{Dialect: dialect.Native}, func(w *mutants.Wire) mutants.Edit {
		b.wire = w
		var e mutants.Edit
		if c.edit != nil {
			e = c.edit(b)
		}
		if c.opened != nil {
			var once sync.Once
			e.Out = func(m *mutants.Message) {
				if m.Method() == "tools/list" {
					once.Do(func() { c.opened(b) })
				}
			}
		}
		if c.asked != nil {
			e.Asked = func(*mutants.Sample) { c.asked(b) }
		}
		e.In = func(m *mutants.Message) {
			if env.Revision.Modern() && m.IsResponse() && m.Body["error"] != nil {
				w.Die("the server refused a request")
			}
		}
		return e
	}, mutants.Condition{}, nil)(context.Background(), env)
}
