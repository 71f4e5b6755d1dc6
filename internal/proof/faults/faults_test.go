package faults_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/proof/faults"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

func init() { debug.SetGCPercent(400) } // the tests allocate much and keep little

func run(t *testing.T, seed uint64, n, only int) *faults.Report {
	t.Helper()
	r, err := faults.Run(t.Context(), faults.Options{Seed: seed, N: n, Only: only, Parallel: runtime.GOMAXPROCS(0)})
	require.NoError(t, err)
	return r
}

func TestEqualSeedsPlayEqualFaults(t *testing.T) {
	sharedtest.NeedsWhole(t)
	const seed, one, some = 3, 2, 10 // the faults of this seed do not depend on the order of concurrent requests
	first, second := run(t, seed, some, 0), run(t, seed, some, 0)
	require.Equal(t, first.Text(), second.Text())
	require.Equal(t, some, first.Count(faults.Named)+first.Count(faults.Missed)+first.Count(faults.Legal)+
		first.Count(faults.NoEffect)+first.Count(faults.NeverFired))
	alone := run(t, seed, some, one)
	require.Len(t, alone.Faults, 1)
	require.Equal(t, first.Faults[one-1].Fault.String(), alone.Faults[0].Fault.String())
	require.Equal(t, first.Faults[one-1].Outcome, alone.Faults[0].Outcome)
	require.NotEqual(t, first.Faults[0].Fault.String(), run(t, 2, 1, 0).Faults[0].Fault.String())
}

func TestTheScoreCountsWhatFiredAndIsNotLegal(t *testing.T) {
	var r faults.Report
	for o, n := range map[faults.Outcome]int{faults.Named: 3, faults.Missed: 1, faults.Legal: 5, faults.NoEffect: 2,
		faults.NeverFired: 4} {
		for range n {
			r.Faults = append(r.Faults, faults.Played{Outcome: o, Fault: &faults.Fault{}})
		}
	}
	require.InDelta(t, 75, r.Score(), 0.01)
	require.InDelta(t, 100, (&faults.Report{}).Score(), 0.01)
}

// The whole matrix plays three seeds. Each must reach the goal.
func TestMostFaultsAreNamed(t *testing.T) {
	sharedtest.NeedsWhole(t)
	const seeds = 3
	for seed := range uint64(seeds) {
		r := run(t, seed+1, 100, 0)
		t.Log(r.Text())
		require.GreaterOrEqual(t, r.Score(), float64(faults.Goal))
	}
}
