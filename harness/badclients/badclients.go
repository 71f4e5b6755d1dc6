// Package badclients is a battery of clients at their worst: they crash, hang, flood, fork, and talk nonsense. Each does everything right but
// for one thing, so that what a run says of it can be held against what is true of it. They are programs: [Main] is what a process
// runs that is started as one of them.
package badclients

import (
	"fmt"
	"os"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness"
)

// Client is one of them: what it does in place of what is right. What is nil it does right.
type Client struct {
	Name string
	// Doc says in a sentence what it does.
	Doc string
	// Modern is true for one that only makes sense in 2026-07-28, Legacy for one that only does before.
	Modern, Legacy bool

	first  func(*wire)                  // before it connects
	opened func(*wire)                  // once it is connected
	asked  func(*wire, *sample)         // in place of an answer
	last   func(*wire) (exitStatus int) // when all tools have been called
	wire   func(*wire)                  // changes how it speaks
}

// All returns the battery.
func All() []Client { return slices.Concat(processes, bodies, connections, messages, answers) }

// Main runs the client of that name to its end and returns its exit status: 1 where it could not do what it is for. Args are its
// arguments, the server's URL the last of them.
func Main(name string, args []string) int {
	clients := All()
	i := slices.IndexFunc(clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		fmt.Fprintf(os.Stderr, "there is no bad client %q\n", name)
		return 1
	}
	env, err := harness.EnvFromProcess(args, os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status, err := clients[i].run(env)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// run is a session: connect, list the tools, call each.
func (c *Client) run(env harness.Env) (int, error) {
	w := newWire(env, c)
	if c.wire != nil {
		c.wire(w)
	}
	if c.first != nil {
		c.first(w)
	}
	if err := w.open(); err != nil {
		return 0, err
	}
	if c.opened != nil {
		c.opened(w)
	}
	names, err := w.tools()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if err := w.call(name); err != nil {
			return 0, err
		}
	}
	if c.last != nil {
		return c.last(w), nil
	}
	return 0, w.close()
}
