package harness

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/tap"
)

// gatewayProcess is a running gateway, in a process group of its own: see [Client.runCommand].
type gatewayProcess struct {
	cmd     *exec.Cmd
	dir     string
	behind  Env
	outputs []*output
	release func()        // ends the guard
	ended   chan struct{} // closed when the process has ended
	err     error         // of Wait, once ended
	asked   bool          // to end
	left    bool          // the client closed the input, and had not seen a stream end
	once    sync.Once
	grace   time.Duration

	in    io.WriteCloser // its standard input and output, if the client launched it
	out   *os.File
	broke atomic.Bool // the client has seen that a stream broke
}

// startGateway starts the program. With pipes, its standard streams are the client's.
func (c *Client) startGateway(behind Env, pipes bool) (*gatewayProcess, error) {
	dir, err := os.MkdirTemp("", "mcp-conform-")
	if err != nil {
		return nil, fmt.Errorf("starting the gateway: %w", err)
	}
	g := &gatewayProcess{dir: dir, behind: behind, ended: make(chan struct{}), grace: cmp.Or(c.Grace, defaultGrace)}
	if err := g.start(c, pipes); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("starting the gateway: %w", err)
	}
	return g, nil
}

func (g *gatewayProcess) start(c *Client, pipes bool) error {
	p, err := c.prepare(g.dir, &g.behind)
	if err != nil {
		return err
	}
	g.cmd = exec.Command(c.argv[0], c.arguments(&g.behind, p)...)
	g.cmd.Env = append(g.behind.variables(os.Environ()), p.variables()...)
	ownGroup(g.cmd)
	for _, stream := range []*io.Writer{&g.cmd.Stdout, &g.cmd.Stderr} {
		o, err := newOutput(nil, nil, false)
		if err != nil {
			return err
		}
		g.outputs, *stream = append(g.outputs, o), o.write
	}
	if pipes {
		var theirs *os.File
		if g.in, err = g.cmd.StdinPipe(); err != nil {
			return err
		}
		if g.out, theirs, err = os.Pipe(); err != nil {
			return err
		}
		g.cmd.Stdout = theirs
		defer theirs.Close()
	}
	var guarded func(*exec.Cmd)
	guarded, g.release = newGuard(g.dir)
	if err := g.cmd.Start(); err != nil {
		g.release()
		return err
	}
	guarded(g.cmd)
	go func() {
		g.err = g.cmd.Wait()
		close(g.ended)
	}()
	return nil
}

// settleTime is how long the servers that a listening gateway launched may take to end with their sessions. Later they
// end with the gateway, which is our doing.
const settleTime = 100 * time.Millisecond

// end ends the gateway, as gently as possible, and everything that it started.
func (g *gatewayProcess) end(grace time.Duration) {
	g.once.Do(func() {
		if g.in != nil {
			g.left = !g.broke.Load()
			_ = g.in.Close()
			g.wait(grace)
		}
		if g.behind.settle != nil && g.in == nil {
			g.behind.settle(settleTime)
		}
		g.asked = !g.over()
		if g.asked {
			terminateGroup(g.cmd)
			g.wait(grace)
		}
		killGroup(g.cmd)
		<-g.ended
		killStrays(g.cmd.Env[len(g.cmd.Env)-1])
		for _, o := range g.outputs {
			o.close(grace)
		}
		if g.out != nil {
			_ = g.out.Close()
		}
		g.release()
		os.RemoveAll(g.dir)
	})
}

func (g *gatewayProcess) wait(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-g.ended:
	case <-timer.C:
	}
}

func (g *gatewayProcess) over() bool {
	select {
	case <-g.ended:
		return true
	default:
		return false
	}
}

func (g *gatewayProcess) Read(p []byte) (int, error)  { return g.noting(g.out.Read(p)) }
func (g *gatewayProcess) Write(p []byte) (int, error) { return g.noting(g.in.Write(p)) }

func (g *gatewayProcess) noting(n int, err error) (int, error) {
	g.broke.CompareAndSwap(false, err != nil)
	return n, err
}

// Close ends the gateway's input and waits for its end.
func (g *gatewayProcess) Close() error {
	g.end(g.grace)
	return nil
}

