package gosdk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, and what this package is about for as long as the protocol has it.

// AskModel returns a sampling handler that hands each request on to the run's model in the native dialect, and the model's answer back
// to the server. It checks nothing, so that what is found is the SDK's doing. When the model fails, the server is told so by an
// internal error, and nothing of what the model said.
func AskModel(env harness.Env) func(context.Context, *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
	return func(ctx context.Context, req *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
		result, err := ask(ctx, env, req.Params)
		if err != nil {
			// A plain error would reach the server whole, with the code 0.
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the model could not be asked"}
		}
		return result, nil
	}
}

// ask posts the params to the model and reads its answer.
func ask(ctx context.Context, env harness.Env, params *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, env.Model[dialect.Native], bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+env.Key)
	resp, err := env.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the model answered with HTTP %d: %s", resp.StatusCode, raw)
	}
	var result mcp.CreateMessageWithToolsResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, err
	}
	return &result, exactInputs(&result, raw)
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
