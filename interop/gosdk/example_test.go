package gosdk_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/gosdk"
)

// A session with your own server and model. In a test, conformance.Run(t, gosdk.Client(…)) does all of this.
func Example() {
	model, err := llm.Start(llm.Options{}, llm.When(llm.LastUser("capital of France")).Reply(llm.Text("Paris.")))
	if err != nil {
		panic(err)
	}
	defer model.Close()
	srv, err := server.Start(server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
		answer, err := s.Sample(s.Ask("What is the capital of France?"))
		fmt.Printf("%s\n", answer)
		return nil, err
	}})
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	env := harness.Env{URL: srv.URL, HTTP: http.DefaultClient, Revision: server.V20260728, Model: model.BaseURLs()}
	err = gosdk.Run(context.Background(), env, &mcp.ClientOptions{
		//lint:ignore SA1019 sampling is deprecated since 2026-07-28, but supported.
		CreateMessageWithToolsHandler: gosdk.AskModel(env),
	})
	fmt.Println(err)
	// Output:
	// {"content":{"type":"text","text":"Paris."},"model":"scripted-model","role":"assistant","stopReason":"endTurn"}
	// <nil>
}
