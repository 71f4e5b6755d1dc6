package sharedtest

import (
	"os"
	"testing"
)

// wholeVariable is "whole" where tests play everything, which takes many minutes, in place of a sample.
const wholeVariable = "MCP_CONFORM_MATRIX"

// Whole reports whether tests play everything, not a sample. Call it in a test: Go's test cache sees only what tests
// read.
func Whole() bool { return os.Getenv(wholeVariable) == "whole" }

// NeedsWhole skips a test that takes long, unless tests play everything.
func NeedsWhole(t testing.TB) {
	t.Helper()
	if !Whole() {
		t.Skipf("needs %s=whole", wholeVariable)
	}
}
