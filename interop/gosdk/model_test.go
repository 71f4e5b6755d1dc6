package gosdk_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/gosdk"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

func request(text string) *mcp.CreateMessageWithToolsRequest {
	return &mcp.CreateMessageWithToolsRequest{Params: &mcp.CreateMessageWithToolsParams{MaxTokens: 10,
		Messages: []*mcp.SamplingMessageV2{{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: text}}}}}}
}

func TestAskModelKeepsNumbers(t *testing.T) {
	model := llm.New(t, llm.When(llm.LastUser("count")).Reply(llm.Text("Counting."),
		llm.Call("count", `{"to":9007199254740993}`), llm.Call("stop", `{"at":1.50}`)))
	ask := gosdk.AskModel(harness.Env{HTTP: http.DefaultClient, Model: model.BaseURLs()})
	result, err := ask(t.Context(), request("count"))
	require.NoError(t, err)
	require.Equal(t, &mcp.TextContent{Text: "Counting."}, result.Content[0])
	require.Equal(t, map[string]any{"to": json.Number("9007199254740993")}, result.Content[1].(*mcp.ToolUseContent).Input)
	require.Equal(t, map[string]any{"at": json.Number("1.50")}, result.Content[2].(*mcp.ToolUseContent).Input)
}

// The server must not see the model's message.
func TestAskModelHidesTheModelsError(t *testing.T) {
	model, err := llm.Start(llm.Options{},
		llm.When(llm.LastUser("fail")).Fail(&llm.Error{Status: http.StatusTooManyRequests,
			Message: "sk-planted is over its limit"}))
	require.NoError(t, err)
	ask := gosdk.AskModel(harness.Env{HTTP: http.DefaultClient, Model: model.BaseURLs(), Key: "sk-planted"})
	want := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the model did not answer"}

	_, err = ask(t.Context(), request("fail"))
	require.Equal(t, want, err)
	model.Close()
	_, err = ask(t.Context(), request("fail"))
	require.Equal(t, want, err)
}
