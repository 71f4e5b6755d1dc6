package selftest_test

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/play"
	"github.com/mcp-conform/mcp-conform/internal/proof/selftest"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

var update = flag.Bool("update", false, "rewrite testdata/conditions.txt and docs/checks")

func init() { debug.SetGCPercent(400) } // the tests allocate much and keep little

// A sample plays one mutant of seven. Its name decides, so that a new mutant changes nothing for others.
func TestTheReferencePassesAndEachMutantFailsItsChecks(t *testing.T) {
	o := selftest.Options{Parallel: runtime.GOMAXPROCS(0), Sample: !sharedtest.Whole()}
	for _, m := range mutants.All() {
		if !sharedtest.Whole() && play.Number(m.Name)%7 == 0 {
			o.Mutants = append(o.Mutants, m.Name)
		}
	}
	m, err := selftest.Run(t.Context(), o)
	require.NoError(t, err)
	for _, wrong := range m.Wrong {
		t.Error(wrong)
	}
}

// The list in testdata/conditions.txt says which pairs are not named, and why. With -update the test counts them anew.
func TestEachMutantFailsItsChecksUnderEachConditionOrNeverFires(t *testing.T) {
	sharedtest.NeedsWhole(t)
	c, err := selftest.RunConditions(t.Context(), selftest.Options{Parallel: runtime.GOMAXPROCS(0)})
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("testdata/conditions.txt", c.UpdatedConditions(), 0o644))
	}
	for _, wrong := range c.Wrong {
		t.Error(wrong)
	}
}
