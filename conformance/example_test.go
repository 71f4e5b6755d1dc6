package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// A run is recorded, kept in a file, and judged again from it. The client is the reference; yours would stand in its place.
func ExampleJudge() {
	suite := conformance.Suite{
		Client:    harness.InProcess(reference.Client(reference.Config{})),
		Revisions: []server.Revision{server.V20251125},
		Only:      []string{"parallel/two-cities"},
		Seed:      1,
	}
	_, traces, err := suite.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := traces[0].Write(&file); err != nil {
		log.Fatal(err)
	}

	recorded, err := trace.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	results, err := conformance.Judge(recorded)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results.Results {
		fmt.Printf("%-4s  %s: %s\n", r.Verdict, r.ID(), r.Message)
	}
	// Output:
	// pass  client/connects: the client connected and was served
	// pass  client/sampled: sampling requests were answered
	// pass  client/ends-cleanly: the client ended by itself, with success
	// pass  parallel/all-uses: all 2 tool uses came back, in the model's order
	// pass  parallel/unique-ids: 2 tool uses have 2 ids
	// pass  parallel/streamed-uses: all 2 tool uses came back, in the model's order
	// pass  parallel/results-reach-model: all 2 results reached the model
	// pass  parallel/results-order: every result stands under its own id
	// pass  parallel/uses-restated: the assistant's turn was restated whole
}
