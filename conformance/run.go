package conformance

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/baseline"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/hooks"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

// Option is a setting of [Run].
type Option func(*settings)

type settings struct {
	Suite
	strict   bool
	known    func() (*baseline.File, error) // nil without a baseline
	judged   func(*report.Results, []*trace.Trace)
	explores bool // with a number of its own
}

// In sets the revisions to judge. The default is [server.DefaultRevisions].
func In(revisions ...server.Revision) Option { return func(s *settings) { s.Revisions = revisions } }

// Only plays and judges what the patterns name: scenarios ("parallel"), cases ("parallel/two-cities") or checks
// ("parallel/results-*"). The wildcards are those of [path.Match]. A check includes its cases, and a case its checks.
func Only(patterns ...string) Option { return func(s *settings) { s.Suite.Only = patterns } }

// Skip omits what the patterns name (see [Only]).
func Skip(patterns ...string) Option { return func(s *settings) { s.Suite.Skip = patterns } }

// Seed sets the number that generates session ids, request states, malformed requests and
// conversations. The default is 1.
func Seed(n int64) Option { return func(s *settings) { s.Suite.Seed = n } }

// Fuzz plays n more malformed requests in each revision, generated from the seed. One that breaks the client is shrunk
// and kept in the folder of [Keep].
func Fuzz(n int) Option { return func(s *settings) { s.Suite.Fuzz = n } }

// Explore plays n valid conversations in each revision, generated from the seed, in place of 4. One that
// fails a check is shrunk and kept in the folder of [Keep]. 0 plays none.
func Explore(n int) Option {
	return func(s *settings) {
		s.explores = n > 0
		if s.Suite.Explore = n; n == 0 {
			s.Suite.Explore = -1
		}
	}
}

// Keep sets the folder for what [Fuzz] and [Explore] find. The default is testdata/mcp-conform.
func Keep(dir string) Option { return func(s *settings) { s.Suite.Keep = dir } }

// Timeout limits a session with the client. The default is [harness.DefaultTimeout]. For a client in process it is
// virtual time, except with [harness.Loopback].
func Timeout(d time.Duration) Option { return func(s *settings) { s.Suite.Timeout = d } }

// ClientTimeout sets after how long the client times out waiting for the model and returns an error to the server. The
// client receives it in [harness.Env], and a check enforces it. Without the option, the client receives
// [harness.DefaultClientTimeout] and must have some timeout.
func ClientTimeout(d time.Duration) Option { return func(s *settings) { s.Suite.ClientTimeout = d } }

// Loop says who runs the tool loop of a sampling request: [harness.ServerLoop], to which the client returns the tool
// uses as the specification says, or [harness.ClientLoop]. By default the traces tell.
func Loop(l harness.Loop) Option { return func(s *settings) { s.Suite.Loop = l } }

// Parallel plays up to n sessions with the client at the same time, in all revisions together. The default is one.
// Cases that wait, or may have to, do not count, but for those of a client in virtual time.
func Parallel(n int) Option { return func(s *settings) { s.Suite.Parallel = n } }

// Judged calls f with the results and the traces before the subtests report them, for example to write a file with an
// encoder of package report.
func Judged(f func(*report.Results, []*trace.Trace)) Option {
	return func(s *settings) { s.judged = f }
}

// Strict fails the test on warnings as well.
func Strict() Option { return func(s *settings) { s.strict = true } }

