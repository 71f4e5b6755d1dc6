package sharedtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// recorder is a test that only notes its end. As in testing, its goroutine does not go on after a skip or a failure;
// here that is a panic.
type recorder struct {
	testing.TB
	skipped, failed bool
}

func (*recorder) Helper()                     {}
func (r *recorder) Skipf(_ string, _ ...any)  { r.skipped = true; panic(r) }
func (r *recorder) Fatalf(_ string, _ ...any) { r.failed = true; panic(r) }

func TestPathSkipsOnlyWithoutTheVariable(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "spec"), 0o700))
	for _, test := range []struct {
		name, variable, elem string
		skipped, failed      bool
	}{
		{name: "the variable is not set", elem: "spec", skipped: true},
		{name: "the folder exists", variable: dir, elem: "spec"},
		{name: "the folder is missing", variable: dir, elem: "traffic", failed: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv(sharedtest.Variable, test.variable)
			r := &recorder{}
			func() {
				defer func() { _ = recover() }()
				require.Equal(t, filepath.Join(dir, test.elem), sharedtest.Path(r, test.elem))
			}()
			require.Equal(t, test.skipped, r.skipped)
			require.Equal(t, test.failed, r.failed)
		})
	}
}

func ExamplePath() {
	test := func(t *testing.T) {
		schema, err := os.ReadFile(sharedtest.Path(t, "spec", "2025-11-25.schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("the schema has %d bytes", len(schema))
	}
	fmt.Printf("%T reads %s\n", test, sharedtest.Variable)
	// Output: func(*testing.T) reads MCP_CONFORM_SHARED
}

func TestATestThatNeedsTheWholeIsSkippedWithoutIt(t *testing.T) {
	for value, runs := range map[string]bool{"whole": true, "": false, "some": false} {
		t.Setenv("MCP_CONFORM_MATRIX", value)
		require.Equal(t, runs, sharedtest.Whole())
		r := &recorder{}
		func() {
			defer func() { _ = recover() }()
			sharedtest.NeedsWhole(r)
		}()
		require.Equal(t, !runs, r.skipped, value)
	}
}
