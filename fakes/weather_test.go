package fakes_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// The code of docs/fakes.md.
func TestBothResultsReachTheModel(t *testing.T) {
	fake := llm.New(t,
		llm.When(llm.Turn(1)).Reply(llm.CallID("a", "get_weather", `{"city":"Paris"}`),
			llm.CallID("b", "get_weather", `{"city":"London"}`)),
		llm.When(llm.ToolResults(2)).Reply(llm.Text("Paris 18°C, London 15°C")),
	)
	srv := server.New(t, server.Tool{Name: "weather", Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("How is the weather?", server.Tool{Name: "get_weather", InputSchema: json.RawMessage(
			`{"type":"object","properties":{"city":{"type":"string"}}}`)})
		first, err := s.Sample(ask)
		if err != nil {
			return nil, err
		}
		return s.Sample(ask.After(first, func(uses []server.ToolUseContent) []server.ToolResultContent {
			return []server.ToolResultContent{uses[0].Result(server.Text("18°C")), uses[1].Result(server.Text("15°C"))}
		}))
	}})

	callWeather(t, srv.URL, fake.OpenAI()) // your client

	llm.AssertConversation(t, &fake.Requests()[1],
		"user: How is the weather?",
		`assistant uses get_weather {"city":"Paris"}`, `assistant uses get_weather {"city":"London"}`,
		"result of get_weather: 18°C", "result of get_weather: 15°C")
}

// callWeather calls the tool with a correct client, whose model is at an address.
func callWeather(t *testing.T, server, address string) {
	asked := model.New(model.Options{Dialect: dialect.OpenAIChat, URL: address, Key: "sk-example"})
	c, err := client.Connect(context.Background(), client.Options{URL: server, Sampling: asked.Sample})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.CallTool(context.Background(), "weather", nil)
	require.NoError(t, err)
}
