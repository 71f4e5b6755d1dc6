package harness

import (
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
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// TB is the part of [testing.TB] that [Contain] needs.
type TB interface {
	Name() string
	Cleanup(func())
	SkipNow()
}

// Contain returns the client for a [Runner.Contained]: c in a process of its own, which is this test binary, started again to run just the
// test t up to this point. There the client does what it does over loopback, and where it panics, on whatever goroutine, only that
// process dies. For a client that is a program Contain returns nil: it is contained as it is.
//
// In such a process Contain reports false, for whoever called to return at once: nothing is to be played there. Where the call is the one
// that is meant it does not return at all but runs the client and skips the rest of the test.
func Contain(t TB, c Client) (contained *Client, ours bool) {
	call := nthCall(t)
	if raw := os.Getenv(envContained); raw != "" {
		beContained(t, &c, call, raw)
		return nil, false
	}
	if c.run == nil {
		return nil, true
	}
	c.contained = &containment{test: t.Name(), call: call}
	return &c, true
}

// envContained tells a process that it contains a client, and which.
const envContained = "MCP_CONFORM_CONTAINED"

// containment names a call of Contain: the test, and the how manieth of its calls it is.
type containment struct {
	test string
	call int
}

// containedVar is what envContained holds, as JSON.
type containedVar struct {
	Test     string          `json:"test"`
	Call     int             `json:"call"`
	Report   string          `json:"report"` // the path of the file in which the process says how far it came
	URL      string          `json:"url"`
	Revision server.Revision `json:"revision"`
	Told     contextVar      `json:"told"`
}

// calls counts the calls of Contain in each test that runs.
var calls struct {
	sync.Mutex
	of map[TB]int
}

func nthCall(t TB) int {
	calls.Lock()
	defer calls.Unlock()
	if calls.of == nil {
		calls.of = map[TB]int{}
	}
	if calls.of[t] == 0 {
		t.Cleanup(func() {
			calls.Lock()
			defer calls.Unlock()
			delete(calls.of, t)
		})
	}
	calls.of[t]++
	return calls.of[t]
}

// beContained runs the client, in the process that contains it, and skips the rest of the test, where this is the call that is meant.
func beContained(t TB, c *Client, call int, raw string) {
	var v containedVar
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		panic(fmt.Sprintf("harness: %s is not what we made it: %v", envContained, err))
	}
	if c.run == nil || v.Test != t.Name() || v.Call != call {
		return
	}
	report(v.Report, &trace.Process{State: trace.Started})
	env := Env{URL: v.URL, HTTP: http.DefaultClient, Revision: v.Revision, Report: sayOutcome, announce: sayFeature}
	v.Told.tell(&env)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report(v.Report, runFunction(ctx, c.run, env, c.grace()))
	t.SkipNow()
}

// report says how far the client has come. The file is replaced as a whole: the process may be killed at any moment.
func report(path string, p *trace.Process) {
	raw, err := json.Marshal(p)
	if err == nil {
		err = os.WriteFile(path+".part", raw, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".part", path)
	}
	if err != nil {
		panic(fmt.Sprintf("harness: the process that contains the client cannot say how it is: %v", err))
	}
}

// startDir is where the process was started, which is where one like it has to be.
var startDir, _ = os.Getwd() // "" is where we are

// args are the arguments of the process.
func (c *containment) args() []string {
	return append([]string{"-test.run=" + TestPattern(c.test)}, ownArgs(os.Args[1:], flag.CommandLine)...)
}

// argv is the command line as the trace tells it: test binaries have another path in each run.
func (c *containment) argv() []string {
	return append([]string{filepath.Base(os.Args[0])}, c.args()...)
}

