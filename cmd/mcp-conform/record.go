package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/harness"
)

type recordCommand struct {
	Cassette string            `required:"" placeholder:"FILE" help:"The cassette to write, which ends in .yaml."`
	Mode     string            `enum:"record,record-missing,replay,passthrough" default:"record-missing" help:"record: everything anew; record-missing: what is not in the cassette yet; replay: answer from the cassette alone; passthrough: record nothing."`
	Upstream map[string]string `placeholder:"PROVIDER=URL" help:"Where a provider is (openai, anthropic, gemini, ollama, native), where it is not the provider's own address; may be repeated."`
	Origin   string            `enum:"recorded,scripted" default:"recorded" help:"What is at the other end: a provider's model (recorded), or a scripted one."`
	Paced    bool              `help:"Replay answers at the pace at which they were recorded."`
	Command  []string          `arg:"" optional:"" passthrough:"" help:"The command whose requests to its model are recorded, after --."`
}

// replayKey is what a command that has no key is told to use where none is needed.
const replayKey = "sk-not-needed-for-a-replay"

// shortestKey is how long a key or token of the environment must be to be kept out of a cassette. What is shorter may be a word that a conversation
// is about, and would not be found again where the environment is another.
const shortestKey = 16

// Run runs the command with its model behind the proxy.
func (c *recordCommand) Run(ctx context.Context, s streams) error {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return &exitError{exitUsage, errNoCommand}
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return &exitError{exitUsage, fmt.Errorf("the command cannot be started: %w", err)}
	}
	options := []cassettes.Option{cassettes.WithMode(cassettes.Mode(c.Mode)), cassettes.WithOrigin(cassettes.Origin(c.Origin)),
		cassettes.WithSecrets(slices.DeleteFunc(environmentSecrets(os.Environ()), func(s string) bool { return len(s) < shortestKey })...)}
	if c.Paced {
		options = append(options, cassettes.Paced())
	}
	for provider, address := range c.Upstream {
		options = append(options, cassettes.WithUpstream(provider, address))
	}
	proxy, err := cassettes.StartProxy(c.Cassette, options...)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	run := exec.CommandContext(ctx, path, command[1:]...)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, s.out, s.err
	run.Env = recordEnvironment(os.Environ(), proxy.Bases(), c.Mode == string(cassettes.ReplayOnly))
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = patience
	ran := run.Run()
	written := proxy.Close()
	if written != nil {
		fmt.Fprintf(s.err, "mcp-conform: %v\n", written)
	} else if c.Mode != string(cassettes.Passthrough) && c.Mode != string(cassettes.ReplayOnly) {
		fmt.Fprintf(s.err, "mcp-conform: recorded in %s\n", c.Cassette)
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, errors.New("interrupted")}
	case ran != nil:
		return &exitError{exitFailed, fmt.Errorf("the command did not end well: %w", ran)}
	case written != nil:
		return &exitError{exitFailed, nil}
	}
	return nil
}

// patience is how long a command has to end by itself after an interrupt.
const patience = 5 * time.Second

// recordEnvironment is the command's: ours, with the addresses of the providers led to the proxy. Keys are the command's own; where nothing
// but the cassette is asked, it gets one for each SDK that would not start without.
func recordEnvironment(ours []string, bases map[string]string, replay bool) []string {
	environment := slices.Clone(ours)
	has := func(name string) bool {
		return slices.ContainsFunc(ours, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	}
	variables := harness.ModelVariables(bases, replayKey)
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if variables[name] == replayKey && (has(name) || !replay) {
			continue
		}
		environment = append(environment, name+"="+variables[name])
	}
	const direct = "127.0.0.1,localhost,::1"
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		value := direct
		if before := os.Getenv(name); before != "" {
			value = before + "," + direct
		}
		environment = append(environment, name+"="+value)
	}
	return environment
}
