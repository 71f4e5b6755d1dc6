package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
)

// model answers sampling requests by asking a model.
type model struct {
	config Config
	env    harness.Env
	gemini geminiMemory

	mu     sync.Mutex
	before string // what was asked before, for a client that remembers

	call context.Context // of the call of a tool that is under way; nil where there is none
}

// JSON-RPC error codes of the answers to sampling.
const (
	codeNoMethod      = -32601
	codeInvalidParams = -32602
	codeInternal      = -32603
)

// createMessage turns CreateMessageRequestParams into a CreateMessageResult, or into the error to answer with.
func (m *model) createMessage(ctx context.Context, raw json.RawMessage) (map[string]any, *rpcError) {
	broken := &m.config.broken
	ctx, done := m.within(ctx)
	defer done()
	params, err := object(raw)
	if err != nil {
		return nil, &rpcError{codeInvalidParams, "params are not an object"}
	}
	if refused := m.checkDeclared(params); refused != nil {
		if broken.asksUndeclared {
			_, _ = m.ask(ctx, params) // what it says is of no use to anybody
		}
		return nil, refused
	}
	if err := checkRequest(params); err != nil {
		return nil, &rpcError{codeInvalidParams, err.Error()}
	}
	if broken.refusesWhen != nil && broken.refusesWhen(params) {
		return nil, &rpcError{codeInternal, "broken on purpose: refuses this"}
	}
	if broken.refuses {
		return nil, &rpcError{codeInternal, "broken on purpose: refuses everything"}
	}
	if result, refused, decided := m.decide(ctx, params); decided {
		return result, refused
	}
	allowed := allowedBy(params)
	edit(broken.params, params)
	if broken.remembers {
		m.remember(params)
	}
	if broken.asksTwice {
		if _, err := m.ask(ctx, params); err != nil {
			return nil, modelError(err)
		}
	}
	result, err := m.ask(ctx, params)
	if err == nil {
		err = m.settle(allowed, result)
	}
	if err != nil {
		return nil, modelError(err)
	}
	edit(broken.result, result)
	if broken.echoesSystem {
		for _, b := range ofType(result["content"], "text") {
			b["text"] = text(params, "systemPrompt") + text(b, "text")
		}
	}
	if refused := m.review(result); refused != nil {
		return nil, refused
	}
	return result, nil
}

// Refusals of what the client does not declare.
var (
	errNoSampling = &rpcError{codeNoMethod, "sampling is not declared"}
	errNoTools    = &rpcError{codeInvalidParams, "sampling.tools is not declared"}
)

// checkDeclared refuses what the client does not declare (2025-11-25, client/sampling#capabilities, schema#createmessagerequestparams).
func (m *model) checkDeclared(params map[string]any) *rpcError {
	broken := &m.config.broken
	sampling, declared := m.told()["sampling"].(map[string]any)
	switch {
	case broken.servesUndeclared:
		return nil
	case !declared:
		return errNoSampling
	case sampling["tools"] != nil:
		return nil
	case broken.dropsUndeclared:
		delete(params, "tools")
		delete(params, "toolChoice")
	}
	if params["tools"] != nil || params["toolChoice"] != nil && !broken.overlooksChoice {
		return errNoTools
	}
	return nil
}

// isUndeclared reports whether the client refused what it does not declare.
func isUndeclared(err error) bool {
	return errors.Is(err, errNoSampling) || errors.Is(err, errNoTools)
}

// modelError says that the model failed, and nothing of how: what a provider says is not for the server.
func modelError(err error) *rpcError {
	var refused *rpcError
	if errors.As(err, &refused) {
		return refused
	}
	return &rpcError{codeInternal, "the model could not be asked"}
}

func (m *model) ask(ctx context.Context, params map[string]any) (map[string]any, error) {
	switch m.config.Dialect {
	case dialect.Native:
		return m.askNative(ctx, params)
	case dialect.Anthropic:
		return m.askAnthropic(ctx, params)
	case dialect.OpenAIResponses:
		return m.askResponses(ctx, params)
	case dialect.Ollama:
		return m.askOllama(ctx, params)
	case dialect.Gemini:
		return m.askGemini(ctx, params)
	}
	return m.askOpenAI(ctx, params)
}

// askNative passes the request on as it is.
func (m *model) askNative(ctx context.Context, params map[string]any) (map[string]any, error) {
	edit(m.config.broken.body, params)
	resp, err := post(ctx, m.env.HTTP, m.env.Model[dialect.Native], http.Header{"Authorization": {"Bearer " + m.env.Key}}, marshal(params))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, statusError(resp)
	}
	var result map[string]any
	dec := json.NewDecoder(resp.Body)
	dec.UseNumber()
	if err := dec.Decode(&result); err != nil {
		return nil, fmt.Errorf("the model's answer: %w", err)
	}
	if blocks, ok := result["content"].([]any); ok && len(blocks) == 1 && !m.env.Revision.HasTools() {
		result["content"] = blocks[0]
	}
	return result, nil
}

// blocksOf returns content as blocks, whether it is one or an array.
func blocksOf(content any) ([]map[string]any, error) {
	list, ok := content.([]any)
	if !ok {
		list = []any{content}
	}
	blocks := make([]map[string]any, len(list))
	for i, item := range list {
		if blocks[i], ok = item.(map[string]any); !ok {
			return nil, fmt.Errorf("content block %d is not an object", i)
		}
	}
	return blocks, nil
}

// text returns a string member, "" where it is none.
func text(o map[string]any, name string) string {
	s, _ := o[name].(string)
	return s
}
