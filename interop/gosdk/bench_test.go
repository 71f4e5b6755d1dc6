package gosdk_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/interop/gosdk"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

// BenchmarkSession is one session with one tool call and one sample, which the client answers itself. In "ours" the
// server and the harness are ours, everything is recorded, and a fake model runs; "gosdk" is the SDK's client and
// server on loopback. Ours should take at most twice as long.
func BenchmarkSession(b *testing.B) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		b.Run("ours/"+string(revision), func(b *testing.B) { benchmarkOurs(b, revision) })
	}
	b.Run("gosdk/2025-11-25", func(b *testing.B) {
		benchmarkSDK(b, server.V20251125, mcp.StreamableHTTPOptions{}, sampleDirectly)
	})
	b.Run("gosdk/2026-07-28", func(b *testing.B) {
		benchmarkSDK(b, server.V20260728, mcp.StreamableHTTPOptions{Stateless: true}, sampleByResult)
	})
}

func benchmarkOurs(b *testing.B, revision server.Revision) {
	b.ReportAllocs()
	answered, sessions := 0, 0
	runner := harness.Runner{Client: gosdk.Client(echoing), Revision: revision}
	cases := []harness.Case{{
		ID: "bench/one-sample",
		Handler: func(s *server.Session) (any, error) {
			answer, err := s.Sample(s.Ask("Say something."))
			if err == nil {
				answered++
			}
			return answer, err
		},
		Script: func(string) []*llm.Rule { return nil },
	}}
	for b.Loop() {
		sessions++
		require.NoError(b, runner.Run(b.Context(), cases, func(t *trace.Trace) { require.True(b, t.Whole) }))
	}
	require.Equal(b, sessions, answered)
}

func benchmarkSDK(b *testing.B, revision server.Revision, options mcp.StreamableHTTPOptions, sample mcp.ToolHandler) {
	b.ReportAllocs()
	answered, sessions := 0, 0
	for b.Loop() {
		sessions++
		sdk := mcp.NewServer(&mcp.Implementation{Name: "go-sdk server", Version: "1"}, nil)
		sdk.AddTool(&mcp.Tool{Name: "bench", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context,
			req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result, err := sample(ctx, req)
			if err == nil && result.InputRequests == nil {
				answered++
			}
			return result, err
		})
		srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk }, &options))
		require.NoError(b, gosdk.Run(b.Context(), harness.Env{URL: srv.URL, HTTP: srv.Client(), Revision: revision},
			echoing(harness.Env{})))
		srv.Close()
	}
	require.Equal(b, sessions, answered)
}

var saySomething = &mcp.CreateMessageWithToolsParams{MaxTokens: 1000, SystemPrompt: "You are a helpful assistant.",
	Messages: []*mcp.SamplingMessageV2{{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: "Say something."}}}}}

func sampleDirectly(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answer, err := req.Session.CreateMessageWithTools(ctx, saySomething)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: answer.Content}, nil
}

func sampleByResult(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answer, ok := req.Params.InputResponses["sample"].(*mcp.CreateMessageWithToolsResult)
	if !ok {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"sample": saySomething}, RequestState: "asked"}, nil
	}
	return &mcp.CallToolResult{Content: answer.Content}, nil
}
