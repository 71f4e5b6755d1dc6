package variations_test

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/legitimate"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/play"
	"github.com/mcp-conform/mcp-conform/internal/proof/variations"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

func init() { debug.SetGCPercent(400) } // the tests allocate much and keep little

// expensive are cases that cost twice as much as all others together.
var expensive = []string{"basic/long", "loop/sixty-four-rounds", "mrtr/for-ever", "consent/fifty"}

// sampled reports whether a variation is in a sample: one of sixteen is. Its name decides, so a new variation does not
// change the sample of the others.
func sampled(v *variations.Variation) bool { return play.Number(v.Name)%16 == 0 }

// The test runs a sample of the variations, each on its own cases in one of its revisions, in turns. If the variable
// MCP_CONFORM_MATRIX is "whole", it runs each on its own cases in all of them, and on the whole catalogue in one, but
// for expensive cases and malformed requests. Some are correct only in their own cases.
func TestVariationsPassEveryCheck(t *testing.T) {
	for i, v := range variations.All() {
		if !sharedtest.Whole() && !sampled(&v) {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			t.Logf("%s, which is correct (%s)", v.Doc, legitimate.Find(v.Allowed).Reason)
			one := v
			if v.Warns == nil { // a warning may be of one revision
				one.In = oneOf(&v, i)
			}
			own := &one
			if sharedtest.Whole() {
				own = &v
			}
			require.Positive(t, passes(t, own, v.Cases, expensive), "the variation never occurred")
			if sharedtest.Whole() && !v.OnlyCases {
				skip := slices.Concat(expensive, []string{"malformed", "malformed/*", "explore", "explore/*"})
				passes(t, &one, nil, skip) // without what has no known requests to edit
			}
		})
	}
}

// oneOf returns one of the variation's revisions, in turns.
func oneOf(v *variations.Variation, turn int) []server.Revision {
	revisions := v.In
	if revisions == nil {
		revisions = server.DefaultRevisions()
	}
	return revisions[turn%len(revisions):][:1]
}

// conditional are cases in which the conditions occur.
var conditional = []string{"basic/turns", "basic/image", "basic/failing", "tool-use/two-turns", "parallel/two-cities",
	"parallel/failing-tool", "parallel/result-image", "loop/two-loops"}

// A client may be different only with tools, only in later rounds, and so on. Each variation is limited to each
// condition, in one revision. Many do not occur there.
func TestVariationsPassEveryCheckUnderConditions(t *testing.T) {
	sharedtest.NeedsWhole(t)
	for i, v := range variations.All() {
		for j, when := range mutants.Conditions() {
			limited := v
			if limited.When, limited.In = when, oneOf(&v, i+j); !limited.Conditional() {
				continue
			}
			t.Run(v.Name+" "+when.Name, func(t *testing.T) {
				t.Parallel()
				skip := slices.Concat(expensive, []string{"time"})
				if !v.Config.Loop && !v.Config.Host {
					skip = append(skip, without(t, when.Name, limited.In[0])...)
				}
				passes(t, &limited, slices.Concat(v.Cases, conditional), skip)
			})
		}
	}
}

// without returns the cases in which the condition does not hold, but for one. What is limited to the condition occurs
// in none of them.
func without(t *testing.T, condition string, r server.Revision) (ids []string) {
	learn, _ := learned.LoadOrStore(r, sync.OnceValues(func() (map[string]play.Conditions, error) {
		return (&play.Setting{Revision: r}).Learn(context.Background(), nil, expensive)
	}))
	found, err := learn.(func() (map[string]play.Conditions, error))()
	require.NoError(t, err)
	for _, s := range conformance.Scenarios() {
		ids = append(ids, slices.DeleteFunc(slices.Clone(s.Cases), func(id string) bool {
			return found[id][condition] || id == conditional[0]
		})...)
	}
	return ids
}

var learned sync.Map // by revision: a function that returns which conditions hold in which cases

// Generated conversations have what no case has. Each variation plays 30 in all of its revisions, from its own seed.
// A sample has one of thirty-two variations with a few conversations.
func TestVariationsPassGeneratedConversations(t *testing.T) {
	for i, v := range variations.All() {
		n := 30
		if !sharedtest.Whole() {
			n = 6
		}
		if !sharedtest.Whole() && i%32 != 1 || v.Config.Loop { // the server has no tools of generated conversations
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			suite, _ := suiteOf(t, &v, []string{"explore"}, nil)
			suite.Explore, suite.Seed = n, int64(play.Number(v.Name))
			rs, _, err := suite.Run(t.Context())
			require.NoError(t, err)
			for _, r := range rs.Results {
				allowed := r.Warned() && slices.Contains(v.Warns, r.ID()) || r.Verdict == report.Unsupported && v.AnyOrder
				require.False(t, r.Failed(true) && !allowed, "%s in %s, %s: %s", r.ID(), r.Revision, r.Case, r.Message)
			}
		})
	}
}

// suiteOf plays a variation, and counts how many times it occurs.
func suiteOf(t *testing.T, v *variations.Variation, only, skip []string) (*conformance.Suite, *atomic.Int64) {
	fired := new(atomic.Int64)
	client := harness.InProcess(v.Client(v.Config, func(mutants.Change) { fired.Add(1) }))
	client.Agent = v.Config.Host
	return &conformance.Suite{
		Client:    client,
		Revisions: v.In, Only: only, Skip: skip, Seed: 1,
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) },
	}, fired
}

// passes fails the test if a check fails the variation, or warns about it and is not among those that may. It returns
// how many times the variation occurred.
func passes(t *testing.T, v *variations.Variation, only, skip []string) int64 {
	t.Helper()
	suite, fired := suiteOf(t, v, only, skip)
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	expected, found := map[string]report.Verdict{}, map[string]report.Verdict{}
	for _, r := range rs.Results {
		switch may := slices.Contains(v.Warns, r.ID()); {
		case r.Verdict == report.Pass, r.Verdict == report.NotApplicable, r.Verdict == report.Info:
		case r.Verdict == report.Unsupported && v.AnyOrder:
		case r.Verdict == report.Warn && may && v.When.Holds != nil: // may, but need not
		default:
			found[r.ID()] = r.Verdict
			t.Logf("%s %s %s: %s", r.Revision, r.ID(), r.Verdict, r.Message)
		}
	}
	if v.When.Holds == nil {
		for _, id := range v.Warns {
			expected[id] = report.Warn
		}
	}
	require.Equal(t, expected, found)
	return fired.Load()
}

func TestVariationsAreDescribed(t *testing.T) {
	names := map[string]bool{}
	for _, v := range variations.All() {
		require.False(t, names[v.Name], v.Name)
		names[v.Name] = true
		require.NotEmpty(t, v.Doc, v.Name)
		require.NotNil(t, legitimate.Find(v.Allowed), v.Name)
		require.NotEmpty(t, v.Cases, v.Name)
		require.Equal(t, v.Name, variations.Find(v.Name).Name)
	}
	require.Nil(t, variations.Find("no-such-variation"))
}