// Kill ends the gateway at once.
func (g *gatewayProcess) Kill() error {
	g.asked = true
	killGroup(g.cmd)
	g.end(0)
	return nil
}

// askAgain is how often a starting gateway is asked whether it answers.
const askAgain = 20 * time.Millisecond

// ready waits until the gateway answers HTTP, in any way.
func (g *gatewayProcess) ready(ctx context.Context, limit time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, cmp.Or(limit, DefaultTimeout))
	defer cancel()
	plain := &http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ticker := time.NewTicker(askAgain)
	defer ticker.Stop()
	for {
		req, err := http.NewRequestWithContext(limited, http.MethodOptions, "http://"+g.behind.listen()+"/", nil)
		if err != nil {
			return err
		}
		resp, err := plain.Do(req)
		if err == nil {
			return resp.Body.Close()
		}
		select {
		case <-g.ended:
			return fmt.Errorf("the gateway exited %s before it listened at %s", exitOf(exited(g.err)), g.behind.listen())
		case <-limited.Done():
			return g.silent(err)
		case <-ticker.C:
		}
	}
}

// silent says what a gateway lacks that does not answer HTTP in time.
func (g *gatewayProcess) silent(last error) error {
	c, err := net.Dial("tcp", g.behind.listen())
	if err != nil {
		return fmt.Errorf("the gateway does not listen at %s, the address of {listen} and {port}", g.behind.listen())
	}
	_ = c.Close()
	return fmt.Errorf("the gateway accepts connections at %s but does not answer HTTP: %w", g.behind.listen(), last)
}

func exitOf(p *trace.Process) string {
	if p.Signal != "" {
		return "by the signal " + p.Signal
	}
	return fmt.Sprintf("with status %d", p.ExitCode)
}

// launches are the gateways that one client launched. It is safe for concurrent use.
type launches struct {
	mu  sync.Mutex
	all []*gatewayProcess
}

func (l *launches) launcher(c *Client, behind Env, front *tap.Frames, grace time.Duration,
) func(context.Context, io.Writer) (io.ReadWriteCloser, error) {
	return func(ctx context.Context, _ io.Writer) (io.ReadWriteCloser, error) {
		g, err := c.startGateway(behind, true)
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		l.all = append(l.all, g)
		connection := fmt.Sprintf("stdio %d", len(l.all))
		l.mu.Unlock()
		context.AfterFunc(ctx, func() { g.end(grace) })
		return &recordedProcess{g, front.Lines(trace.FromClient, connection), front.Lines(trace.ToClient, connection)}, nil
	}
}

// recordedProcess is a launched gateway whose messages are recorded.
type recordedProcess struct {
	*gatewayProcess
	up, down *tap.Lines
}

func (r *recordedProcess) Read(p []byte) (int, error) {
	n, err := r.gatewayProcess.Read(p)
	r.down.Add(p[:n])
	return n, err
}

func (r *recordedProcess) Write(p []byte) (int, error) {
	r.up.Add(p)
	return r.gatewayProcess.Write(p)
}

func (l *launches) end(grace time.Duration) {
	for _, g := range l.all {
		g.end(grace)
	}
}

// passesOn reports whether a gateway ended with the status of its server, which it had ended with SIGTERM: 143 as a
// shell counts it, or the byte of -15.
func passesOn(end *trace.Process) bool {
	return end.ExitCode == 128+int(syscall.SIGTERM) || end.ExitCode == 256-int(syscall.SIGTERM)
}

// report adds to the end of the client what the gateways printed, and that one ended by itself with an error. All have
// ended.
func (l *launches) report(p *trace.Process) *trace.Process {
	var printed, ends []string
	for _, g := range l.all {
		for _, o := range g.outputs {
			if text := strings.TrimSpace(o.kept.String()); text != "" {
				printed = append(printed, text)
			}
		}
		if end := exited(g.err); !g.asked && (end.ExitCode != 0 || end.Signal != "") && !(g.left && passesOn(end)) {
			ends = append(ends, "the gateway exited "+exitOf(end))
		}
	}
	if p.Err != "" || len(ends) > 0 {
		p.Err = strings.TrimPrefix(strings.Join(append([]string{p.Err}, slices.Compact(ends)...), "; "), "; ")
	}
	p.Stderr = strings.Join(printed, "\n")
	return p
}
