package compare_test

import (
	"os"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/report/compare"
)

// A new version of a client fails a check.
func ExampleRuns() {
	version := func(v report.Verdict, message string) compare.Run {
		r := report.Result{
			Scenario: "parallel",
			Check:    "results-reach-model",
			Revision: "2025-11-25",
			Verdict:  v,
			Message:  message,
		}
		return compare.Run{Results: &report.Results{Results: []report.Result{r}}}
	}
	before := version(report.Pass, "the model received all results")
	after := version(report.Fail, "expected 2 tool results in the model request, found 1")
	before.Name, after.Name = "v1", "v2"
	os.Stdout.Write(compare.Text(compare.Runs(before, after), false))
	// Output:
	// before  v1
	// after   v2
	//
	// WORSE      parallel/results-reach-model   2025-11-25   pass → fail
	//            expected 2 tool results in the model request, found 1
	//
	// 1 worse, 0 alike
}
