// Command mcp-conform judges MCP clients that answer sampling requests: it starts the client against a fake MCP server and a fake
// model, and says with the frames to prove it what the client gets right and wrong.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Exit codes. Of several that apply the highest of 130, 3 and 1 wins.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitHarness     = 3
	exitInterrupted = 130
)

type cli struct {
	Run      runCommand      `cmd:"" help:"Judge a client (without a command: the built-in reference client)."`
	Serve    serveCommand    `cmd:"" help:"Serve the scripted model to any program, until interrupted."`
	Record   recordCommand   `cmd:"" help:"Run a command, and record what it asks its model and what that answers."`
	Cassette cassetteCommand `cmd:"" help:"Look after cassettes."`
	List     listCommand     `cmd:"" help:"List scenarios, cases and checks, or the requirements that they enforce."`
	Explain  explainCommand  `cmd:"" help:"Say what a check wants, how clients break it, and how to mend them."`
	Selftest selftestCommand `cmd:"" help:"Prove the checks: the kill matrix of reference and mutants."`
	Version  versionCommand  `cmd:"" help:"Print the version and the revisions that can be judged."`
	Client   clientCommand   `cmd:"" hidden:"" help:"Be a built-in client. The harness starts it."`
}

// streams are where a command writes.
type streams struct {
	out, err io.Writer
}

// exitError carries an exit code through kong, with what to say about it, if anything.
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

func main() { os.Exit(mainCode()) }

// mainCode is main for tests, which start it as a command of their own.
func mainCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, os.Args[1:], streams{os.Stdout, os.Stderr})
}

// run runs one command and returns the exit code.
func run(ctx context.Context, args []string, s streams) int {
	code := -1
	parser, err := kong.New(&cli{}, kong.Name("mcp-conform"), kong.UsageOnError(), kong.Writers(s.out, s.err),
		kong.Description("Judges MCP clients that answer sampling requests."),
		kong.Exit(func(c int) { code = c }), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(s), kong.Vars(vars()))
	if err != nil {
		return exitCode(s, &exitError{exitHarness, err})
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if code >= 0 { // help was printed
		return code
	}
	if err != nil {
		return exitCode(s, &exitError{exitUsage, fmt.Errorf("%w (mcp-conform --help says what there is)", err)})
	}
	return exitCode(s, parsed.Run())
}

// exitCode says what went wrong and returns the exit code for it.
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

// codeOf tells the caller's mistakes from ours.
func codeOf(err error) int {
	var selection *conformance.SelectionError
	var command *harness.CommandError
	if errors.As(err, &selection) || errors.As(err, &command) {
		return exitUsage
	}
	return exitHarness
}
