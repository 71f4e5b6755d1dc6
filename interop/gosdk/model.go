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

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, and what this package is about for as long as the protocol has it.

// AskModel returns a sampling handler that hands each request on to the run's model in the native dialect, and the model's answer back
// to the server, unless the person of the run declines. It checks nothing, so that what is found is the SDK's doing. When the model
// fails, the server is told so by an internal error, and nothing of what the model said.
func AskModel(env harness.Env) func(context.Context, *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
	return Handler(host.Host{Env: env})
}

// Handler is AskModel for a host of the caller's, such as a strict one. It announces that the person of the run decides.
func Handler(h host.Host) func(context.Context, *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
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
		case errors.As(err, &refusal): // a plain error would reach the server whole, with the code 0
			return nil, &jsonrpc.Error{Code: int64(refusal.Code), Message: refusal.Message}
		case err != nil:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the model's answer cannot be read"}
		}
		return &result, nil
	}
}

// exactInputs gives the tool uses their inputs as the model wrote them: the SDK reads every number as a float64, which rounds integers
// beyond 2^53 (v1.8.0).
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
			exact, _ := blocks[i].(map[string]any) // an object, or the SDK would not have read it
			use.Input, _ = exact["input"].(map[string]any)
		}
	}
	return nil
}
