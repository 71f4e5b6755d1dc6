package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// quiz stands for the server under test: its tool samples and returns the answer.
func quiz() *server.Server {
	srv, err := server.Start(server.Options{}, server.Tool{Name: "quiz", Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("What is the capital of France?")
		ask.SystemPrompt = "Be brief."
		result, err := s.Sample(ask)
		if err != nil {
			return nil, err
		}
		return "The client said: " + client.Result(result).Text(), nil
	}})
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

// A test of a server calls its tools. A function answers the sampling requests.
func ExampleConnect() {
	srv := quiz()
	defer srv.Close()

	c, err := client.Connect(context.Background(), client.Options{
		URL: srv.URL,
		Sampling: func(_ context.Context, params map[string]any) (map[string]any, error) {
			fmt.Println("maxTokens:", params["maxTokens"])
			return client.Text("Paris."), nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	result, err := c.CallTool(context.Background(), "quiz", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Revision().Modern(), result.Text())
	// Output:
	// maxTokens: 1000
	// true The client said: Paris.
}

// A model answers, here a fake one. Consent shows each request to the user first.
func ExampleOptions() {
	fake, err := llm.Start(llm.Options{}, llm.When(llm.LastUser("capital")).Reply(llm.Text("Paris, I believe.")))
	if err != nil {
		log.Fatal(err)
	}
	defer fake.Close()
	srv := quiz()
	defer srv.Close()

	asked := model.New(model.Options{Dialect: dialect.Anthropic, URL: fake.BaseURLs()[dialect.Anthropic],
		Key: "sk-example"})
	c, err := client.Connect(context.Background(), client.Options{
		URL:      srv.URL,
		Revision: server.V20251125,
		Sampling: asked.Sample,
		Consent: func(_ context.Context, params, result map[string]any) error {
			if result == nil {
				fmt.Println("May the model be asked?", params["systemPrompt"])
			}
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	result, err := c.CallTool(context.Background(), "quiz", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output:
	// May the model be asked? Be brief.
	// The client said: Paris, I believe.
}

// The client runs the tool loop: it calls the server's tools for the model, and returns the final answer.
func ExampleLoop() {
	fake, err := llm.Start(llm.Options{}, []*llm.Rule{
		llm.When(llm.LastUser("umbrella")).Reply(llm.Call("weather", `{"city":"Paris"}`)),
		llm.When(llm.ToolResults(1)).Reply(llm.Text("Leave it at home.")),
	}...)
	if err != nil {
		log.Fatal(err)
	}
	defer fake.Close()
	weather := server.Tool{
		Name:        "weather",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		Handler: func(s *server.Session) (any, error) {
			fmt.Println("called with", string(s.Call().Arguments))
			return "18°C and sunny", nil
		},
	}
	srv, err := server.Start(server.Options{}, weather, server.Tool{Name: "advice",
		Handler: func(s *server.Session) (any, error) {
			result, err := s.Sample(s.Ask("Do I need an umbrella?", weather))
			return client.Result(result).Text(), err
		}})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	asked := model.New(model.Options{URL: fake.BaseURLs()[dialect.OpenAIChat], Key: "sk-example"})
	c, err := client.Connect(context.Background(), client.Options{
		URL:      srv.URL,
		Sampling: asked.Sample,
		Loop: &client.Loop{
			MaxIterations: 5,
			Timeout:       time.Minute,
			Allowed:       []string{"weather*"},
			Observe: func(e client.LoopEvent) {
				fmt.Println(e.Iteration, e.Tools, e.Ended)
			},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	result, err := c.CallTool(context.Background(), "advice", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output:
	// called with {"city":"Paris"}
	// 1 [weather] false
	// 2 [] false
	// 2 [] true
	// Leave it at home.
}
