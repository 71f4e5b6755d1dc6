package harness

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// Client is a client under test, made by [InProcess], [Command] or [CommandStdio]. It may start any number of times.
type Client struct {
	// Name is the client's name in reports.
	Name string
	// Grace is how long the client may take to end after it was asked to; 0 for 2 seconds. It does not affect
	// verdicts: a client that has to be asked is out of time already.
	Grace time.Duration
	// Agent is true for a host with a model of its own. It receives a task ([Env.Prompt]), and the fake model, which
	// plays the host's model, too, makes it call the tools of the cases. [Command] sets it if {prompt} is in the command.
	Agent bool
	// Has are features that are known of the client ([Features]), in addition to those that it announces. Cases that they
	// rule out are not played.
	Has []string
	// Setup is what a program needs beside its command.
	Setup Setup

	run       func(context.Context, Env) error
	argv      []string
	loopback  bool
	stdio     bool         // launches the server instead of connecting to it
	contained *containment // runs in another process; nil for ours
	gateway   *gateway     // argv is a gateway that run reaches the server through; nil for none
}

// defaultGrace is the default of [Client.Grace].
const defaultGrace = 2 * time.Second

// Option changes how a client runs.
type Option func(*Client)

// Loopback runs a client in process over real sockets and in real time, also under go test. It is for a client that
// cannot live in a bubble, because it keeps connections, channels or workers in package-level variables, or blocks on
// something outside. The runtime's "synctest channel from outside bubble" is a sign of such variables.
func Loopback() Option { return func(c *Client) { c.loopback = true } }

// Agent runs a host with a model of its own: see [Client.Agent].
func Agent() Option { return func(c *Client) { c.Agent = true } }

// Has declares features of the client: see [Client.Has].
func Has(features ...string) Option { return func(c *Client) { c.Has = append(c.Has, features...) } }

// Named sets the client's name in reports.
func Named(name string) Option { return func(c *Client) { c.Name = name } }

// InProcess is a client that is a function of this program. run connects to env.URL through env.HTTP, lists the tools,
// calls each once, answers sampling by asking the model at env.Model, and returns nil, or an error if it
// failed. It must return when its context ends.
func InProcess(run func(ctx context.Context, env Env) error, options ...Option) Client {
	c := Client{Name: "in-process client", run: run}
	for _, o := range options {
		o(&c)
	}
	return c
}

// Command is a client that is a program. It starts as given, without a shell, in our working directory, with the
// environment that the README describes. In its arguments, {url} is the server's URL, {config} the path of an mcp.json
// that names the server, and {prompt} a task for a host ([Client.Agent]); without {url} and {config} the URL comes
// last. It does what [InProcess] describes, and exits with 0.
func Command(argv ...string) Client {
	return Client{Name: hidden(strings.Join(argv, " ")), argv: argv, Agent: mentions(argv, promptPlace)}
}

// InBubble reports whether the client can run in virtual time, in a testing/synctest bubble.
func (c *Client) InBubble() bool { return c.run != nil && !c.loopback && c.contained == nil }

// Argv returns the command line of a client in a process of its own, as reports show it: with the names of variables
// for the keys and tokens of our environment. It is nil for a client in our process.
func (c *Client) Argv() []string {
	argv := c.argv
	if c.contained != nil {
		argv = c.contained.argv()
	}
	return leak.Hide(os.Environ(), argv...)
}

// CommandError says that the client's program cannot start: a mistake of the caller, not of the client.
type CommandError struct {
	Path string
	Err  error
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("the client %q cannot be started: %v", e.Path, e.Err)
}

func (e *CommandError) Unwrap() error { return e.Err }

// check returns a CommandError for a program that is missing or not executable.
func (c *Client) check() error {
	for _, feature := range c.Has {
		if !slices.Contains(Features(), feature) {
			return &CommandError{c.Name, fmt.Errorf("unknown feature %q: use %s", feature, strings.Join(Features(), ", "))}
		}
	}
	if c.run != nil && c.gateway == nil {
		return nil
	}
	if len(c.argv) == 0 {
		return &CommandError{Err: fmt.Errorf("the command is missing")}
	}
	if _, err := exec.LookPath(c.argv[0]); err != nil {
		if strings.ContainsAny(c.argv[0], " \t") {
			err = fmt.Errorf("%w (the command is never split: pass separate words, or use sh -c '…')", err)
		}
		return &CommandError{c.argv[0], err}
	}
	return c.checkPlaces()
}

// start runs the client and returns how it ended, soon after ctx has ended at the latest. Its error says that the
// client could not start or, if it is a fault, that the session must not be judged.
func (c *Client) start(ctx context.Context, env Env) (*trace.Process, error) {
	grace := cmp.Or(c.Grace, defaultGrace)
	switch {
	case c.contained != nil:
		return c.contained.run(ctx, env, grace)
	case c.gateway != nil:
		return c.runGateway(ctx, env, grace)
	case c.run != nil:
		return runFunction(ctx, c.run, env, grace), nil
	}
	return c.runCommand(ctx, env, grace)
}