// run runs the process that contains the client and returns how the client ended. A fault says that it never came to that.
func (c *containment) run(ctx context.Context, env Env, grace time.Duration) (*trace.Process, error) {
	dir, err := os.MkdirTemp("", "mcp-conform-")
	if err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	defer os.RemoveAll(dir) // what a process that got away still writes there is out of our reach
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this test binary cannot find itself, to contain the client: %w", err)
	}
	v := containedVar{c.test, c.call, filepath.Join(dir, "report.json"), env.URL, env.Revision, env.told()}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("telling the client what it has to know: %w", err)
	}
	cmd := exec.Command(self, c.args()...)
	cmd.Dir = startDir
	// It is to be as this one is, so its environment is ours. A race detector must not wait before each exit, and coverage has its own
	// place to go to.
	cmd.Env = append(os.Environ(), envContained+"="+string(raw), "GOCOVERDIR="+dir, "GORACE="+strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	cmd.Env = append(cmd.Env, temporary(dir)...)
	p, err := runProcess(ctx, cmd, grace, &env)
	if err != nil {
		return nil, fmt.Errorf("starting this test binary again, to contain the client: %s", err.Error()) // the caller gave no command to be wrong
	}
	return c.ended(p, v.Report)
}

// ended tells from how the process ended how the client did.
func (c *containment) ended(p *trace.Process, reported string) (*trace.Process, error) {
	var said trace.Process
	raw, err := os.ReadFile(reported)
	if err == nil {
		err = json.Unmarshal(raw, &said)
	}
	crash := crashIn(p.Stderr)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.Interrupted:
	case errors.Is(err, fs.ErrNotExist):
		return p, &fault{fmt.Sprintf("the test binary was started again, to contain the client, with %q, and never came as far as the client: %s",
			strings.Join(c.args(), " "), howItWent(p))}
	case err != nil:
		return nil, fmt.Errorf("the process that contained the client left an unreadable report: %w", err)
	case p.ExitCode != 0 && crash != "": // also where the client had returned: it left behind what crashed
		p.Panic = crash
	case said.State == trace.Ended:
		// How the process ended besides is for the test's own clean-up to say, and none of the client's.
		p.ExitCode, p.Signal, p.Err, p.Panic, p.Leak = 0, "", said.Err, said.Panic, said.Leak
		if strings.Contains(p.Stderr, "WARNING: DATA RACE") && p.Err == "" {
			p.Err = "the race detector found a data race: see its stderr"
		}
	case p.Signal == "" && !p.Deadline && !p.Interrupted:
		p.Err = fmt.Sprintf("it ended its whole process, with status %d, and did not return", p.ExitCode)
	}
	return p, nil
}

// fault is a failure of ours about a session that was played.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }

// howItWent says how a process ended, and what it had to say.
func howItWent(p *trace.Process) string {
	said := strings.TrimSpace(p.Stdout + "\n" + p.Stderr)
	if said == "" {
		said = "nothing"
	}
	how := fmt.Sprintf("it exited with status %d", p.ExitCode)
	switch {
	case p.Deadline:
		how = "its time was up"
	case p.Signal != "":
		how = "a signal ended it: " + p.Signal
	}
	return fmt.Sprintf("%s, and said %q", how, said)
}

// crash is the line with which the Go runtime begins to tell of one.
var crash = regexp.MustCompile(`(?m)^(?:panic: (.*)|(fatal error: .*))$`)

// crashIn returns the first line of a crash, without the word panic; "" where there is none.
func crashIn(stderr string) string {
	m := crash.FindStringSubmatch(stderr)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// TestPattern returns what -test.run has to be for just the test, or the subtest of the names, whatever characters they hold. A slash
// separates levels.
func TestPattern(names ...string) string {
	levels := strings.Split(strings.Join(names, "/"), "/")
	for i, level := range levels {
		levels[i] = "^" + regexp.QuoteMeta(level) + "$"
	}
	return strings.Join(levels, "/")
}

// ownArgs returns the arguments that are not those of package testing, but for -test.short, which tests go by.
func ownArgs(args []string, flags *flag.FlagSet) []string {
	var own []string
	for len(args) > 0 {
		arg := args[0]
		if len(arg) < 2 || arg[0] != '-' || arg == "--" {
			return append(own, args...) // flags end here
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		n := 1
		if !hasValue && !isBool(flags.Lookup(name)) {
			n = min(2, len(args)) // its value is the next one
		}
		if !strings.HasPrefix(name, "test.") || name == "test.short" {
			own = append(own, args[:n]...)
		}
		args = args[n:]
	}
	return slices.Clip(own)
}

// isBool reports whether a flag is without a value of its own. One that is not known has none that we could tell.
func isBool(f *flag.Flag) bool {
	if f == nil {
		return true
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
