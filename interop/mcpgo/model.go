package mcpgo

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/host"
)

// AskModel returns a sampling handler that hands each request on to the run's model in the native dialect, and the model's answer back
// to the server, unless the person of the run declines. It checks nothing, so that what is found is the SDK's doing. When the model
// fails, the server is told so, and nothing of what the model said.
func AskModel(env harness.Env) client.SamplingHandler { return Handler(host.Host{Env: env}) }

// Handler is AskModel for a host of the caller's, such as a strict one. It announces that the person of the run decides.
func Handler(h host.Host) client.SamplingHandler {
	h.Env.Announce(harness.Decisions)
	return asking{h}
}

type asking struct{ host host.Host }

func (a asking) CreateMessage(ctx context.Context, req mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	raw, err := a.host.Sample(ctx, req.CreateMessageParams)
	if err != nil {
		return nil, err
	}
	var result mcp.CreateMessageResult
	return &result, json.Unmarshal(raw, &result)
}
