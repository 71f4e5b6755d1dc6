package harness_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// playContained plays a hostile case with the client, contained. It does not return in the process that contains it.
func playContained(t *testing.T, c harness.Client, revision server.Revision) *trace.Trace {
	t.Helper()
	contained, ours := harness.Contain(t, c)
	if !ours {
		t.SkipNow() // the rest is for the process that plays
	}
	traces := play(t, harness.Runner{Client: c, Contained: contained, Revision: revision, Bubble: inBubble(t),
		CaseTimeout: time.Minute}, hostile(question("s/a")))
	require.Len(t, traces, 1)
	return traces[0]
}

func TestAContainedClientIsCompleteUnderAnyTestName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "the same name", "the same name", "with/a/slash", "(reg)ex.*p[",
		`"quotes" 'and' \back\slashes`, "naïve 答え", "#01", "{curly}|$x^", ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := t.TempDir() // which the other process makes, too
			tr := playContained(t, right(harness.Named("mine")), server.V20260728)
			require.DirExists(t, inner)
			requireClean(t, tr)
			require.Equal(t, "mine", tr.Header.Client)
			require.Equal(t, 1, modelRequests(tr))
			require.Equal(t, filepath.Base(os.Args[0]), tr.Events[0].Process.Argv[0])
			require.Len(t, marks(tr, trace.MarkOutcome)["s/a"], 1)
			require.NotEmpty(t, marks(tr, trace.MarkSupports))
		})
	}
}

// elsewhere calls a function on a goroutine of its own and waits for ever.
func elsewhere(do func()) func(context.Context, harness.Env) error {
	return func(ctx context.Context, _ harness.Env) error {
		go do()
		<-ctx.Done()
		return nil
	}
}

func TestTheTraceSaysHowAContainedClientEnded(t *testing.T) {
	t.Parallel()
	type function = func(context.Context, harness.Env) error
	here := func(do func()) function {
		return func(context.Context, harness.Env) error { do(); return nil }
	}
	outOfLuck := errors.New("out of luck")
	type want struct{ panic, err string }
	for name, c := range map[string]struct {
		run  function
		want want
	}{
		"panics":                      {here(func() { panic("out of range") }), want{panic: "out of range"}},
		"panics on another goroutine": {elsewhere(func() { panic("out of range") }), want{panic: "out of range"}},
		"panics with an error":        {elsewhere(func() { panic(outOfLuck) }), want{panic: "out of luck"}},
		"dereferences nil": {elsewhere(func() { fmt.Println(*(*int)(nil)) }),
			want{panic: "runtime error: invalid memory address or nil pointer dereference"}},
		"a fatal error": {elsewhere(func() { new(sync.Mutex).Unlock() }),
			want{panic: "fatal error: sync: unlock of unlocked mutex"}},
		"an error": {func(context.Context, harness.Env) error { return outOfLuck }, want{err: "out of luck"}},
		"ends its goroutine": {here(t.FailNow),
			want{err: "the client's function ended its goroutine (by runtime.Goexit or FailNow) instead of returning"}},
		"exits": {here(func() { os.Exit(7) }),
			want{err: "it ended its whole process, with status 7, instead of returning"}},
		"exits with success": {here(func() { os.Exit(0) }),
			want{err: "it ended its whole process, with status 0, instead of returning"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ending(t, playContained(t, harness.InProcess(c.run), server.V20251125))
			require.Equal(t, c.want, want{strings.TrimSuffix(p.Panic, " [recovered]"), p.Err}, "%+v", p)
			require.Empty(t, p.Leak)
			require.False(t, p.Clean())
		})
	}
}

func TestACancelledRunEndsAContainedClient(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		_ = correct(context.WithoutCancel(ctx), env)
		<-ctx.Done()
		return errors.New("its context ended")
	})
	client.Grace = harness.DefaultTimeout
	contained, ours := harness.Contain(t, client)
	if !ours {
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := hostile(quiet("s/a"))
	c.Handler = func(*server.Session) (any, error) {
		cancel()
		return "done", nil
	}
	r := harness.Runner{Client: client, Contained: contained, Revision: server.V20260728}
	var p *trace.Process
	require.ErrorIs(t, r.Run(ctx, []harness.Case{c}, func(tr *trace.Trace) { p = ending(t, tr) }), context.Canceled)
	require.True(t, p.Interrupted)
	require.Equal(t, "its context ended", p.Err, "it had the time to return")
}

func TestEachCallOfContainRunsItsOwnClient(t *testing.T) {
	for i := range 3 {
		failure := fmt.Errorf("client %d", i)
		client := harness.InProcess(func(context.Context, harness.Env) error { return failure })
		contained, ours := harness.Contain(t, client)
		if !ours {
			continue // the process is for another call
		}
		r := harness.Runner{Client: right(), Contained: contained, CaseTimeout: time.Minute}
		traces := play(t, r, hostile(quiet("s/a")))
		require.Equal(t, failure.Error(), ending(t, traces[0]).Err)
	}
}

func TestAProcessThatNeverReachesTheClientIsAFault(t *testing.T) {
	if os.Getenv("MCP_CONFORM_CONTAINED") != "" {
		t.Skip("not in this process")
	}
	faults := marks(playContained(t, right(), server.V20251125), trace.MarkHarnessError)
	require.Len(t, faults, 2, "for the session and for the case")
	require.Equal(t, faults[""], faults["s/a"])
	require.Regexp(t, `"-test\.run=\^TestAProcessThatNeverReachesTheClientIsAFault\$.*" to contain the client, `+
		`did not reach the client: it exited with status 0, and printed "PASS"`, faults[""][0])
}

func TestAProgramNeedsNoContainment(t *testing.T) {
	contained, ours := harness.Contain(t, harness.Command("true"))
	require.True(t, ours)
	require.Nil(t, contained)
}

// TestContainWorksUnderEveryFlag runs the tests of a user's package with what go test offers.
func TestContainWorksUnderEveryFlag(t *testing.T) {
	gotool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command in the PATH")
	}
	profile := filepath.Join(t.TempDir(), "cover.out")
	cmd := exec.CommandContext(t.Context(), gotool, "test", "./testdata/contained", "-json", "-shuffle=on", "-count=2",
		"-parallel=4", "-short", "-cover", "-coverprofile="+profile, "-args", "-setting", "mine")
	cmd.Env = append(os.Environ(), "EXPECT_SHORT=1", "EXPECT_SETTING=mine")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	passed := regexp.MustCompile(`"Action":"pass","Package":"[^"]*/contained","Test":"TestClients/`)
	require.Len(t, passed.FindAll(out, -1), 8, "%s", out)
	covered, err := os.ReadFile(profile)
	require.NoError(t, err)
	require.Contains(t, string(covered), "contained/client.go:")
	require.Regexp(t, `client\.go:\S+ \d+ 1\n`, string(covered), "the profile of the run, not of a contained process")
}
