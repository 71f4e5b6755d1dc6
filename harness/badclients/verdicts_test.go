package badclients

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/play"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// expected is what a run must report of a bad client.
type expected struct {
	client string
	// fails are the checks that fail it, and no others.
	fails string
	// unseen is true if checks have nothing to judge.
	unseen bool
	// says is part of the message of the first one.
	says string
	// hangs is true for a client that has to be ended.
	hangs bool
	// busy is true for a client that keeps a core busy until then: it runs after the others.
	busy bool
	// in are the revisions of this row; nil for all revisions of the client.
	in []server.Revision
}

// Timeouts of clients that hang, far above what they take to get there. An interpreter takes longer to start. A busy
// machine extends them.
const (
	hangTimeout        = 2 * time.Second
	foreignHangTimeout = 4 * time.Second
)

func (e *expected) revisions() []server.Revision {
	if e.in != nil {
		return e.in
	}
	for _, c := range All() {
		switch {
		case c.Name == e.client && c.Era == "legacy":
			return []server.Revision{server.V20251125}
		case c.Name == e.client && c.Era == "modern":
			return []server.Revision{server.V20260728}
		}
	}
	return server.DefaultRevisions()
}

// command is the client's command line; nil if its interpreter is missing.
func (e *expected) command() []string {
	language, how, ok := strings.Cut(e.client, ":")
	if !ok {
		return []string{os.Args[0], "bad", e.client}
	}
	program := map[string][]string{
		"node": {"node", "testdata/bad.mjs", how}, "python": {"python3", "testdata/bad.py", how}, "sh": {"sh", "-c", how},
	}[language]
	if _, err := exec.LookPath(program[0]); err != nil {
		return nil
	}
	return program
}

// job is one bad client in one revision.
type job struct {
	*expected
	revision server.Revision
	argv     []string
	results  *report.Results
	err      error
}

// jobs are some rows, each in all of its revisions, with MCP_CONFORM_MATRIX=whole. Without it they are a sample: a
// third of the clients, by their names, and each row in one of its revisions, the rows in turns.
func jobs(which func(e *expected) bool) []*job {
	var all []*job
	for i := range verdicts {
		e := &verdicts[i]
		if !which(e) {
			continue
		}
		revisions := e.revisions()
		if !sharedtest.Whole() {
			if play.Number(e.client)%3 != 0 {
				continue
			}
			revisions = revisions[i%len(revisions):][:1]
		}
		for _, revision := range revisions {
			all = append(all, &job{expected: e, revision: revision, argv: e.command()})
		}
	}
	return all
}

func (j *job) run(ctx context.Context) {
	client := harness.Command(j.argv...)
	client.Grace = 200 * time.Millisecond
	s := conformance.Suite{Client: client, Seed: 1, Revisions: []server.Revision{j.revision},
		Only: []string{"basic/question"}}
	switch {
	case j.busy: // alone, so that it gets there soon
		s.Timeout = hangTimeout
	case j.hangs && strings.Contains(j.client, ":"):
		s.Timeout = foreignHangTimeout
	case j.hangs:
		s.Timeout = hangTimeout
	}
	j.results, _, j.err = s.Run(ctx)
}

func TestEveryBadClientGetsItsVerdict(t *testing.T) {
	test(t, func(e *expected) bool { return !e.busy })
}

func TestEveryBadClientThatKeepsACoreBusyGetsItsVerdict(t *testing.T) {
	sharedtest.NeedsWhole(t)
	test(t, func(e *expected) bool { return e.busy })
}

// test runs some bad clients and compares the results with the expected ones. Those that hang mostly wait, so all of
// them run at once, beside some others.
func test(t *testing.T, which func(e *expected) bool) {
	t.Setenv(marker, t.TempDir())   // inherited by every client
	t.Setenv("TMPDIR", t.TempDir()) // other runs have theirs
	before := resources(t)
	all := jobs(which)
	ending, hanging := make(chan struct{}, 6), make(chan struct{}, 32)
	var running sync.WaitGroup
	for _, j := range all {
		slots := ending
		if j.hangs {
			slots = hanging
		}
		running.Go(func() {
			slots <- struct{}{}
			if j.argv != nil {
				j.run(t.Context())
			}
			<-slots
		})
	}
	running.Wait()
	for _, j := range all {
		t.Run(j.client+"/"+string(j.revision), func(t *testing.T) {
			if j.argv == nil {
				t.Skipf("the interpreter of %s is missing: install Node.js 20 and Python 3.9", j.client)
			}
			require.NoError(t, j.err)
			j.hold(t, j.results)
			read, err := report.ReadJSON(report.JSON(j.results))
			require.NoError(t, err, "the results are complete, whatever the client did")
			require.Len(t, read.Results, len(j.results.Results))
		})
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		after := resources(c)
		after.goroutines--                                         // this one
		assert.LessOrEqual(c, after.goroutines, before.goroutines) // one from before may have ended
		assert.LessOrEqual(c, after.files, before.files)
		assert.Equal(c, before.folders, after.folders)
		assert.Equal(c, before.processes, after.processes)
	}, time.Minute, 10*time.Millisecond, "a client left something behind")
}

// hold compares the results with the expected ones.
func (e *expected) hold(t *testing.T, rs *report.Results) {
	var fails []string
	unseen, says := false, ""
	for i := range rs.Results {
		r := &rs.Results[i]
		switch r.Verdict {
		case report.Fail, report.Warn:
			if fails == nil {
				says = r.Message
			}
			fails = append(fails, r.ID())
		case report.NotObserved:
			unseen = true
		case report.HarnessError:
			t.Errorf("it is the client that is bad: %s: %s", r.ID(), r.Message)
		}
	}
	text := string(report.Text(rs, report.TextOptions{}))
	require.Equal(t, e.fails, strings.Join(fails, " "), text)
	require.Equal(t, e.unseen, unseen, text)
	require.Contains(t, says, e.says)
}

func TestEveryBadClientHasAnExpectedVerdict(t *testing.T) {
	for _, c := range All() {
		require.True(t, slices.ContainsFunc(verdicts, func(e expected) bool { return e.client == c.Name }), c.Name)
	}
}
