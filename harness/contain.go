package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

// TB is the part of [testing.TB] that [Contain] needs.
type TB interface {
	Name() string
	Cleanup(func())
	SkipNow()
}

// Contain returns the client for a [Runner.Contained]: c in a process of its own, which is this test binary, run again
// with just the test t up to this call. There the client runs over loopback, and a panic, on any goroutine, ends only
// that process. For a client that is a program Contain returns nil.
//
// In that process ours is false, and the caller must return at once: nothing is to be played there. The call that is
// meant does not return: it runs the client and skips the rest of the test.
func Contain(t TB, c Client) (contained *Client, ours bool) {
	call := nthCall(t)
	if raw := os.Getenv(envContained); raw != "" {
		runContained(t, &c, call, raw)
		return nil, false
	}
	if c.run == nil {
		return nil, true
	}
	c.contained = &containment{test: t.Name(), call: call}
	return &c, true
}

const envContained = "MCP_CONFORM_CONTAINED"

// containment names a call of Contain: the test, and the number of the call within it.
type containment struct {
	test string
	call int
}

type containedVar struct {
	Test     string          `json:"test"`
	Call     int             `json:"call"`
	Report   string          `json:"report"` // the path of the file for the client's state
	URL      string          `json:"url"`
	Revision server.Revision `json:"revision"`
	Context  contextVar      `json:"context"`
}

// calls counts the calls of Contain in each running test: an *atomic.Int64 by TB.
var calls sync.Map

func nthCall(t TB) int {
	n, found := calls.LoadOrStore(t, new(atomic.Int64))
	if !found {
		t.Cleanup(func() { calls.Delete(t) })
	}
	return int(n.(*atomic.Int64).Add(1))
}

// runContained runs the client in the process that contains it, and skips the rest of the test, if this call is meant.
func runContained(t TB, c *Client, call int, raw string) {
	var v containedVar
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		panic(fmt.Sprintf("harness: invalid JSON in %s: %v", envContained, err))
	}
	if c.run == nil || v.Test != t.Name() || v.Call != call {
		return
	}
	writeReport(v.Report, &trace.Process{State: trace.Started})
	env := Env{URL: v.URL, HTTP: http.DefaultClient, Revision: v.Revision, Report: printOutcome, announce: printFeature}
	env.setContext(&v.Context)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	grace := cmp.Or(c.Grace, defaultGrace)
	writeReport(v.Report, runFunction(ctx, c.run, env, grace))
	t.SkipNow()
}

// writeReport writes the client's state. It replaces the whole file: the process may be killed at any moment.
func writeReport(path string, p *trace.Process) {
	raw, err := json.Marshal(p)
	if err == nil {
		err = os.WriteFile(path+".part", raw, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".part", path)
	}
	if err != nil {
		panic(fmt.Sprintf("harness: writing the state of the contained client: %v", err))
	}
}

// startDir is the working directory at the start, which the contained process needs, too; "" if unknown.
var startDir, _ = os.Getwd()

func (c *containment) args() []string {
	return append([]string{"-test.run=" + words.TestPattern(c.test)}, ownArgs(os.Args[1:], flag.CommandLine)...)
}

// argv is the command line for the trace: the path of a test binary differs in each run.
func (c *containment) argv() []string {
	return append([]string{filepath.Base(os.Args[0])}, c.args()...)
}

// run runs the process that contains the client and returns how the client ended. A fault says that the process did
// not reach the client.
func (c *containment) run(ctx context.Context, env Env, grace time.Duration) (*trace.Process, error) {
	dir, err := os.MkdirTemp("", "mcp-conform-")
	if err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	defer os.RemoveAll(dir) // a stray process may still write there
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this test binary, to contain the client: %w", err)
	}
	v := containedVar{c.test, c.call, filepath.Join(dir, "report.json"), env.URL, env.Revision, env.context()}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding the client's environment: %w", err)
	}
	cmd := exec.Command(self, c.args()...)
	cmd.Dir = startDir
	// The environment is ours, but the race detector must not wait before each exit, and coverage gets its own folder.
	cmd.Env = append(os.Environ(), envContained+"="+string(raw), "GOCOVERDIR="+dir,
		"GORACE="+strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	cmd.Env = append(cmd.Env, (&place{dir: dir, home: ourHome()}).variables()...)
	p, err := runProcess(ctx, cmd, dir, grace, &env, nil, false)
	if err != nil { // not a CommandError: the caller gave no command
		return nil, fmt.Errorf("starting this test binary again, to contain the client: %s", err.Error())
	}
	return c.ended(p, v.Report)
}

// ended derives how the client ended from how its process ended.
func (c *containment) ended(p *trace.Process, report string) (*trace.Process, error) {
	var state trace.Process
	raw, err := os.ReadFile(report)
	if err == nil {
		err = json.Unmarshal(raw, &state)
	}
	crash := crashIn(p.Stderr)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.Interrupted:
	case errors.Is(err, fs.ErrNotExist):
		return p, &fault{fmt.Sprintf("the test binary, run again with %q to contain the client, "+
			"did not reach the client: %s", strings.Join(c.args(), " "), howEnded(p))}
	case err != nil:
		return nil, fmt.Errorf("the state of the contained client is unreadable: %w", err)
	case p.ExitCode != 0 && crash != "": // also after the client returned: it left a goroutine that crashed
		p.Panic = crash
	case state.State == trace.Ended:
		// The rest of the process belongs to the test's own clean-up.
		p.ExitCode, p.Signal, p.Err, p.Panic, p.Leak = 0, "", state.Err, state.Panic, state.Leak
		if strings.Contains(p.Stderr, "WARNING: DATA RACE") && p.Err == "" {
			p.Err = "the race detector found a data race: see its stderr"
		}
	case p.Signal == "" && !p.Deadline && !p.Interrupted:
		p.Err = fmt.Sprintf("it ended its whole process, with status %d, instead of returning", p.ExitCode)
	}
	return p, nil
}

// fault is a failure of the harness in a session: the client must not be judged.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }

func howEnded(p *trace.Process) string {
	output := strings.TrimSpace(p.Stdout + "\n" + p.Stderr)
	how := fmt.Sprintf("it exited with status %d", p.ExitCode)
	switch {
	case p.Deadline:
		how = "its time was up"
	case p.Signal != "":
		how = "a signal ended it: " + p.Signal
	}
	return fmt.Sprintf("%s, and printed %q", how, output)
}

// crash is the first line that the Go runtime prints about one.
var crash = regexp.MustCompile(`(?m)^(?:panic: (.*)|(fatal error: .*))$`)

// crashIn returns the first line of a crash, without the word panic; "" for none.
func crashIn(stderr string) string {
	m := crash.FindStringSubmatch(stderr)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}
