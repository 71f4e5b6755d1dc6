package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// runCommand runs the client's program as a process group of its own and waits for it. When ctx ends the group is told to
// end, and killed after the grace; nothing of the group outlives the call. Its error is a CommandError, or says what we ran out of.
func runCommand(ctx context.Context, argv []string, env Env, grace time.Duration) (*trace.Process, error) {
	cmd := exec.Command(argv[0], commandArgs(argv[1:], env.URL)...)
	cmd.Env = env.variables(os.Environ())
	ownGroup(cmd)
	var outputs [2]*output
	for i := range outputs {
		var err error
		if outputs[i], err = newOutput(); err != nil {
			return nil, fmt.Errorf("starting the client: %w", err)
		}
		defer outputs[i].close(0)
	}
	cmd.Stdout, cmd.Stderr = outputs[0].write, outputs[1].write
	if err := cmd.Start(); err != nil {
		return nil, &CommandError{argv[0], err}
	}
	waited := make(chan error, 1)
	go func() { waited <- cmd.Wait() }()
	p := exitOf(ctx, cmd, waited, grace)
	killGroup(cmd) // what the client left behind
	for _, o := range outputs {
		o.close(grace)
	}
	p.Stdout, p.Stderr = outputs[0].String(), outputs[1].String()
	return p, nil
}

// exitOf waits for the process, which is told to end when ctx does, and killed after the grace.
func exitOf(ctx context.Context, cmd *exec.Cmd, waited <-chan error, grace time.Duration) *trace.Process {
	select {
	case err := <-waited:
		return exited(err)
	case <-ctx.Done():
	}
	terminateGroup(cmd)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	var err error
	select {
	case err = <-waited:
	case <-timer.C:
		killGroup(cmd)
		err = <-waited
	}
	p := exited(err)
	markCause(ctx, p)
	return p
}

// exited reads what Wait returned.
func exited(err error) *trace.Process {
	p := &trace.Process{State: trace.Ended}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		p.ExitCode, p.Signal = exit.ExitCode(), signalName(exit.ProcessState)
	case err != nil:
		p.ExitCode, p.Err = -1, err.Error()
	}
	return p
}

// commandArgs puts the URL where {url} stands, or else at the end.
func commandArgs(args []string, url string) []string {
	args = slices.Clone(args)
	found := false
	for i, arg := range args {
		if strings.Contains(arg, "{url}") {
			args[i] = strings.ReplaceAll(arg, "{url}", url)
			found = true
		}
	}
	if !found {
		args = append(args, url)
	}
	return args
}
