package harness_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// hostile is the case in a process of its own.
func hostile(c harness.Case) harness.Case {
	c.Hostile = true
	return c
}

// contain plays a hostile case with the client, contained, and a harmless one. It does not return in the process that contains it.
func contain(t *testing.T, c harness.Client, r harness.Runner) (hostileTrace *trace.Trace, err error) {
	t.Helper()
	contained, ours := harness.Contain(t, c)
	if !ours {
		t.SkipNow() // what follows is for the process that plays
	}
	r.Client, r.Contained, r.Bubble = c, contained, inBubble(t)
	r.CaseTimeout = time.Minute // on a busy machine, too
	if r.Revision == "" {
		r.Revision = server.V20251125
	}
	var traces []*trace.Trace
	err = r.Run(t.Context(), []harness.Case{hostile(question("s/a"))}, func(tr *trace.Trace) { traces = append(traces, tr) })
	if err != nil {
		return nil, err
	}
	require.Len(t, traces, 1)
	return traces[0], nil
}

func TestAContainedClientIsAFullClientWhateverItsTestIsCalled(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "the same name", "the same name", "with/a/slash", "(reg)ex.*p[", `"quotes" 'and' \back\slashes`, "naïve 答え", "#01", "{curly}|$x^", ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := t.TempDir() // which the other process makes, too
			tr, err := contain(t, right(harness.Named("mine")), harness.Runner{Revision: server.V20260728})
			require.NoError(t, err)
			require.DirExists(t, inner)
			p := ending(t, tr)
			require.True(t, p.Clean(), "%+v", p)
			require.Equal(t, "mine", tr.Header.Client)
			require.Equal(t, 1, modelRequests(tr))
			require.Equal(t, filepath.Base(os.Args[0]), tr.Events[0].Process.Argv[0])
			outcomes := 0
			for _, e := range tr.Events {
				if e.Mark != nil && e.Mark.Name == trace.MarkOutcome {
					outcomes++
					require.Equal(t, "s/a", e.Case)
				}
			}
			require.Equal(t, 1, outcomes, "it reports from there, too")
			require.True(t, slices.ContainsFunc(tr.Events, func(e trace.Event) bool { return e.Mark != nil && e.Mark.Name == trace.MarkSupports }), "and announces")
		})
	}
}

func TestHowAContainedClientEndedIsInTheTrace(t *testing.T) {
	t.Parallel()
	type want struct{ panic, err, leak string }
	for name, c := range map[string]struct {
		run  func(context.Context, harness.Env) error
		want want
	}{
		"panics":                   {func(context.Context, harness.Env) error { panic("out of range") }, want{panic: "out of range"}},
		"panics on another thread": {elsewhere(func() { panic("out of range") }), want{panic: "out of range"}},
		"panics with an error":     {elsewhere(func() { panic(errors.New("out of luck")) }), want{panic: "out of luck"}},
		"dereferences nil":         {elsewhere(func() { fmt.Println(*(*int)(nil)) }), want{panic: "runtime error: invalid memory address or nil pointer dereference"}},
		"is ended by the runtime":  {elsewhere(func() { new(sync.Mutex).Unlock() }), want{panic: "fatal error: sync: unlock of unlocked mutex"}},
		"returns an error":         {func(context.Context, harness.Env) error { return errors.New("out of luck") }, want{err: "out of luck"}},
		"ends its goroutine": {func(context.Context, harness.Env) error { t.FailNow(); return nil },
			want{err: "the client's function ended its goroutine (runtime.Goexit, or FailNow of a test) and did not return"}},
		"exits": {func(context.Context, harness.Env) error { os.Exit(7); return nil },
			want{err: "it ended its whole process, with status 7, and did not return"}},
		"exits with success": {func(context.Context, harness.Env) error { os.Exit(0); return nil },
			want{err: "it ended its whole process, with status 0, and did not return"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, err := contain(t, harness.InProcess(c.run), harness.Runner{})
			require.NoError(t, err)
			p := ending(t, tr)
			require.Equal(t, c.want, want{strings.TrimSuffix(p.Panic, " [recovered]"), p.Err, p.Leak}, "%+v", p)
			require.False(t, p.Clean())
		})
	}
}

