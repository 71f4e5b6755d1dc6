package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mcp-conform": func() { os.Exit(mainCode()) }, "ask-model": func() { os.Exit(askModel()) }})
}

// TestScripts runs a script for each way in which the command is used, well or badly.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "results": results, "wholetrace": wholeTrace, "gone": gone, "samereport": sameReport, "model": startModel,
		},
	})
}

// exits N COMMAND… runs a command and wants just that exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s could not be run: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// results FILE KEY=VALUE… wants a whole document of results in the file, with at least one result in which each key, as in JSON, has the
// value. No key: with results at all.
func results(ts *testscript.TestScript, neg bool, args []string) {
	rs, err := report.ReadJSON([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	counted := 0
	for _, n := range rs.Summary {
		counted += n
	}
	if counted != len(rs.Results) || counted == 0 {
		ts.Fatalf("the summary counts %d of %d results", counted, len(rs.Results))
	}
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
	ts.Fatalf("no result has %s", strings.Join(args[1:], " "))
}

// wholetrace FILE wants a trace that can be read and is whole.
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

// gone FILE wants the process whose id is in the file to be no more, or a zombie that nobody reaps. A killed process takes a moment
// to go.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	deadline := time.After(time.Minute)
	for {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // not there without procfs
		zombie := strings.Contains(string(stat), ") Z ")
		if zombie || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		select {
		case <-look.C:
		case <-deadline:
			ts.Fatalf("process %d is still there", pid)
		}
	}
}

var times = regexp.MustCompile(`"duration_ms": \d+`)

// samereport A B wants two reports to be the same, byte for byte, but for times.
func sameReport(ts *testscript.TestScript, neg bool, args []string) {
	a, b := times.ReplaceAllString(ts.ReadFile(args[0]), ""), times.ReplaceAllString(ts.ReadFile(args[1]), "")
	if a != b {
		ts.Fatalf("the reports differ:\n%s\n%s", a, b)
	}
}
