package conformance_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/baseline"
)

var yourClientUnderTest = harness.InProcess(yourClient)

// The code of docs/ci.md.
func ExampleKnown() {
	_ = func(t *testing.T) {
		conformance.Run(t, yourClientUnderTest, conformance.Known(baseline.Entry{
			Check:    "parallel/results-reach-model",
			Messages: []string{"expected N tool results in the model request, found N"},
			Reason:   "the converter stops after the first tool_result",
			Until:    "2027-01-31",
		}))
	}
}
