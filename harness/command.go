package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// runCommand runs the client's program as a process group of its own and waits for it. When ctx ends the group is told to
// end, and killed after the grace; nothing of the group outlives the call nor, on Linux, what got away from it. It runs in the folder that we run in. Files that it
// needs, and temporary ones of its own, are in a folder that goes with it. Its error is a CommandError, or says what we ran out of.
func runCommand(ctx context.Context, argv []string, env Env, grace time.Duration) (*trace.Process, error) {
	dir, err := os.MkdirTemp("", "mcp-conform-")
	if err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	defer os.RemoveAll(dir) // what a process that got away still writes there is out of our reach
	config, err := writeConfig(dir, &env)
	if err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	cmd := exec.Command(argv[0], fill(argv[1:], &env, config)...)
	cmd.Env = append(env.variables(os.Environ()), temporary(dir)...)
	return runProcess(ctx, cmd, grace, &env)
}

// temporary are the variables that say where temporary files go: into a folder that no other process is told of.
func temporary(dir string) []string { return []string{"TMPDIR=" + dir, "TMP=" + dir, "TEMP=" + dir} }

// runProcess runs a command whose arguments and environment are set. The last variable of the latter is one that only this command has.
func runProcess(ctx context.Context, cmd *exec.Cmd, grace time.Duration, env *Env) (*trace.Process, error) {
	ownGroup(cmd)
	var outputs [2]*output
	for i, told := range []*Env{env, nil} {
		var err error
		if outputs[i], err = newOutput(told); err != nil {
			return nil, fmt.Errorf("starting the client: %w", err)
		}
		defer outputs[i].close(0)
	}
	cmd.Stdout, cmd.Stderr = outputs[0].write, outputs[1].write
	if err := cmd.Start(); err != nil {
		return nil, &CommandError{cmd.Args[0], err}
	}
	waited := make(chan error, 1)
	go func() { waited <- cmd.Wait() }()
	p := exitOf(ctx, cmd, waited, grace)
	if env.settle != nil {
		env.settle(grace) // the servers that it launched are of its group
	}
	killGroup(cmd) // what the client left behind
	killStrays(cmd.Env[len(cmd.Env)-1])
	for _, o := range outputs {
		o.close(grace)
	}
	p.Stdout, p.Stderr = outputs[0].kept.String(), outputs[1].kept.String()
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
