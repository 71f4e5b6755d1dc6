package conformance_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/hooks"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// suiteOf returns a suite that judges a client in virtual time.
func suiteOf(t *testing.T, c harness.Client) conformance.Suite {
	return conformance.Suite{Client: c, Seed: 1, Options: hooks.Options{Tool: "test"},
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
}

func TestTheReproduceCommandNamesACaseOfTheResult(t *testing.T) {
	t.Parallel()
	suite := suiteOf(t, mutant("text-results-only"))
	suite.Revisions, suite.Only = []server.Revision{server.V20251125}, []string{"basic", "parallel"}
	suite.Reproduce = func(r *report.Result) string { return fmt.Sprintf("play %s in %s", r.Case, r.Revision) }
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	for _, r := range rs.Results {
		switch {
		case r.ID() == "always/model-was-given":
			require.Equal(t, report.Fail, r.Verdict)
			require.Equal(t, "play parallel/result-image in 2025-11-25", r.Reproduce, "the first case with the verdict")
		case r.Verdict == report.Pass || r.Verdict == report.NotApplicable:
			require.Empty(t, r.Reproduce, r.ID())
		}
	}

	suite = suiteOf(t, mutant("never-connects"))
	suite.Only = []string{"basic"}
	suite.Reproduce = func(r *report.Result) string { return fmt.Sprintf("%s/%q", r.Revision, r.Case) }
	rs, _, err = suite.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, "client/connects", rs.Results[0].ID())
	require.Equal(t, `2025-11-25/"basic/question"`, rs.Results[0].Reproduce, "one case shows it as well as all")
}

// Each case is judged in a session in which the client is whole, so that no other check fails.
func TestAClientThatOneRequestBreaksIsTold(t *testing.T) {
	t.Parallel()
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		suite := suiteOf(t, mutant("deaf-after-audio"))
		suite.Revisions, suite.Only = []server.Revision{revision}, []string{"basic/question",
			"basic/audio", "basic/image-later", "basic/extras", "tool-use/one-tool"}
		suite.Reproduce = func(r *report.Result) string { return r.Case }
		rs, _, err := suite.Run(t.Context())
		require.NoError(t, err)
		for _, r := range rs.Results {
			if r.ID() != "client/ends-cleanly" {
				require.False(t, r.Failed(false), "%s: %s", r.ID(), r.Message)
				continue
			}
			require.Equal(t, report.Fail, r.Verdict)
			require.Equal(t, "from basic/image-later on, the client served no sampling request of the session, but it served "+
				"3 of 3 such cases in other sessions; basic/audio may have broken it", r.Message)
			require.Equal(t, "basic/audio,basic/image-later,tool-use/one-tool", r.Reproduce)
			require.Equal(t, "basic/image-later", r.Case)
		}

		suite.Only = []string{"basic/audio", "tool-use/retold"} // and the barrier
		rs, _, err = suite.Run(t.Context())
		require.NoError(t, err)
		at := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == "client/ends-cleanly" })
		require.Equal(t, "from tool-use/retold on, the client served no sampling request of the session, but it served 1 of "+
			"1 such case in other sessions; basic/audio may have broken it", rs.Results[at].Message)
		require.Equal(t, "basic/audio,tool-use/retold", rs.Results[at].Reproduce)
	}
}

// No run can select the barrier, the last question of a session.
func TestAFailureOfTheBarrierIsReproducedByTheCaseBefore(t *testing.T) {
	t.Parallel()
	suite := suiteOf(t, mutant("deaf-after-malformed"))
	suite.Revisions, suite.Only = []server.Revision{server.V20251125}, []string{"malformed"}
	suite.Skip = []string{"malformed/long-string"}
	suite.Reproduce = func(r *report.Result) string { return r.Case }
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	at := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == "always/answered" })
	require.Equal(t, report.Fail, rs.Results[at].Verdict)
	require.Equal(t, harness.BarrierID, rs.Results[at].Evidence[0].Case)
	require.Equal(t, "malformed/content-string", rs.Results[at].Reproduce)
}