func TestAContainedClientIsToldToEnd(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		_ = reference.Client(reference.Config{})(context.WithoutCancel(ctx), env)
		<-ctx.Done()
		return errors.New("told to end")
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
	require.Equal(t, "told to end", p.Err, "and is given the time for it")
}

// elsewhere does something on a goroutine of its own and waits for what never comes.
func elsewhere(do func()) func(context.Context, harness.Env) error {
	return func(ctx context.Context, _ harness.Env) error {
		go do()
		<-ctx.Done()
		return nil
	}
}

func TestEachCallOfOneTestContainsItsOwnClient(t *testing.T) {
	for i := range 3 {
		said := fmt.Errorf("client %d", i)
		tr, err := func() (*trace.Trace, error) {
			contained, ours := harness.Contain(t, harness.InProcess(func(context.Context, harness.Env) error { return said }))
			if !ours {
				return nil, nil // the process is for another call
			}
			var got *trace.Trace
			r := harness.Runner{Client: right(), Contained: contained, Revision: server.V20251125, CaseTimeout: time.Minute}
			err := r.Run(t.Context(), []harness.Case{hostile(quiet("s/a"))}, func(tr *trace.Trace) { got = tr })
			return got, err
		}()
		if tr == nil && err == nil {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, said.Error(), ending(t, tr).Err)
	}
}

func TestATestThatDoesNotComeAsFarAgainIsOurFault(t *testing.T) {
	if os.Getenv("MCP_CONFORM_CONTAINED") != "" {
		t.Skip("not in this process")
	}
	tr, err := contain(t, right(), harness.Runner{})
	require.NoError(t, err)
	var faults []string
	for _, e := range tr.Events {
		if e.Mark != nil && e.Mark.Name == trace.MarkHarnessError {
			require.Equal(t, []string{"", "s/a"}[len(faults)], e.Case, "it is no word on the session, nor on the case")
			faults = append(faults, e.Mark.Text)
		}
	}
	require.Len(t, faults, 2)
	require.Regexp(t, `^the test binary was started again, to contain the client, with "-test\.run=\^TestATestThatDoesNotComeAsFarAgainIsOurFault\$.*", `+
		`and never came as far as the client: it exited with status 0, and said "PASS"`, faults[0])
}

func TestAProgramIsContainedAsItIs(t *testing.T) {
	contained, ours := harness.Contain(t, harness.Command("true"))
	require.True(t, ours)
	require.Nil(t, contained)
}

// TestUnderEveryFlag runs the tests of a package that a user could have written, with what go test has to offer.
func TestUnderEveryFlag(t *testing.T) {
	gotool, err := exec.LookPath("go")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no go command in the PATH: add the one that built this test")
	}
	require.NoError(t, err)
	profile := filepath.Join(t.TempDir(), "cover.out")
	cmd := exec.CommandContext(t.Context(), gotool, "test", "./testdata/contained", "-json", "-shuffle=on", "-count=2", "-parallel=4", "-short",
		"-cover", "-coverprofile="+profile, "-args", "-setting", "mine")
	cmd.Env = append(os.Environ(), "EXPECT_SHORT=1", "EXPECT_SETTING=mine")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, 8, strings.Count(string(out), `"Action":"pass","Package":"github.com/mcp-conform/mcp-conform/harness/testdata/contained","Test":"TestClients/`), "%s", out)
	covered, err := os.ReadFile(profile)
	require.NoError(t, err)
	require.Contains(t, string(covered), "contained/client.go:")
	require.Regexp(t, `client\.go:\S+ \d+ 1\n`, string(covered), "the profile is of the run, not of a process that it started")
}
