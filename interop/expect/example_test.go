package expect_test

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/interop/expect"
)

// A table of what is wrong with an SDK. Pass it to expect.Verdicts with the client.
func Example() {
	table := expect.In(server.V20251125, expect.Fails("SDK: it decodes numbers as float64", "tool-use/input-intact"))
	for _, row := range table {
		fmt.Println(row.Revision, row.Checks, row.Verdict, "-", row.Why)
	}
	// Output: 2025-11-25 tool-use/input-intact fail - SDK: it decodes numbers as float64
}
