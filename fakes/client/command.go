package client

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// shutdownGrace is how long a launched server may take to end after its input.
const shutdownGrace = 2 * time.Second

// Command returns a function for Options.Launch that runs a command. Without Options.Stderr, the server's standard
// error is that of this program. The connection also has a method Kill() error, which ends the server at once.
func Command(argv ...string) func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error) {
	return func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error) {
		s, err := start(exec.CommandContext(ctx, argv[0], argv[1:]...), stderr)
		if err != nil {
			return nil, fmt.Errorf("launching the server: %w", err)
		}
		return s, nil
	}
}

type launched struct {
	io.WriteCloser
	out io.Reader
	cmd *exec.Cmd
}

func start(cmd *exec.Cmd, stderr io.Writer) (*launched, error) {
	if cmd.Stderr = stderr; stderr == nil {
		cmd.Stderr = os.Stderr
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &launched{in, out, cmd}, cmd.Start()
}

func (l *launched) Read(p []byte) (int, error) { return l.out.Read(p) }

// Close ends the server's input and waits for its end, or kills it after a while (2025-11-25,
// basic/lifecycle#shutdown).
func (l *launched) Close() error {
	_ = l.WriteCloser.Close() // fails if the server has ended
	kill := time.AfterFunc(shutdownGrace, func() { _ = l.cmd.Process.Kill() })
	defer kill.Stop()
	if err := l.cmd.Wait(); err != nil {
		return fmt.Errorf("the launched server: %w", err)
	}
	return nil
}

// Kill ends the server and waits for its end.
func (l *launched) Kill() error {
	_ = l.cmd.Process.Kill() // fails if the server has ended
	_ = l.cmd.Wait()
	return l.WriteCloser.Close()
}
