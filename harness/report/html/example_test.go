package html_test

import (
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/report/html"
)

func ExampleEncode() {
	rs := &report.Results{Client: "node client.js", Results: []report.Result{{Scenario: "basic", Check: "answered",
		Revision: "2025-11-25", Level: report.Must, Verdict: report.Pass, Message: "the client answered"}}}
	page := string(html.Encode([]html.Run{{Results: rs}}, false))
	fmt.Println(strings.Contains(page, "<title>node client.js · mcp-conform</title>"))
	// Output: true
}
