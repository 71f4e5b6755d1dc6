package baseline_test

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/harness/baseline"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

func ExampleApply() {
	rs := &report.Results{Results: []report.Result{{Scenario: "parallel", Check: "reach", Revision: "2025-11-25",
		Level: report.Must, Verdict: report.Fail, Message: "expected 2 results, found 1"}}}
	known := baseline.Entry{Check: "parallel/reach", Messages: []string{"expected N results, found N"},
		Reason: "fixed in the next release", Until: "2027-01-31"}
	fmt.Println(baseline.Apply(rs, []baseline.Entry{known}, "2026-11-22").Failed(false))
	fmt.Println(baseline.Apply(rs, []baseline.Entry{known}, "2027-02-01").Baseline.Problems[0].Kind)
	// Output:
	// false
	// expired
}
