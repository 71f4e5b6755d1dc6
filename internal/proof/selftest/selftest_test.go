package selftest_test

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/proof/selftest"
)

var update = flag.Bool("update", false, "rewrite testdata/conditions.txt and docs/checks")

func init() { debug.SetGCPercent(400) } // the tests allocate much and keep little

// options runs a sample, or everything if MCP_CONFORM_MATRIX is "whole", which takes some minutes.
func options(t *testing.T) selftest.Options {
	return selftest.Options{
		Parallel: runtime.GOMAXPROCS(0), Sample: os.Getenv("MCP_CONFORM_MATRIX") != "whole",
	}
}

func TestTheReferencePassesAndEachMutantFailsItsChecks(t *testing.T) {
	m, err := selftest.Run(t.Context(), options(t))
	require.NoError(t, err)
	for _, wrong := range m.Wrong {
		t.Error(wrong)
	}
	if os.Getenv("MCP_CONFORM_MATRIX") != "whole" { // The pages have the failures of the sample.
		checkPages(t, m)
	}
}

// The list in testdata/conditions.txt says which pairs are not named, and why. With -update, and the whole matrix, the
// test counts them anew.
func TestEachMutantFailsItsChecksUnderEachConditionOrNeverFires(t *testing.T) {
	o := options(t)
	c, err := selftest.RunConditions(t.Context(), o)
	require.NoError(t, err)
	if *update && !o.Sample {
		require.NoError(t, os.WriteFile("testdata/conditions.txt", c.UpdatedConditions(), 0o644))
	}
	for _, wrong := range c.Wrong {
		t.Error(wrong)
	}
}
