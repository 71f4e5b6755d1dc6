package harness_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// A client in process is a function. This one calls a correct client. Yours connects to env.URL through env.HTTP, calls
// every listed tool, and answers sampling by asking the model at env.Model.
func ExampleInProcess() {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		return correct(ctx, env)
	}, harness.Named("my client"))

	greeting := harness.Case{
		ID: "example/greeting",
		Handler: func(s *server.Session) (any, error) {
			return s.Sample(s.Ask("Say hello."))
		},
		Script: func(string) []*llm.Rule {
			return []*llm.Rule{llm.When(llm.LastUser("hello")).Reply(llm.Text("Hello!"))}
		},
	}
	runner := harness.Runner{Client: client, Revision: server.V20251125}
	err := runner.Run(context.Background(), []harness.Case{greeting}, func(t *trace.Trace) {
		fmt.Println("client:", t.Header.Client)
		for _, e := range t.Events {
			if e.Request != nil {
				fmt.Println("model request in the dialect", e.Request.Dialect)
			}
		}
		last := t.Events[len(t.Events)-1]
		fmt.Println("clean end:", last.Process.Clean())
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// client: my client
	// model request in the dialect openai-chat
	// clean end: true
}

// A client in a process of its own is a command, in any language. It receives the server's URL as its last argument, or
// in place of {url}.
func ExampleCommand() {
	client := harness.Command("sh", "-c", `echo "cannot connect" >&2; exit 7`)
	idle := harness.Case{ID: "example/idle", Handler: func(*server.Session) (any, error) { return "done", nil }}
	runner := harness.Runner{Client: client, Revision: server.V20251125}
	err := runner.Run(context.Background(), []harness.Case{idle}, func(t *trace.Trace) {
		last := t.Events[len(t.Events)-1]
		fmt.Printf("exit status %d, stderr %q\n", last.Process.ExitCode, last.Process.Stderr)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// exit status 7, stderr "cannot connect\n"
}
