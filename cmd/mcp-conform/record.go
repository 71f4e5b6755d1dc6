package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

type recordCommand struct {
	Cassette string `required:"" placeholder:"FILE" help:"The cassette to write. Its name ends in .yaml."`
	Mode     string `enum:"${record_modes}" default:"record-missing" help:"${record_mode}"`
	Origin   string `enum:"recorded,scripted" default:"recorded" help:"Kind of model that answers."`
	Paced    bool   `help:"Replay answers at the recorded pace."`
	recordedCommand
}

// recordedCommand is a command with the proxy as its model, and what the proxy does.
type recordedCommand struct {
	Upstream   map[string]string `placeholder:"PROVIDER=URL" help:"${record_upstream}"`
	Ignore     []string          `placeholder:"MEMBER" help:"${record_ignore}"`
	IgnoreText []string          `sep:"none" placeholder:"REGEXP" help:"${record_ignore_text}"`
	Errors     bool              `help:"Record also if all answers are errors."`
	Command    []string          `arg:"" optional:"" passthrough:"" help:"The command to record, after --."`
}

const (
	// replayKey is the key for a command that has none and needs none.
	replayKey = "sk-not-needed-for-a-replay"
	// shortestKey is the length from which a key or token of the environment is kept out of a cassette. A shorter one
	// may be a word of the conversation, which a replay with another environment would not find.
	shortestKey = 16
	// patience is how long a command may take to end after an interrupt.
	patience = 5 * time.Second
)

func (c *recordCommand) Run(ctx context.Context, s streams) error {
	options := []cassettes.Option{cassettes.WithOrigin(cassettes.Origin(c.Origin))}
	if c.Paced {
		options = append(options, cassettes.Paced())
	}
	return c.run(ctx, s, c.Cassette, cassettes.Mode(c.Mode), options...)
}

// run runs the command with the proxy as its model.
func (c *recordedCommand) run(
	ctx context.Context, s streams, file string, mode cassettes.Mode, options ...cassettes.Option,
) error {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return usage(errors.New("the command is missing: add it after --, such as -- npm test"))
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return usage(fmt.Errorf("the command cannot be started: %w", err))
	}
	more, err := c.options()
	if err != nil {
		return usage(err)
	}
	options = append(append(options, more...), cassettes.WithMode(mode))
	before, _ := os.ReadFile(file) // nil for a new file
	proxy, err := cassettes.StartProxy(file, options...)
	if err != nil {
		return cassetteError(err)
	}
	run := exec.CommandContext(ctx, path, command[1:]...)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, s.out, s.err
	run.Env = recordEnvironment(os.Environ(), proxy.Bases(), mode == cassettes.ReplayOnly)
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = patience
	ran := run.Run()
	if ran != nil || ctx.Err() != nil { // A command may end with 0 when it is interrupted.
		proxy.KeepUnused()
	}
	if ran != nil {
		ran = fmt.Errorf("the command failed: %w", ran)
	}
	written := proxy.Close()
	after, _ := os.ReadFile(file)
	switch {
	case written != nil:
		fmt.Fprintf(s.err, "mcp-conform: %v\n", written)
	case mode == cassettes.Passthrough, mode == cassettes.ReplayOnly:
	case bytes.Equal(before, after):
		fmt.Fprintf(s.err, "mcp-conform: %s is up to date\n", file)
	default:
		fmt.Fprintf(s.err, "mcp-conform: recorded in %s\n", file)
	}
	return recordExit(ctx, ran, written)
}

func recordExit(ctx context.Context, ran, written error) error {
	switch {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, errors.New("interrupted")}
	case errors.Is(written, cassettes.ErrWrite):
		return &exitError{exitHarness, ran}
	case ran != nil || written != nil:
		return &exitError{exitFailed, ran}
	}
	return nil
}

// cassetteError is a cassette that cannot be written, or a mistake of the caller.
func cassetteError(err error) error {
	if errors.Is(err, cassettes.ErrWrite) {
		return &exitError{exitHarness, err}
	}
	return usage(err)
}

func (c *recordedCommand) options() ([]cassettes.Option, error) {
	options := []cassettes.Option{
		cassettes.WithSecrets(keysOfEnvironment(shortestKey)...), cassettes.Ignore(c.Ignore...)}
	if !c.Errors {
		options = append(options, cassettes.RefuseErrors())
	}
	for _, pattern := range c.IgnoreText {
		text, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("--ignore-text %q: %w", pattern, err)
		}
		options = append(options, cassettes.Normalize(func(r *cassettes.Request) {
			r.Body = text.ReplaceAll(r.Body, []byte("…"))
		}))
	}
	for _, facts := range dialects.Facts() {
		for _, variable := range slices.Backward(facts.BaseVariables) { // the first one counts
			if address := os.Getenv(variable); strings.Contains(address, "://") {
				options = append(options, cassettes.WithUpstream(facts.Provider, address))
			}
		}
	}
	for provider, address := range c.Upstream {
		options = append(options, cassettes.WithUpstream(provider, address))
	}
	return options, nil
}

// keysOfEnvironment are the keys, tokens and passwords of the environment that have at least so many bytes.
func keysOfEnvironment(least int) []string {
	var keys []string
	for _, s := range leak.InEnvironment(os.Environ()) {
		if len(s.Value) >= least {
			keys = append(keys, s.Value)
		}
	}
	return keys
}

// recordEnvironment returns the command's environment: ours, with the proxy's address for every provider. The keys are
// ours; in a replay, an SDK that would not start without a key gets one.
func recordEnvironment(ours []string, bases map[string]string, replay bool) []string {
	environment := slices.Clone(ours)
	has := func(name string) bool {
		return slices.ContainsFunc(ours, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	}
	variables := harness.ModelVariables(bases, replayKey)
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if variables[name] != replayKey || replay && !has(name) {
			environment = append(environment, name+"="+variables[name])
		}
	}
	const loopback = "127.0.0.1,localhost,::1"
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		environment = append(environment, name+"="+strings.TrimPrefix(os.Getenv(name)+","+loopback, ","))
	}
	return environment
}
