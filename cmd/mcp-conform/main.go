// Command mcp-conform judges MCP clients that answer sampling requests. It starts the client against a fake MCP server
// and a fake model, and reports what the client does right and wrong, with the messages that prove it.
//
// Here belong flags, their validation, exit codes and the wiring; what a run does is in the packages below the root.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Exit codes. If several apply, the highest of 130, 3 and 1 wins.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitHarness     = 3
	exitInterrupted = 130
)

// newRoot returns the whole command line, of these words after the program's name.
func newRoot(s streams, words []string) *cobra.Command {
	command := func(name, help string, r runner) *cobra.Command { return newCommand(s, words, name, help, r) }
	client := command("client", "Run as a built-in client. The harness starts it.", &clientCommand{})
	client.Hidden = true
	root := newGroup("mcp-conform", "Judges MCP clients that answer sampling requests.",
		command("run", "Judge a client (default: the built-in reference client).", &runCommand{}),
		command("serve", "Serve the scripted model to any program, until interrupted.", &serveCommand{}),
		command("record", "Run a command and record its model traffic in a cassette.", &recordCommand{}),
		command("baseline", "Compare results with a baseline of known failures, or write it.", &baselineCommand{}),
		command("check", "Judge saved traces again, such as those of a bug report.", &checkCommand{}),
		command("show", "Show a trace as a sequence of messages.", &showCommand{}),
		command("diff", "Say what changed between two runs, such as of two versions of a client.", &diffCommand{}),
		command("tap", "Record what passes between a client and a server of yours.", &tapCommand{}),
		command("replay", "Serve the server's side of a recorded session to a client, until interrupted.",
			&replayCommand{}),
		command("verify", "Play the client's side of a recorded session to a server, and compare.", &verifyCommand{}),
		command("merge", "Judge the shards of a run.", &mergeCommand{}),
		command("init", "Write a configuration, and an adapter to start from.", &initCommand{}),
		command("report", "Write saved results in other formats, such as a page that compares clients.", &reportCommand{}),
		newGroup("cassette", "Inspect and lint cassettes.",
			command("show", "Show the interactions of a cassette.", &cassetteShow{}),
			command("lint", "Find secrets and invalid bodies in cassettes.", &cassetteLint{}),
			command("import", "Convert files of vcrpy, Ruby VCR, go-vcr v1 or httprr.", &cassetteImport{}),
			command("update", "Record again what a command no longer asks as recorded.", &cassetteUpdate{})),
		command("list", "List scenarios, cases and checks, or the requirements behind them.", &listCommand{}),
		command("explain", "Explain a check: the rule, the likely cause of a failure, and the fix.", &explainCommand{}),
		command("selftest", "Test the checks: every mutant of the reference client must fail its checks.",
			&selftestCommand{}),
		command("man", "Print the manual page.", &manCommand{}),
		command("version", "Print the version and the supported protocol revisions.", &versionCommand{}),
		client)
	root.SetArgs(words)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetUsageFunc(func(c *cobra.Command) error { return writeUsage(c, nil) })
	helpFlag().addTo(root, root.PersistentFlags())
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.RunE, completion.Args = choose, cobra.ArbitraryArgs
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageOf(c, flagError(c, err)) })
	return root
}

// newGroup returns a command of commands.
func newGroup(name, help string, all ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: name + " COMMAND", Short: help, Args: cobra.ArbitraryArgs, RunE: choose}
	group.AddCommand(all...)
	return group
}

// choose runs a command of commands without one that it has. The whole command line shows its help if it is empty.
func choose(c *cobra.Command, args []string) error {
	var known []string
	for _, one := range c.Commands() {
		if !one.Hidden {
			known = append(known, one.Name())
		}
	}
	switch {
	case len(args) > 0:
		return usageOf(c, suggest(fmt.Errorf("unknown command %q", args[0]), args[0], known))
	case c.HasParent():
		return usageOf(c, fmt.Errorf("expected one of %s, found none", strings.Join(known, ", ")))
	}
	return c.Help()
}

type streams struct {
	out, err io.Writer
}

func (s streams) json(v any) error {
	_, err := s.out.Write(append(jsonvalue.Indented(v), '\n'))
	return err
}

// exitError carries an exit code; err may be nil.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(err error) error { return &exitError{exitUsage, err} }

func usageOf(c *cobra.Command, err error) error {
	return usage(fmt.Errorf("%w (see %s --help)", err, c.CommandPath()))
}

func init() { cobra.EnableCommandSorting = false } // the help begins with run

func main() { os.Exit(mainCode()) }

// mainCode is main for tests, which run it as a command.
func mainCode() int {
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		ending = append(ending, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ending...)
	defer stop()
	return run(ctx, os.Args[1:], streams{os.Stdout, os.Stderr})
}

func run(ctx context.Context, args []string, s streams) int {
	if len(args) > 0 && args[0] == "--version" {
		args = append([]string{"version"}, args[1:]...)
	}
	return exitCode(s, execute(ctx, args, s))
}

// execute runs the words of a command.
func execute(ctx context.Context, words []string, s streams) error {
	return newRoot(s, words).ExecuteContext(ctx)
}

func exitCode(s streams, err error) int {
	if err == nil {
		return exitOK
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{codeOf(err), err}
	}
	if exit.err != nil {
		fmt.Fprintf(s.err, "mcp-conform: %v\n", exit.err)
	}
	return exit.code
}

// codeOf distinguishes the caller's mistakes from ours.
func codeOf(err error) int {
	var selection *conformance.SelectionError
	var command *harness.CommandError
	var frame *conformance.ConversationError
	if errors.As(err, &selection) || errors.As(err, &command) || errors.As(err, &frame) {
		return exitUsage
	}
	return exitHarness
}
