package report_test

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

func ExampleText() {
	rs := &report.Results{Tool: "v1.2.3", Client: "node client.js", Seed: 1, Results: []report.Result{
		{Scenario: "basic", Revision: "2025-11-25", Check: "answered", Level: report.Robust, Verdict: report.Pass},
		{Scenario: "basic", Revision: "2025-11-25", Check: "has-model", Level: report.Must, Verdict: report.Fail,
			Message: "expected the model's name in the result, found none",
			Evidence: []report.Evidence{
				{Label: "response 1", Case: "basic/question", Seq: 6, Path: "result.model", Text: "missing"}},
			Fix: "set model to the name of the model that answered"},
	}}
	rs.Count()
	fmt.Print(string(report.Text(rs, report.TextOptions{})))
	fmt.Println("exit with an error:", rs.Failed(false))
	// Output:
	// mcp-conform v1.2.3 · node client.js · 2025-11-25 · seed 1
	// basic 1 ✓ 1 ✗
	//
	// FAIL  basic/has-model   2025-11-25
	//       expected the model's name in the result, found none
	//       fix        set model to the name of the model that answered
	//
	// failed: 1 failed, 1 passed
	// exit with an error: true
}
