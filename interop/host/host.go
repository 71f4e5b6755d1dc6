// Package host is the part of a host between its SDK and its model, for the adapters in Go: the user decides, the
// model is asked in the native dialect, a strict host refuses invalid requests, and each call is reported. It knows no
// SDK.
package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Host answers sampling requests in the environment of a run. It is safe for concurrent use.
type Host struct {
	Env harness.Env
	// Strict refuses undeclared tools and invalid histories before the user is asked, and answers with a forbidden tool
	// use.
	Strict bool
}

// Refusal is an error for the server.
type Refusal struct {
	Code    int
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// Codes of refusals. The specification gives -1 to a request that the user rejected (2025-11-25,
// client/sampling#error-handling).
const (
	invalidParams = -32602
	internalError = -32603
	declined      = -1
)

// Sample answers a request. Params is anything that marshals to CreateMessageRequestParams; the result is a
// CreateMessageResult. An error is a [Refusal] and never contains the provider's message.
func (h Host) Sample(ctx context.Context, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, &Refusal{invalidParams, "invalid request"}
	}
	if h.Strict {
		if why := Forbidden(raw, h.Env.Declare); why != "" {
			return nil, &Refusal{invalidParams, why}
		}
	}
	if h.Env.Decision == harness.Decline {
		return nil, &Refusal{declined, "the user declined the request"}
	}
	result, err := h.ask(ctx, raw)
	switch {
	case err != nil:
		return nil, &Refusal{internalError, "the model did not answer"}
	case h.Strict && UsesForbiddenTool(raw, result):
		return nil, &Refusal{internalError, "the model used a forbidden tool"}
	case h.Env.Decision == harness.DeclineAnswer:
		return nil, &Refusal{declined, "the user declined the answer"}
	}
	return result, nil
}

// ask posts the params to the model. One time limit covers the whole answer.
func (h Host) ask(ctx context.Context, params []byte) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(h.Env.Timeout, harness.DefaultClientTimeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.Env.Model[dialect.Native], bytes.NewReader(params))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+h.Env.Key)
	resp, err := h.Env.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the model responded with HTTP %d", resp.StatusCode)
	}
	return answer, nil
}
