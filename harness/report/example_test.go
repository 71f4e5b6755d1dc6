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
	// mcp-conform v1.2.3 · client: node client.js · seed 1
	//
	// basic        level        2025-11-25
	//   answered   ROBUST       pass
	//   has-model  MUST         FAIL
	//
	// FAIL  basic/has-model · MUST · 2025-11-25
	//       expected the model's name in the result, found none
	//
	//       response 1        result.model  [basic/question #6]
	//                         missing
	//       fix               set model to the name of the model that answered
	//
	// failed: 1 fail, 1 pass
	// exit with an error: true
}
