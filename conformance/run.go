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

// In sets the revisions to judge. The default is [Revisions].
func In(revisions ...server.Revision) Option { return func(s *settings) { s.Revisions = revisions } }

// Only plays and judges what the patterns name: scenarios ("parallel"), cases ("parallel/two-cities") or checks
// ("parallel/results-*"). The wildcards are those of [path.Match]. A check includes its cases, and a case its checks.
func Only(patterns ...string) Option { return func(s *settings) { s.Suite.Only = patterns } }

// Skip omits what the patterns name (see [Only]).
func Skip(patterns ...string) Option { return func(s *settings) { s.Suite.Skip = patterns } }

// Seed sets the number that generates session ids, request states and malformed requests. The default is 1.
func Seed(n int64) Option { return func(s *settings) { s.Suite.Seed = n } }

// Fuzz plays n more malformed requests in each revision, generated from the seed. One that breaks the client is shrunk
// and kept in the folder of [Frames].
func Fuzz(n int) Option { return func(s *settings) { s.Suite.Fuzz = n } }

// Frames sets the folder for what [Fuzz] finds. The default is testdata/mcp-conform.
func Frames(dir string) Option { return func(s *settings) { s.Suite.Frames = dir } }

// Timeout limits a session with the client. The default is [harness.DefaultTimeout]. For a client in process it is
// virtual time, except with [harness.Loopback].
func Timeout(d time.Duration) Option { return func(s *settings) { s.Suite.Timeout = d } }

// ClientTimeout sets after how long the client times out waiting for the model and returns an error to the server. The
// client receives it in [harness.Env], and a check enforces it. Without the option, the client receives
// [harness.DefaultClientTimeout] and must have some timeout.
func ClientTimeout(d time.Duration) Option { return func(s *settings) { s.Suite.ClientTimeout = d } }

// Strict fails the test on warnings as well.
func Strict() Option { return func(s *settings) { s.strict = true } }

// Run plays the scenarios with the client and reports each check as a subtest, named revision/scenario/check. A failed
// check fails its subtest with the evidence; one that does not apply is skipped with the reason. A client in process
// runs in virtual time over an in-memory network, except with [harness.Loopback].
//
// Cases that may crash a client in process run in a process of their own: Run starts the test binary again with only
// this test. So the test must reach Run without other tests, and its setup must be repeatable.
//
// If the environment variable MCP_CONFORM_FRAME holds the path of a kept malformed request (see [Fuzz]), Run plays
// only that.
func Run(t *testing.T, c harness.Client, options ...Option) {
	t.Helper()
	contained, ok := harness.Contain(t, c)
	if !ok {
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
		t.Logf("conformance: %d more malformed requests per revision, from seed %d", s.Suite.Fuzz, s.Suite.Seed)
	}
	s.Suite.Frame = os.Getenv(envFrame)
	reproduce := func(path string) string {
		if absolute, err := filepath.Abs(path); err == nil {
			path = absolute // The command may run in another folder.
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
						t.Run(r.Check, func(t *testing.T) { reportResult(t, &r, s.strict) })
					}
				})
			}
		})
	}
}

// envFrame names the environment variable with the path of the only malformed request to play.
const envFrame = "MCP_CONFORM_FRAME"

// reportResult makes a result the outcome of its subtest.
func reportResult(t *testing.T, r *report.Result, strict bool) {
	var note bytes.Buffer
	note.WriteByte('\n')
	report.Note(&note, r, report.TextOptions{})
	switch {
	case r.Failed(strict):
		t.Error(note.String())
	case r.Verdict == report.HarnessError:
		t.Fatal("conformance: this is an error of the harness, not of the client:" + note.String())
	case r.Verdict == report.NotApplicable, r.Verdict == report.Unsupported:
		t.Skipf("verdict %s: %s", r.Verdict, r.Message)
	case r.Verdict != report.Pass:
		t.Log(note.String())
	}
}

// groups splits sorted results into groups with the same key.
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

// pattern returns the quoted -run pattern for a test's name and those of its subtests.
func pattern(names ...string) string {
	return "'" + strings.ReplaceAll(harness.TestPattern(names...), "'", `'\''`) + "'"
}
