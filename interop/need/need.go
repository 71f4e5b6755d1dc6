// Package need has what the tests of the SDKs need: programs and folders, and clients that fail as their baseline says.
package need

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/interop/matrix"
)

// RequireToolsVariable is the environment variable that turns the skips of [Program] and [File] into failures, if it
// is "1".
const RequireToolsVariable = "MCP_CONFORM_REQUIRE_TOOLS"

// Program skips the test if a program is missing, and says how to install it.
func Program(t testing.TB, name, install string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, name, install)
	}
}

// File is Program for a file or folder that must be installed.
func File(t testing.TB, path, install string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		missing(t, path, install)
	}
}

func missing(t testing.TB, what, install string) {
	t.Helper()
	if os.Getenv(RequireToolsVariable) == "1" {
		t.Fatalf("%s is missing: %s", what, install)
	}
	t.Skipf("%s is missing (a failure with %s=1): %s", what, RequireToolsVariable, install)
}

// TwoCommands types what a newcomer types in an empty folder: mcp-conform init KIND, and mcp-conform run adapter, of
// some cases. programs is a folder in which the client's runtime is looked for first. installed are files and folders
// that are linked into the folder: what a newcomer downloads.
func TwoCommands(t *testing.T, kind, programs string, installed ...string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	command := filepath.Join(t.TempDir(), "mcp-conform")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-o", command,
		"github.com/mcp-conform/mcp-conform/cmd/mcp-conform").CombinedOutput()
	if err != nil {
		t.Fatalf("building the command: %v\n%s", err, built)
	}
	t.Chdir(t.TempDir())
	for _, name := range installed {
		if err := os.Symlink(filepath.Join(here, name), name); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(here, programs)+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, words := range [][]string{{"init", kind}, {"run", "adapter", "--scenario", "basic/question"}} {
		if said, err := exec.CommandContext(t.Context(), command, words...).CombinedOutput(); err != nil {
			t.Fatalf("mcp-conform %s: %v\n%s", strings.Join(words, " "), err, said)
		}
	}
}

// Baseline judges a client. It must fail and warn exactly as the file says. counts are for what a baseline leaves out,
// such as "3 known, 70 not applicable, 2 unsupported": a check that no longer applies is our bug, or a feature that the
// client has lost, and in a part of a run, an entry without cases may be fixed without notice. Flaky failures are not
// counted.
func Baseline(t *testing.T, c harness.Client, file, counts string, options ...conformance.Option) {
	t.Helper()
	InMatrix(t, nil, c, file, counts, options...)
}

// InMatrix is Baseline for a client that is a column of docs/matrix.md. With MCP_CONFORM_BASELINE=update it writes the
// column anew.
func InMatrix(
	t *testing.T, column *matrix.Column, c harness.Client, file, counts string, options ...conformance.Option,
) {
	t.Helper()
	judged := func(rs *report.Results, _ []*trace.Trace) {
		if column != nil {
			compareColumn(t, column, rs)
		}
		known := 0
		var list []string
		for i := range rs.Results {
			r := &rs.Results[i]
			if r.Known != nil && !r.Known.Flaky {
				known++
			}
			if r.Verdict != report.Pass {
				list = append(list, fmt.Sprintf("%s %s %s: %s", r.Verdict, r.Revision, r.ID(), r.Message))
			}
		}
		found := fmt.Sprintf("%d known, %d not applicable", known, rs.Summary[report.NotApplicable])
		if n := rs.Summary[report.Unsupported]; n > 0 {
			found += fmt.Sprintf(", %d unsupported", n)
		}
		if found != counts {
			t.Errorf("expected %s, found %s:\n%s", counts, found, strings.Join(list, "\n"))
		}
	}
	conformance.Run(t, c, append(options, conformance.Strict(), conformance.Parallel(runtime.GOMAXPROCS(0)),
		conformance.KnownIn(file), conformance.Judged(judged))...)
}

// compareColumn compares a column with its file.
func compareColumn(t *testing.T, column *matrix.Column, rs *report.Results) {
	t.Helper()
	column.Fill(rs)
	file := column.File("../matrix/testdata")
	raw := append(jsonvalue.Indented(column), '\n')
	if os.Getenv("MCP_CONFORM_BASELINE") == "update" {
		if err := os.WriteFile(file, raw, 0o644); err != nil {
			t.Error(err)
		}
	}
	written, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(written, raw) {
		t.Errorf("%s differs from what the run shows: with MCP_CONFORM_BASELINE=update the test writes it, then "+
			"go test ./interop/matrix -update writes docs/matrix.md:\n%s", file, raw)
	}
}

// Locked returns a version of a lock file: the first group of the pattern.
func Locked(t *testing.T, file, pattern string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(pattern).FindSubmatch(raw)
	if found == nil {
		t.Fatalf("%s: no version: %s", file, pattern)
	}
	return string(found[1])
}

// Built returns the version of a Go module with which the tests are built.
func Built(t *testing.T, path string) string {
	t.Helper()
	const version = "{{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}"
	said, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", version, path).Output()
	if err != nil {
		t.Fatalf("go list -m %s: %v", path, err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(said)), "v")
}
