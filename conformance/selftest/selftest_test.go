package selftest_test

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/selftest"
)

func TestEveryCheckCanFailAndTheReferencePasses(t *testing.T) {
	m, err := selftest.Run(t.Context(), selftest.Options{Parallel: runtime.GOMAXPROCS(0), Bubble: func(f func()) {
		synctest.Test(t, func(*testing.T) { f() })
	}})
	require.NoError(t, err)
	for _, wrong := range m.Wrong {
		t.Error(wrong)
	}
	for _, row := range m.Rows {
		t.Log(row.Mutant, row.Setting, row.Revision, row.Killed, row.Unseen)
	}
}