func TestResponsesThatTheServerRefusesHaveOneReason(t *testing.T) {
	t.Parallel()
	suite := suiteOf(t, mutant("answers-as-text"))
	suite.Revisions, suite.Only = []server.Revision{server.V20251125}, []string{"basic/question", "declare"}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	var alone []string
	for _, r := range rs.Results {
		if r.Failed(false) && r.Prerequisite == "" {
			alone = append(alone, r.ID())
		}
	}
	require.Equal(t, []string{"always/content-type"}, alone)
	require.Contains(t, string(report.Text(rs, report.TextOptions{})), "always/content-type")
}

func TestASuitePlaysItsRevisionsInOrder(t *testing.T) {
	t.Parallel()
	right := harness.InProcess(reference.Client(reference.Config{}), harness.Named("right"))
	for name, c := range map[string]struct {
		change func(*conformance.Suite)
		want   []string // revision of each trace
	}{
		"both eras": {func(*conformance.Suite) {}, []string{"2025-11-25", "2026-07-28"}},
		"one revision": {func(s *conformance.Suite) { s.Revisions = []server.Revision{server.V20250618} },
			[]string{"2025-06-18"}},
		"in the order given": {func(s *conformance.Suite) {
			s.Revisions = []server.Revision{server.V20260728,
				server.V20251125}
		}, []string{"2026-07-28", "2025-11-25"}},
		"a revision once": {func(s *conformance.Suite) {
			s.Revisions = []server.Revision{server.V20260728,
				server.V20260728}
		}, []string{"2026-07-28"}},
		"where there is more": {func(s *conformance.Suite) { s.Only = []string{"basic/ids"} },
			[]string{"2025-11-25"}},
	} {
		t.Run(name, func(t *testing.T) {
			suite := suiteOf(t, right)
			suite.Only = []string{"basic/question"}
			c.change(&suite)
			rs, traces, err := suite.Run(t.Context())
			require.NoError(t, err)
			var got []string
			for _, tr := range traces {
				got = append(got, tr.Header.Revision)
			}
			require.Equal(t, c.want, got)
			require.Equal(t, "right", rs.Client)
			require.Equal(t, "test", rs.Tool)
			require.Equal(t, int64(1), rs.Seed)
			require.False(t, rs.Failed(true))
			require.True(t, slices.IsSortedFunc(rs.Results,
				func(a, b report.Result) int { return strings.Compare(a.Revision, b.Revision) }))
		})
	}
}

func TestASuiteThatCannotRunReturnsAnError(t *testing.T) {
	right := harness.InProcess(reference.Client(reference.Config{}))
	for name, c := range map[string]struct {
		change func(*conformance.Suite)
		want   string
		as     any
	}{
		"an unknown revision": {func(s *conformance.Suite) { s.Revisions = []server.Revision{"2024-11-05"} },
			`unknown revision "2024-11-05": use one of [2025-03-26 2025-06-18 2025-11-25 2026-07-28`, nil},
		"an unknown scenario": {func(s *conformance.Suite) { s.Only = []string{"bsaic"} },
			`"bsaic" matches no scenario, case or check; did you mean basic?`, new(*conformance.SelectionError)},
		"nothing in the revision": {func(s *conformance.Suite) {
			s.Only, s.Revisions = []string{"tool-use"}, []server.Revision{server.V20250618}
		}, "the selection has no case in the revisions that are run", new(*conformance.SelectionError)},
		"a missing program": {func(s *conformance.Suite) { s.Client = harness.Command("no-such-client") },
			`the client "no-such-client" cannot be started: exec: "no-such-client": executable file not found in $PATH`,
			new(*harness.CommandError)},
		"a bubble that fails": {func(s *conformance.Suite) {
			s.Bubble, s.Revisions, s.Only = func(func()) {}, []server.Revision{server.V20251125}, []string{"parallel"}
		},
			"the session's bubble failed", nil},
	} {
		t.Run(name, func(t *testing.T) {
			suite := suiteOf(t, right)
			c.change(&suite)
			rs, _, err := suite.Run(t.Context())
			require.ErrorContains(t, err, c.want)
			require.Nil(t, rs)
			if c.as != nil {
				require.ErrorAs(t, err, c.as)
			}
		})
	}
}

