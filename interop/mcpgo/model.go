package mcpgo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
)

// AskModel returns a sampling handler that hands each request on to the run's model in the native dialect, and the model's answer back
// to the server. It checks nothing, so that what is found is the SDK's doing. When the model fails, the server is told so, and
// nothing of what the model said.
func AskModel(env harness.Env) client.SamplingHandler { return asking{env} }

type asking struct{ env harness.Env }

func (a asking) CreateMessage(ctx context.Context, req mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	result, err := a.ask(ctx, req.CreateMessageParams)
	if err != nil {
		return nil, errors.New("the model could not be asked")
	}
	return result, nil
}

// ask posts the params to the model and reads its answer.
func (a asking) ask(ctx context.Context, params mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.env.Model[dialect.Native], bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+a.env.Key)
	resp, err := a.env.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the model answered with HTTP %d", resp.StatusCode)
	}
	var result mcp.CreateMessageResult
	return &result, json.NewDecoder(resp.Body).Decode(&result)
}
