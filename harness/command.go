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

// runCommand runs the client's program in a process group and waits for it. When ctx ends it terminates the group, and
// kills it after the grace. No process of the group outlives the call nor, on Linux, one that left the group. The
// client runs in our working directory; its files, also temporary ones, are in a folder that is removed. The error is
// a CommandError, or says what the system lacks.
func runCommand(ctx context.Context, argv []string, env Env, grace time.Duration) (*trace.Process, error) {
	dir, err := os.MkdirTemp("", "mcp-conform-")
	if err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	defer os.RemoveAll(dir) // a stray process may still write there
	config, err := writeConfig(dir, &env)
	if err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	cmd := exec.Command(argv[0], fill(argv[1:], &env, config)...)
	cmd.Env = append(env.variables(os.Environ()), temporary(dir)...)
	return runProcess(ctx, cmd, grace, &env)
}

// temporary are the variables for temporary files. Only this client receives the folder's name.
func temporary(dir string) []string { return []string{"TMPDIR=" + dir, "TMP=" + dir, "TEMP=" + dir} }

// runProcess runs a prepared command. The last variable of its environment must be unique to it.
func runProcess(ctx context.Context, cmd *exec.Cmd, grace time.Duration, env *Env) (*trace.Process, error) {
	ownGroup(cmd)
	var outputs [2]*output
	for i, lines := range []*Env{env, nil} {
		var err error
		if outputs[i], err = newOutput(lines); err != nil {
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
	p := waitFor(ctx, cmd, waited, grace)
	if env.settle != nil {
		env.settle(grace) // the servers that the client launched are in its group
	}
	killGroup(cmd)
	killStrays(cmd.Env[len(cmd.Env)-1])
	for _, o := range outputs {
		o.close(grace)
	}
	p.Stdout, p.Stderr = outputs[0].kept.String(), outputs[1].kept.String()
	return p, nil
}

// waitFor waits for the process. When ctx ends it terminates the group, and kills it after the grace.
func waitFor(ctx context.Context, cmd *exec.Cmd, waited <-chan error, grace time.Duration) *trace.Process {
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
