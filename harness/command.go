package harness

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// keptOutput is how much of the end of a process's output is kept, in bytes, of each of its two streams.
const keptOutput = 16 << 10

// runCommand runs the client's program as a process group of its own and waits for it. When ctx ends the group is told to
// end, and killed after the grace; nothing of it outlives the call.
func runCommand(ctx context.Context, argv []string, env Env) *trace.Process {
	cmd := exec.Command(argv[0], commandArgs(argv[1:], env.URL)...)
	cmd.Env = env.variables(os.Environ())
	var stdout, stderr tail
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = grace // a grandchild that holds the pipes does not hold us
	ownGroup(cmd)
	end := func(p *trace.Process) *trace.Process {
		p.State, p.Stdout, p.Stderr = trace.Ended, stdout.String(), stderr.String()
		return p
	}
	if err := cmd.Start(); err != nil {
		return end(&trace.Process{ExitCode: -1, Err: err.Error()})
	}
	waited := make(chan error, 1)
	go func() { waited <- cmd.Wait() }()
	var err error
	told := false
	select {
	case err = <-waited:
	case <-ctx.Done():
		told = true
		terminateGroup(cmd)
		timer := time.NewTimer(grace)
		select {
		case err = <-waited:
		case <-timer.C:
			killGroup(cmd)
			err = <-waited
		}
		timer.Stop()
	}
	killGroup(cmd) // what the client left behind
	p := exitOf(err)
	if told {
		markCause(ctx, p)
	}
	return end(p)
}

// exitOf reads what Wait returned.
func exitOf(err error) *trace.Process {
	var exit *exec.ExitError
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return &trace.Process{}
	case errors.As(err, &exit):
		return &trace.Process{ExitCode: exit.ExitCode(), Signal: signalName(exit.ProcessState)}
	}
	return &trace.Process{ExitCode: -1, Err: err.Error()}
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

// tail keeps the last of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	kept []byte
	lost bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - keptOutput; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
		t.lost = true
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.ToValidUTF8(string(t.kept), "�")
	if t.lost {
		return "…" + text
	}
	return text
}
