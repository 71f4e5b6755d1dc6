package mcpgo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/mcpgo"
)

// A session with your own server and model. In a test, conformance.Run(t, mcpgo.Client(…)) does all of this.
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

	env := harness.Env{URL: srv.URL, HTTP: http.DefaultClient, Revision: server.V20251125, Model: model.BaseURLs(),
		Declare: json.RawMessage(`{"sampling":{}}`)}
	fmt.Println(mcpgo.Run(context.Background(), env, mcpgo.AskModel(env)))
	// Output:
	// {"role":"assistant","content":{"text":"Paris.","type":"text"},"model":"scripted-model","stopReason":"endTurn"}
	// <nil>
}
