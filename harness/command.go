package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// runCommand runs the client's program in a process group. No process of the group outlives the call nor, on Linux, one
// that left the group. Its files, also temporary ones, are in a folder that is removed.
func (c *Client) runCommand(ctx context.Context, env Env, grace time.Duration) (*trace.Process, error) {
	dir, err := os.MkdirTemp("", "mcp-conform-")
	if err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	defer os.RemoveAll(dir) // a stray process may still write there
	p, err := c.prepare(dir, &env)
	if err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	cmd := exec.Command(c.argv[0], c.arguments(&env, p)...)
	cmd.Env = append(env.variables(os.Environ()), p.variables()...)
	return runProcess(ctx, cmd, dir, grace, &env, c.newTypist(&env, p), c.Setup.Terminal)
}

// runProcess runs a prepared command. The last variable of its environment must be unique to it. The typist writes its
// standard input; nil for none. If we are killed, the folder dir is removed.
func runProcess(
	ctx context.Context, cmd *exec.Cmd, dir string, grace time.Duration, env *Env, types *typist, terminal bool,
) (*trace.Process, error) {
	ownGroup(cmd)
	var outputs [2]*output
	for i, lines := range []*Env{env, nil} {
		var err error
		if outputs[i], err = newOutput(lines, types, terminal && i == 0); err != nil {
			return nil, fmt.Errorf("starting the client: %w", err)
		}
		defer outputs[i].close(0)
	}
	cmd.Stdout, cmd.Stderr = outputs[0].write, outputs[1].write
	input, err := connectInput(cmd, outputs[0], types, terminal)
	if err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	guarded, release := newGuard(dir)
	defer release()
	if err := cmd.Start(); err != nil {
		return nil, &CommandError{cmd.Args[0], err}
	}
	guarded(cmd)
	if types != nil {
		types.begin(input)
	}
	if types != nil && types.later {
		go func() {
			select {
			case <-env.done:
				types.finish()
			case <-ctx.Done():
			}
		}()
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

// connectInput gives the command its standard input and returns the other end; nil without a typist.
func connectInput(cmd *exec.Cmd, out *output, types *typist, terminal bool) (io.WriteCloser, error) {
	switch {
	case terminal:
		cmd.Stdin, cmd.Stderr = out.write, out.write
		inTerminal(cmd)
		if types != nil {
			types.enter = "\r"
		}
		return keyboard{out.read}, nil
	case types != nil:
		return cmd.StdinPipe()
	}
	return nil, nil
}

type keyboard struct{ io.Writer }

// Close types the end of the input, Control-D.
func (k keyboard) Close() error {
	_, err := k.Write([]byte{4})
	return err
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
