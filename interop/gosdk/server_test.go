package gosdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

// forecast returns the next sample of the SDK server's tool, given the answers so far, or nil and the result.
func forecast(answers []*mcp.CreateMessageWithToolsResult) (*mcp.CreateMessageWithToolsParams, string) {
	ask := &mcp.CreateMessageWithToolsParams{MaxTokens: 100,
		Messages: []*mcp.SamplingMessageV2{{Role: "user",
			Content: []mcp.Content{&mcp.TextContent{Text: "Weather in Paris and London?"}}}},
		Tools: []*mcp.Tool{{Name: "get_weather", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)}},
	}
	if len(answers) == 0 {
		return ask, ""
	}
	var results []mcp.Content
	for _, block := range answers[0].Content {
		if use, ok := block.(*mcp.ToolUseContent); ok {
			text := fmt.Sprintf("mild in %v", use.Input["city"])
			results = append(results, &mcp.ToolResultContent{ToolUseID: use.ID,
				Content: []mcp.Content{&mcp.TextContent{Text: text}}})
		}
	}
	ask.Messages = append(ask.Messages, &mcp.SamplingMessageV2{Role: "assistant", Content: answers[0].Content},
		&mcp.SamplingMessageV2{Role: "user", Content: results})
	if len(answers) == 1 {
		return ask, ""
	}
	return nil, answers[1].Content[0].(*mcp.TextContent).Text
}

// askDirectly samples with requests of the server (2025-11-25 and older).
func askDirectly(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var answers []*mcp.CreateMessageWithToolsResult
	for {
		ask, said := forecast(answers)
		if ask == nil {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil
		}
		answer, err := req.Session.CreateMessageWithTools(ctx, ask)
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
}

// askByResult samples with results that require input (2026-07-28). The state holds the answers so far.
func askByResult(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var answers []*mcp.CreateMessageWithToolsResult
	if state := req.Params.RequestState; state != "" {
		if err := json.Unmarshal([]byte(state), &answers); err != nil {
			return nil, err
		}
		answer, ok := req.Params.InputResponses["forecast"].(*mcp.CreateMessageWithToolsResult)
		if !ok {
			return nil, fmt.Errorf("no answer forecast in the retry: %v", req.Params.InputResponses)
		}
		answers = append(answers, answer)
	}
	ask, said := forecast(answers)
	if ask == nil {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil
	}
	state, err := json.Marshal(slices.Concat([]*mcp.CreateMessageWithToolsResult{}, answers)) // not null
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"forecast": ask}, RequestState: string(state)}, err
}

// Our reference client works with the SDK's server as with our own.
func TestReferenceAgainstServerOfTheSDK(t *testing.T) {
	for _, c := range []struct {
		name     string
		revision server.Revision
		sample   mcp.ToolHandler
		options  *mcp.StreamableHTTPOptions // nil for stdio
	}{
		{"first era", server.V20251125, askDirectly, &mcp.StreamableHTTPOptions{}},
		{"first era, over stdio", server.V20251125, askDirectly, nil},
		// The SDK serves 2026-07-28 only without sessions.
		{"second era", server.V20260728, askByResult, &mcp.StreamableHTTPOptions{Stateless: true}},
		{"second era, plain JSON", server.V20260728, askByResult, &mcp.StreamableHTTPOptions{Stateless: true,
			JSONResponse: true}},
		{"second era, over stdio", server.V20260728, askByResult, nil},
	} {
		for _, d := range []string{dialect.OpenAIChat, dialect.Native} {
			t.Run(c.name+", "+d, func(t *testing.T) {
				model := llm.New(t,
					llm.When(llm.Turn(1), llm.Offers("get_weather")).Reply(llm.Call("get_weather", `{"city":"Paris"}`),
						llm.Call("get_weather", `{"city":"London"}`)),
					llm.When(llm.Turn(2), llm.ToolResults(2), llm.LastUser("mild in London")).Reply(llm.Text("Mild everywhere.")),
				)
				var last *mcp.CallToolResult
				sdk := mcp.NewServer(&mcp.Implementation{Name: "go-sdk server"}, nil)
				sdk.AddTool(&mcp.Tool{Name: "forecast", InputSchema: json.RawMessage(`{"type":"object"}`)},
					func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
						result, err := c.sample(ctx, req)
						last = result
						return result, err
					})
				env := harness.Env{HTTP: http.DefaultClient, Revision: c.revision, Model: model.BaseURLs(), Key: "sk-none"}
				if c.options == nil {
					env.Launch = func(context.Context, io.Writer) (io.ReadWriteCloser, error) { return piped(t, sdk), nil }
				} else {
					srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk }, c.options))
					defer srv.Close()
					env.URL = srv.URL
				}
				require.NoError(t, reference.Client(reference.Config{Dialect: d})(t.Context(), env))
				require.NotNil(t, last, "no call came to its end")
				require.Nil(t, last.InputRequests)
				require.Equal(t, "Mild everywhere.", last.Content[0].(*mcp.TextContent).Text)
			})
		}
	}
}

// piped returns the client's end of a pipe to the SDK's server.
func piped(t *testing.T, sdk *mcp.Server) io.ReadWriteCloser {
	clients, servers := net.Pipe()
	session, err := sdk.Connect(t.Context(), &mcp.IOTransport{Reader: servers, Writer: servers}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Wait() }) // ends with the pipe
	return clients
}
