package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// yourClient is the function that you write: it connects your client to the server and calls every tool. This client
// has a bug: it answers in the role of the user.
func yourClient(ctx context.Context, env harness.Env) error {
	c, err := client.Connect(ctx, client.Options{
		URL: env.URL, HTTP: env.HTTP, Revision: env.Revision,
		Sampling: func(context.Context, map[string]any) (map[string]any, error) {
			answer := client.Text("Paris.")
			answer["role"] = "user"
			return answer, nil
		},
	})
	if err != nil {
		return err
	}
	tools, err := c.ListTools(ctx)
	for _, tool := range tools {
		_, callErr := c.CallTool(ctx, tool.Name, nil)
		err = errors.Join(err, callErr)
	}
	return errors.Join(err, c.Close())
}

// A run is recorded in a file and judged again from it.
func ExampleJudge() {
	suite := conformance.Suite{
		Client:    harness.InProcess(yourClient),
		Revisions: []server.Revision{server.V20251125},
		Only:      []string{"basic/question"},
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
		if r.Verdict == report.Fail {
			fmt.Println(r.Verdict, r.ID())
		}
	}
	// Output:
	// fail always/role-assistant
}
