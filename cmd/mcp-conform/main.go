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

	"github.com/alecthomas/kong"

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

type cli struct {
	Run      runCommand      `cmd:"" help:"Judge a client (default: the built-in reference client)."`
	Serve    serveCommand    `cmd:"" help:"Serve the scripted model to any program, until interrupted."`
	Record   recordCommand   `cmd:"" help:"Run a command and record its model traffic in a cassette."`
	Baseline baselineCommand `cmd:"" help:"Compare results with a baseline of known failures, or write it."`
	Check    checkCommand    `cmd:"" help:"Judge saved traces again, such as those of a bug report."`
	Show     showCommand     `cmd:"" help:"Show a trace as a sequence of messages."`
	Diff     diffCommand     `cmd:"" help:"Say what changed between two runs, such as of two versions of a client."`
	Tap      tapCommand      `cmd:"" help:"Record what passes between a client and a server of yours."`
	Replay   replayCommand   `cmd:"" help:"Serve the server's side of a recorded session to a client, until interrupted."`
	Verify   verifyCommand   `cmd:"" help:"Play the client's side of a recorded session to a server, and compare."`
	Merge    mergeCommand    `cmd:"" help:"Judge the shards of a run."`
	Init     initCommand     `cmd:"" help:"Write a configuration, and an adapter to start from."`
	Report   reportCommand   `cmd:"" help:"Write saved results in other formats, such as a page that compares clients."`
	Cassette cassetteCommand `cmd:"" help:"Inspect and lint cassettes."`
	List     listCommand     `cmd:"" help:"List scenarios, cases and checks, or the requirements behind them."`
	Explain  explainCommand  `cmd:"" help:"Explain a check: the rule, the likely cause of a failure, and the fix."`
	Selftest selftestCommand `cmd:"" help:"Test the checks: every mutant of the reference client must fail its checks."`
	Complete completeCommand `cmd:"" name:"completion" help:"Print a completion script for a shell."`
	Man      manCommand      `cmd:"" help:"Print the manual page."`
	Version  versionCommand  `cmd:"" help:"Print the version and the supported protocol revisions."`
	Client   clientCommand   `cmd:"" hidden:"" help:"Run as a built-in client. The harness starts it."`
}

type streams struct {
	out, err io.Writer
}

// arguments are the words of the command line after the program's name.
type arguments []string

func (s streams) json(v any) error {
	_, err := s.out.Write(append(jsonvalue.Indented(v), '\n'))
	return err
}

// exitError carries an exit code through kong; err may be nil.
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

// kongWords replaces the words of package kong for a wrong value.
var kongWords = strings.NewReplacer(
	" but got ",
	", found ",
	"bool value must be true, 1, yes, false, 0 or no",
	"expected true or false",
	"a valid 64 bit int",
	"a whole number",
	"expected duration",
	"expected a duration such as 30s",
)

func run(ctx context.Context, args []string, s streams) int {
	code := -1
	parser, err := newParser(ctx, &cli{}, args, s, func(c int) { code = c })
	if err != nil {
		return exitCode(s, &exitError{exitHarness, err})
	}
	switch {
	case len(args) == 0, args[0] == "help" && len(args) == 1:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(args[1:], "--help")
	case args[0] == "--version":
		args[0] = "version"
	}
	parsed, err := parser.Parse(args)
	if code >= 0 { // help was printed
		return code
	}
	if err != nil {
		return exitCode(s, usage(fmt.Errorf("%s (see mcp-conform --help)", kongWords.Replace(err.Error()))))
	}
	return exitCode(s, parsed.Run())
}

// execute runs the words of a command that is no help.
func execute(ctx context.Context, words []string, s streams) error {
	parser, err := newParser(ctx, &cli{}, words, s, func(int) {})
	if err != nil {
		return &exitError{exitHarness, err}
	}
	parsed, err := parser.Parse(words)
	if err != nil {
		return usage(err)
	}
	return parsed.Run()
}

// newParser returns a parser of command lines into grammar. exit is called after it printed help.
func newParser(ctx context.Context, grammar *cli, args []string, s streams, exit func(int)) (*kong.Kong, error) {
	return kong.New(grammar, kong.Name("mcp-conform"), kong.UsageOnError(), kong.Writers(s.out, s.err),
		kong.Description("Judges MCP clients that answer sampling requests."),
		kong.Exit(exit), kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s, arguments(args)), kong.PostBuild(fillTags))
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
