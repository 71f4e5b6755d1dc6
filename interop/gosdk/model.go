package gosdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/host"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

// handler is the type of the SDK's sampling handler.
type handler = func(context.Context, *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error)

// AskModel returns a sampling handler that asks the run's model in the native dialect, unless the user of the run
// declines. It checks nothing, so that findings are the SDK's. If the model fails, the server gets an internal error
// without the model's message.
func AskModel(env harness.Env) handler {
	return Handler(host.Host{Env: env})
}

// Handler is AskModel for a given host, such as a strict one. It announces that the user of the run decides.
func Handler(h host.Host) handler {
	h.Env.Announce(harness.Decisions)
	return func(ctx context.Context, req *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
		raw, err := h.Sample(ctx, req.Params)
		var result mcp.CreateMessageWithToolsResult
		if err == nil {
			if err = json.Unmarshal(raw, &result); err == nil {
				err = exactInputs(&result, raw)
			}
		}
		var refusal *host.Refusal
		switch {
		case errors.As(err, &refusal): // the SDK would send another error's text with the code 0
			return nil, &jsonrpc.Error{Code: int64(refusal.Code), Message: refusal.Message}
		case err != nil:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "invalid answer of the model"}
		}
		return &result, nil
	}
}

// exactInputs restores the inputs of tool uses: the SDK reads numbers as float64, which rounds integers beyond 2^53
// (v1.8.0).
func exactInputs(result *mcp.CreateMessageWithToolsResult, raw []byte) error {
	var written struct{ Content any }
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&written); err != nil {
		return err
	}
	blocks, isArray := written.Content.([]any)
	if !isArray {
		blocks = []any{written.Content}
	}
	for i, block := range result.Content {
		if use, ok := block.(*mcp.ToolUseContent); ok {
			exact, _ := blocks[i].(map[string]any) // the SDK has read an object
			use.Input, _ = exact["input"].(map[string]any)
		}
	}
	return nil
}
