package selftest_test

import (
	"os"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/selftest"
)

// The test runs a sample, or the whole matrix if MCP_CONFORM_MATRIX is "whole", which takes some minutes.
func TestTheReferencePassesAndEachMutantFailsItsChecks(t *testing.T) {
	m, err := selftest.Run(t.Context(), selftest.Options{
		Parallel: runtime.GOMAXPROCS(0), Sample: os.Getenv("MCP_CONFORM_MATRIX") != "whole",
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) },
	})
	require.NoError(t, err)
	for _, wrong := range m.Wrong {
		t.Error(wrong)
	}
}
