package sharedtest_test

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// A codec's test reads each recorded request. It is skipped where the recordings are missing.
func ExampleNeeded() {
	test := func(t *testing.T) {
		for _, x := range sharedtest.Needed(t, "anthropic") {
			t.Logf("%s: status %d", x.Name, x.Status)
		}
	}
	fmt.Printf("%T", test)
	// Output: func(*testing.T)
}
