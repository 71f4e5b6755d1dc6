package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

func TestMain(m *testing.M) {
	testscript.Main(manyAtOnce{m}, map[string]func(){
		"mcp-conform": func() { os.Exit(mainCode()) },
		"ask-model":   func() { os.Exit(askModel()) },
		"my-host":     func() { os.Exit(runMyHost()) },
		"telltale":    func() { os.Exit(runTelltale()) },
		"my-gateway":  func() { os.Exit(runMyGateway()) },
	})
}

// collects makes the processes of the tests collect garbage seldom: they are many, and none of them lives long.
const collects = "400"

// manyAtOnce runs more parallel tests than there are cores, because the slow scripts wait.
type manyAtOnce struct{ *testing.M }

func (m manyAtOnce) Run() int {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // else the scripts' processes ignore it under nohup
	flag.Parse()
	if err := errors.Join(flag.Set("test.parallel", "8"), os.Setenv("GOGC", collects)); err != nil {
		panic(err)
	}
	return m.M.Run()
}

// Each script shows one use of the command, or one kind of bad use.
func TestScripts(t *testing.T) { runScripts(t, "script") }

// The long scripts show uses that take seconds, or a second of a core.
func TestLongScripts(t *testing.T) {
	sharedtest.NeedsWhole(t)
	runScripts(t, "long")
}

func runScripts(t *testing.T, folder string) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", folder),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup:               func(env *testscript.Env) error { env.Setenv("GOGC", collects); return nil },
		Condition:           machineHas,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "results": results, "wholetrace": wholeTrace, "gone": gone, "samereport": sameReport,
			"model": startModel,
		},
	})
}

// machineHas is for lines of a script: [interfaces] is true on a machine with another interface than the loopback one.
func machineHas(what string) (bool, error) {
	if what != "interfaces" {
		return false, fmt.Errorf("unknown condition %q", what)
	}
	all, err := net.InterfaceAddrs()
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		p, ok := a.(*net.IPNet)
		return ok && p.IP.To4() != nil && p.IP.IsGlobalUnicast()
	}), err
}

// exits N COMMAND… runs a command and expects the exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("cannot run %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("expected exit status %d, found %d", want, got)
	}
}

// results FILE KEY=VALUE… expects a document of results with at least one in which each JSON key has the value.
func results(ts *testscript.TestScript, neg bool, args []string) {
	rs, err := report.ReadJSON([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	for i := range rs.Results {
		raw, err := json.Marshal(rs.Results[i])
		ts.Check(err)
		var flat map[string]any
		ts.Check(json.Unmarshal(raw, &flat))
		hit := true
		for _, arg := range args[1:] {
			key, value, _ := strings.Cut(arg, "=")
			got, _ := flat[key].(string)
			hit = hit && got == value
		}
		if hit {
			return
		}
	}
	ts.Fatalf("expected a result with %s, found none", strings.Join(args[1:], " "))
}

// wholetrace FILE expects a complete trace.
func wholeTrace(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	t, err := trace.Read(f)
	ts.Check(err)
	if !t.Whole || len(t.Events) == 0 {
		ts.Fatalf("the trace has %d events, whole: %v", len(t.Events), t.Whole)
	}
}

// gone FILE waits until the process whose id is in the file has ended, or is a zombie that nobody reaps.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	deadline := time.After(time.Minute)
	for {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // none without procfs
		process, err := os.FindProcess(pid)
		if err != nil || strings.Contains(string(stat), ") Z ") ||
			errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			return
		}
		_ = process.Release()
		select {
		case <-look.C:
		case <-deadline:
			ts.Fatalf("process %d is still running", pid)
		}
	}
}

var varying = regexp.MustCompile(`"duration_ms": \d+|"flags": \[[^\]]*\]`)

// samereport A B expects equal reports, except for times and flags.
func sameReport(ts *testscript.TestScript, neg bool, args []string) {
	a, b := varying.ReplaceAllString(ts.ReadFile(args[0]), ""), varying.ReplaceAllString(ts.ReadFile(args[1]), "")
	if a != b {
		ts.Fatalf("the reports differ:\n%s\n%s", a, b)
	}
}

func TestEachWireOfTheReferencePasses(t *testing.T) {
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command("mcp-conform", "run", "--client", "builtin:reference/"+w.name, "--strict",
				"--scenario", "parallel/two-cities", "--revision", "2025-11-25", "--format", "json").Output()
			require.NoError(t, err, "%s", out)
			rs, err := report.ReadJSON(out)
			require.NoError(t, err)
			for _, r := range rs.Results {
				for _, d := range r.Dialects {
					require.Equal(t, cmp.Or(w.config.Dialect, dialect.OpenAIChat), d, r.ID())
				}
			}
			require.NotZero(t, rs.Summary[report.Pass])
		})
	}
}
