package expect_test

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/interop/expect"
)

// A table of what is wrong with an SDK. Pass it to expect.Verdicts with the client.
func Example() {
	table := expect.In(server.V20251125, expect.Warns("SDK: it rounds numbers", "always/server-was-given"))
	for _, row := range table {
		fmt.Println(row.Revision, row.Checks, row.Verdict, "-", row.Why)
	}
	// Output: 2025-11-25 always/server-was-given warn - SDK: it rounds numbers
}
