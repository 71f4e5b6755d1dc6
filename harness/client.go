package harness

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Client is a client under test. It is made by [InProcess], [Command] or [CommandStdio], and can be started any number of times.
type Client struct {
	// Name is how reports call the client.
	Name string
	// Grace is how long the client is given to end once it was told to; 0 for [DefaultGrace]. It has no bearing on verdicts: a client that
	// had to be told has already run out of its time.
	Grace time.Duration

	run       func(context.Context, Env) error
	argv      []string
	loopback  bool
	stdio     bool         // it launches the server, in place of connecting to it
	contained *containment // where run is called in another process
}

// DefaultGrace is how long a client is given to end when nothing else is said.
const DefaultGrace = 2 * time.Second

// Option changes how a client is run.
type Option func(*Client)

// Loopback runs a client in process over real sockets and in real time, also under go test: for one that cannot live
// in a bubble, because it keeps connections, channels or workers in package-level variables or blocks on something outside. That the runtime
// ends the test with "synctest channel from outside bubble" is a sign of the former.
func Loopback() Option { return func(c *Client) { c.loopback = true } }

// Named gives the client a name for reports.
func Named(name string) Option { return func(c *Client) { c.Name = name } }

// InProcess is a client that is a function of this program. Run connects to env.URL through env.HTTP, lists the tools, calls each
// once with {}, answers sampling by asking the model at env.Model, and returns nil, or an error when it failed. It has to
// return when its context ends.
func InProcess(run func(ctx context.Context, env Env) error, options ...Option) Client {
	c := Client{Name: "in-process client", run: run}
	for _, o := range options {
		o(&c)
	}
	return c
}

// Command is a client that is a program. It is started as it is, without a shell, in the folder that we run in, with the environment that
// the README describes. In its arguments, anywhere, {url} is the server's URL, {config} the path of an mcp.json that names the server, and
// {prompt} what a host is asked to do; with neither {url} nor {config} the URL comes last. It does what InProcess says of run,
// and exits with 0.
func Command(argv ...string) Client {
	return Client{Name: strings.Join(argv, " "), argv: argv}
}

// InBubble reports whether the client can be run in virtual time, in a testing/synctest bubble.
func (c *Client) InBubble() bool { return c.run != nil && !c.loopback && c.contained == nil }

// Argv returns the command line of a client in a process of its own; nil for one in ours.
func (c *Client) Argv() []string {
	if c.contained != nil {
		return c.contained.argv()
	}
	return c.argv
}

// CommandError says that the client's program cannot be started at all: a mistake of whoever called, not of the client.
type CommandError struct {
	// Path is what was tried.
	Path string
	Err  error
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("the client %q cannot be started: %v", e.Path, e.Err)
}

func (e *CommandError) Unwrap() error { return e.Err }

// check returns a CommandError for a program that is not there or may not be run.
func (c *Client) check() error {
	if c.run != nil {
		return nil
	}
	if len(c.argv) == 0 {
		return &CommandError{Err: fmt.Errorf("no command was given")}
	}
	if _, err := exec.LookPath(c.argv[0]); err != nil {
		if strings.ContainsAny(c.argv[0], " \t") {
			err = fmt.Errorf("%w (the command is never split: write its words apart, or sh -c '…')", err)
		}
		return &CommandError{c.argv[0], err}
	}
	return c.checkPlaces()
}

// start runs the client to its end and returns how it ended. It returns soon after ctx has ended, whatever the client does. Its
// error says that it could not be started at all or, where it is a fault, that what was played is not to be held against the client.
func (c *Client) start(ctx context.Context, env Env) (*trace.Process, error) {
	switch {
	case c.contained != nil:
		return c.contained.run(ctx, env, c.grace())
	case c.run != nil:
		return runFunction(ctx, c.run, env, c.grace()), nil
	}
	return runCommand(ctx, c.argv, env, c.grace())
}

func (c *Client) grace() time.Duration { return cmp.Or(c.Grace, DefaultGrace) }