func TestAnInterruptedSuiteReturnsItsResults(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := harness.InProcess(func(_ context.Context, env harness.Env) error {
		wire := env
		wire.Tools = []string{"basic-question"}
		err := reference.Client(reference.Config{})(context.WithoutCancel(ctx), wire)
		cancel()
		<-ctx.Done()
		return err
	}, harness.Loopback())
	client.Grace = harness.DefaultTimeout
	suite := conformance.Suite{Client: client, Only: []string{"basic/question"}}
	rs, traces, err := suite.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, rs.Interrupted)
	require.Len(t, traces, 1, "the second revision did not start")
	verdicts := map[string]report.Verdict{}
	for _, r := range rs.Results {
		verdicts[r.ID()] = r.Verdict
		require.NotEqual(t, report.Fail, r.Verdict, "%s: an interrupt is not a failure: %s", r.ID(), r.Message)
	}
	require.Equal(t, report.Pass, verdicts["client/sampled"])
	require.Equal(t, report.Info, verdicts["basic/system-prompt"])
}

func TestARunInterruptedAtOnceHasNoResults(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	suite := suiteOf(t, harness.InProcess(reference.Client(reference.Config{})))
	rs, traces, err := suite.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, rs)
	require.Empty(t, traces)
}

func TestParallelLimitsTheConcurrentSessions(t *testing.T) {
	t.Parallel()
	for _, allowed := range []int{0, 1, 2, 3} {
		meet := make(chan bool)
		var met atomic.Bool
		client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
			// The sessions of the two revisions wait for each other.
			select {
			case meet <- true:
			case <-meet:
				met.Store(true)
			case <-ctx.Done():
			}
			return nil
		}, harness.Loopback())
		timeout := harness.DefaultTimeout
		if allowed < 2 { // They never meet.
			timeout = 100 * time.Millisecond
		}
		suite := conformance.Suite{Client: client, Only: []string{"basic"}, Skip: []string{"basic/long", "basic/later-page"},
			Parallel: allowed, Timeout: timeout}
		_, traces, err := suite.Run(t.Context())
		require.NoError(t, err)
		require.Len(t, traces, 2)
		require.Equal(t, allowed > 1, met.Load(), "%d at once", allowed)
	}
}

func TestEveryTraceOfARunCanBeJudgedAlone(t *testing.T) {
	t.Parallel()
	suite := suiteOf(t, harness.InProcess(reference.Client(reference.Config{})))
	suite.Skip = sample(append(expensive, "balance", "basic", "consent", "loop", "malformed", "mrtr",
		"provider-errors", "tool-use")...)
	rs, traces, err := suite.Run(t.Context())
	require.NoError(t, err)
	var parts []report.Result
	for _, revision := range server.DefaultRevisions() {
		var ofIt []*trace.Trace
		declaring := 0
		for _, tr := range traces {
			if tr.Header.Revision == string(revision) {
				ofIt = append(ofIt, tr)
				if tr.Header.ModelDelay == 0 {
					declaring++
				}
			}
		}
		require.Greater(t, declaring, 9, "sessions for each declaration, for hostile cases, and for cases that run alone")
		one, err := conformance.Judge(ofIt...)
		require.NoError(t, err)
		parts = append(parts, one.Results...)
	}
	require.Equal(t, rs.Results, parts)
	for _, tr := range traces {
		one, err := conformance.Judge(tr)
		require.NoError(t, err)
		played := tr.Events[0].Process != nil // the cases for hosts are not
		require.Equal(t, !played, one.Failed(true), "a part of a passing run passes")
	}
}

func TestACaseOfManyStoriesGoesOnAfterARefusal(t *testing.T) {
	t.Parallel()
	samples := func(client harness.Client, r server.Revision) (n int, rs *report.Results) {
		suite := suiteOf(t, client)
		suite.Revisions, suite.Only = []server.Revision{r}, []string{"basic/after-image"}
		rs, traces, err := suite.Run(t.Context())
		require.NoError(t, err)
		for _, e := range traces[0].Events {
			if e.Frame != nil && e.Frame.Dir == trace.ToClient {
				n += strings.Count(string(e.Frame.Raw), "sampling/createMessage")
			}
		}
		return n, rs
	}
	all, _ := samples(harness.InProcess(reference.Client(reference.Config{Plain: true})), server.V20251125)
	found, rs := samples(mutant("refuses-parameters"), server.V20251125)
	require.Equal(t, all-1, found, "the second request of one story is not sent")
	i := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == "always/answered" })
	require.Equal(t, report.Fail, rs.Results[i].Verdict)
	found, _ = samples(mutant("refuses-parameters"), server.V20260728)
	require.Less(t, found, all-1, "a refusal ends the call")
}
