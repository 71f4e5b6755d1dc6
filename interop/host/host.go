// Package host is what a host does between its SDK and its model, for the adapters that are written in Go: the person decides, the model is
// asked in the native dialect, and a strict host refuses what it should.
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
	// Strict refuses tools that were not declared, and histories that the specification forbids, before anybody is asked, and answers in
	// which the model uses a tool that it was not to use.
	Strict bool
}

// Refusal is an error that the server is to get, with its code.
type Refusal struct {
	Code    int
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// Codes of refusals.
const (
	invalidParams = -32602
	internalError = -32603
	declined      = -1 // 2025-11-25, client/sampling#error-handling: the user rejected the request
)

// Sample answers a request, whose params are anything that marshals to a CreateMessageRequestParams, with a CreateMessageResult. Its error
// is a [Refusal], which says nothing of what the provider said.
func (h Host) Sample(ctx context.Context, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, &Refusal{invalidParams, "the request cannot be read"}
	}
	if h.Strict {
		if why := Forbidden(raw, h.Env.Declare); why != "" {
			return nil, &Refusal{invalidParams, why}
		}
	}
	if h.Env.Decision == harness.Decline {
		return nil, &Refusal{declined, "the person declined the request"}
	}
	result, err := h.ask(ctx, raw)
	switch {
	case err != nil:
		return nil, &Refusal{internalError, "the model could not be asked"}
	case h.Strict && Defies(raw, result):
		return nil, &Refusal{internalError, "the model used a tool that it was not to use"}
	case h.Env.Decision == harness.DeclineAnswer:
		return nil, &Refusal{declined, "the person declined the answer"}
	}
	return result, nil
}

// ask posts the params to the model and returns its answer, for all of which there is one limit.
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
		return nil, fmt.Errorf("the model answered with HTTP %d", resp.StatusCode)
	}
	return answer, nil
}
