package mcpgo

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/host"
)

// AskModel returns a sampling handler that asks the run's model in the native dialect, unless the user of the run
// declines. It checks nothing, so that findings are the SDK's. If the model fails, the server gets an error without
// the model's message.
func AskModel(env harness.Env) client.SamplingHandler { return Handler(host.Host{Env: env}) }

// Handler is AskModel for a given host, such as a strict one. It announces that the user of the run decides.
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
