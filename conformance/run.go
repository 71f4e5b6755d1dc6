package conformance

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/shell"
)

// Option is a setting of [Run].
type Option func(*settings)

type settings struct {
	Suite
	strict bool
}

// In judges the revisions, in place of [Revisions].
func In(revisions ...server.Revision) Option { return func(s *settings) { s.Revisions = revisions } }

// Only plays and judges what the patterns name: scenarios ("parallel"), cases ("parallel/two-cities"), checks ("parallel/results-*").
func Only(patterns ...string) Option { return func(s *settings) { s.Suite.Only = patterns } }

// Skip leaves out what the patterns name.
func Skip(patterns ...string) Option { return func(s *settings) { s.Suite.Skip = patterns } }

// Seed makes session ids and request states from the number; without it, from 1.
func Seed(n int64) Option { return func(s *settings) { s.Suite.Seed = n } }

// Fuzz makes n more malformed requests from the seed and plays them in each revision. One that breaks the client is made as small as it can be, and kept in the folder
// of [Frames].
func Fuzz(n int) Option { return func(s *settings) { s.Suite.Fuzz = n } }

// Frames names the folder for what Fuzz finds; without it, testdata/mcp-conform.
func Frames(dir string) Option { return func(s *settings) { s.Suite.Frames = dir } }

// Timeout is how long a session with the client may take; without it, [harness.DefaultTimeout]. For a client in process it is
// virtual time, unless it runs with [harness.Loopback].
func Timeout(d time.Duration) Option { return func(s *settings) { s.Suite.Timeout = d } }

// ClientTimeout says how long the client waits for the model, before it gives up and says so to the server. The client is told so in
// [harness.Env], and held to it; without it the client is told of [harness.DefaultClientTimeout], and need not have that very limit, but one.
func ClientTimeout(d time.Duration) Option { return func(s *settings) { s.Suite.ClientTimeout = d } }

// Strict fails the test on warnings, too.
func Strict() Option { return func(s *settings) { s.strict = true } }

// Run plays the scenarios against the client and reports each check as a subtest, named revision/scenario/check. A check
// that is broken fails its subtest with the evidence; one that does not apply is skipped, with the reason. A client in process runs in
// virtual time, over an in-memory network, unless it was made with [harness.Loopback].
//
// Cases that may crash a client are played with one in process in a process of its own: the test binary, started again to run just this
// test up to here. Have the test come this far by itself, and whatever it sets up bear to be set up twice.
//
// With a path in the environment variable MCP_CONFORM_FRAME Run plays the malformed request that is in that file, and nothing else.
func Run(t *testing.T, c harness.Client, options ...Option) {
	t.Helper()
	contained, ours := harness.Contain(t, c)
	if !ours {
		return
	}
	s := settings{Suite: Suite{Client: c, Contained: contained, Seed: 1, Tool: "go test", Bubble: func(f func()) {
		synctest.Test(t, func(*testing.T) { f() })
	}}}
	for _, o := range options {
		o(&s)
	}
	name := t.Name()
	s.Reproduce = func(revision server.Revision, caseID string) string {
		scenario, _, _ := strings.Cut(caseID, "/")
		return "go test -run " + pattern(name, string(revision), cmp.Or(scenario, check.ClientScenario))
	}
	if s.Suite.Fuzz > 0 {
		s.Suite.Frames = cmp.Or(s.Suite.Frames, filepath.Join("testdata", "mcp-conform"))
		t.Logf("conformance: %d malformed requests more in each revision are made from seed %d", s.Suite.Fuzz, s.Suite.Seed)
	}
	s.Suite.Frame = os.Getenv(envFrame)
	reproduce := func(path string) string {
		if absolute, err := filepath.Abs(path); err == nil {
			path = absolute // the command may be given elsewhere
		}
		return envFrame + "=" + shell.Quote(path) + " go test -run " + pattern(name)
	}
	s.Suite.ReproduceFile = reproduce
	if s.Suite.Frame != "" {
		s.Reproduce = func(server.Revision, string) string { return reproduce(s.Suite.Frame) }
	}
	rs, _, err := s.Suite.Run(t.Context())
	if err != nil {
		t.Fatalf("conformance: %v", err)
	}
	for _, revision := range groups(rs.Results, func(r *report.Result) string { return r.Revision }) {
		t.Run(revision[0].Revision, func(t *testing.T) {
			for _, scenario := range groups(revision, func(r *report.Result) string { return r.Scenario }) {
				t.Run(scenario[0].Scenario, func(t *testing.T) {
					for _, r := range scenario {
						t.Run(r.Check, func(t *testing.T) { tell(t, &r, s.strict) })
					}
				})
			}
		})
	}
}

// envFrame names the file of the one malformed request that is played.
const envFrame = "MCP_CONFORM_FRAME"

// tell makes a result the outcome of its subtest.
func tell(t *testing.T, r *report.Result, strict bool) {
	var note bytes.Buffer
	note.WriteByte('\n')
	report.Note(&note, r, report.TextOptions{})
	switch {
	case r.Failed(strict):
		t.Error(note.String())
	case r.Verdict == report.HarnessError:
		t.Fatal("conformance: this is a fault of the harness, not of the client:" + note.String())
	case r.Verdict == report.NotApplicable, r.Verdict == report.Unsupported:
		t.Skipf("verdict %s: %s", r.Verdict, r.Message)
	case r.Verdict != report.Pass:
		t.Log(note.String())
	}
}

// groups splits results into runs of those that share a key. They come sorted.
func groups(results []report.Result, key func(*report.Result) string) [][]report.Result {
	var split [][]report.Result
	for i := range results {
		if i == 0 || key(&results[i]) != key(&results[i-1]) {
			split = append(split, nil)
		}
		split[len(split)-1] = append(split[len(split)-1], results[i])
	}
	return split
}

// pattern makes a -run pattern, quoted for a shell, of a test's name and those of its subtests.
func pattern(names ...string) string {
	return "'" + strings.ReplaceAll(harness.TestPattern(names...), "'", `'\''`) + "'"
}