// Run plays the scenarios with the client and reports each check as a subtest, named revision/scenario/check. A failed
// check fails its subtest with the evidence; one that does not apply is skipped with the reason. A client in process
// runs in virtual time over an in-memory network, except with [harness.Loopback].
//
// Cases that may crash a client in process run in a process of their own: Run starts the test binary again with only
// this test. So the test must reach Run without other tests, and its setup must be repeatable.
//
// If the environment variable MCP_CONFORM_CONVERSATION holds the path of a kept conversation (see [Explore] and
// [Fuzz]), Run plays only that.
func Run(t *testing.T, c harness.Client, options ...Option) {
	t.Helper()
	contained, ok := harness.Contain(t, c)
	if !ok {
		return
	}
	s := settings{Suite: Suite{Client: c, Seed: 1, Options: hooks.Options{Contained: contained, Tool: "go test"},
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}}
	for _, o := range options {
		o(&s)
	}
	known := &baseline.File{}
	if s.known != nil {
		var err error
		if known, err = s.known(); err != nil {
			t.Fatalf("conformance: %v", err)
		}
	}
	s.prepare(t)
	rs, traces, err := s.Suite.Run(t.Context())
	if err != nil {
		t.Fatalf("conformance: %v", err)
	}
	if s.known != nil {
		rs = s.compare(t, rs, known)
	}
	if s.judged != nil {
		s.judged(rs, traces)
	}
	selects := selectsScenario(t.Name())
	for _, revision := range groups(rs.Results, func(r *report.Result) string { return r.Revision }) {
		t.Run(revision[0].Revision, func(t *testing.T) {
			for _, scenario := range groups(revision, func(r *report.Result) string { return r.Scenario }) {
				t.Run(scenario[0].Scenario, func(t *testing.T) {
					for _, r := range scenario {
						t.Run(r.Check, func(t *testing.T) { reportResult(t, &r, s.strict, selects) })
					}
				})
			}
		})
	}
}

// prepare sets what depends on the test: the commands that reproduce a result, and the files.
func (s *settings) prepare(t *testing.T) {
	name := t.Name()
	s.Reproduce = func(r *report.Result) string {
		return "go test -run " + pattern(name, r.Revision, r.Scenario)
	}
	if s.Suite.Fuzz > 0 || s.explores {
		s.Suite.Keep = cmp.Or(s.Suite.Keep, filepath.Join("testdata", "mcp-conform"))
		t.Logf("conformance: %d conversations and %d more malformed requests per revision, from seed %d", s.explored(),
			s.Suite.Fuzz, s.Suite.Seed)
	}
	s.Suite.Conversation = os.Getenv(envConversation)
	reproduce := func(path string) string {
		if absolute, err := filepath.Abs(path); err == nil {
			path = absolute // The command may run in another folder.
		}
		return envConversation + "=" + words.Quote(path) + " go test -run " + pattern(name)
	}
	s.Suite.ReproduceFile = reproduce
	if s.Suite.Conversation != "" {
		s.Reproduce = func(*report.Result) string { return reproduce(s.Suite.Conversation) }
	}
}

// envConversation names the environment variable with the path of the only conversation to play.
const envConversation = "MCP_CONFORM_CONVERSATION"

// selectsScenario reports whether the flag -run selects scenarios below the test, so that others are left out.
func selectsScenario(test string) bool {
	run := flag.Lookup("test.run")
	return run != nil && strings.Count(run.Value.String(), "/") > strings.Count(test, "/")+1
}

// reportResult makes a result the outcome of its subtest. What waits for a prerequisite is skipped, because the subtest
// of the prerequisite fails. With selects, that subtest may be left out, and the result fails in a line.
func reportResult(t *testing.T, r *report.Result, strict, selects bool) {
	var note bytes.Buffer
	note.WriteByte('\n')
	if testing.Verbose() || r.Verdict == report.HarnessError {
		report.Note(&note, r, report.TextOptions{})
	} else {
		report.Brief(&note, r, report.TextOptions{})
	}
	waits := fmt.Sprintf("not judged because of %s: %s", r.Prerequisite, r.Message)
	switch {
	case r.Known != nil:
		t.Skipf("known %s: %s\n%s", r.Verdict, r.Known.Reason, note.String())
	case r.Prerequisite != "" && selects && r.Failed(strict):
		t.Error(waits)
	case r.Prerequisite != "":
		t.Skip(waits)
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
	return words.Quote(words.TestPattern(names...))
}
