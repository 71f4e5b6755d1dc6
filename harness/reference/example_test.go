package reference_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/reference"
)

// The reference client needs a server, a model, and to be told where they are.
func ExampleClient() {
	model, err := llm.Start(llm.Options{}, llm.When(llm.LastUser("capital")).Reply(llm.Text("Paris.")))
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	srv, err := server.Start(server.Options{}, server.Tool{Name: "quiz", Handler: func(s *server.Session) (any, error) {
		result, err := s.Sample(s.Ask("What is the capital of France?"))
		if err != nil {
			return nil, err
		}
		var answer struct {
			Role    string
			Content server.TextContent
		}
		err = json.Unmarshal(result, &answer)
		fmt.Printf("%s: %s\n", answer.Role, answer.Content.Text)
		return "thank you", err
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	run := reference.Client(reference.Config{Dialect: dialect.OpenAIChat, Plain: true})
	env := harness.Env{URL: srv.URL, HTTP: http.DefaultClient, Revision: server.V20260728, Model: model.Bases(), Key: "sk-example"}
	if err := run(context.Background(), env); err != nil {
		log.Fatal(err)
	}
	// Output:
	// assistant: Paris.
}
