package reference

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

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
	deaf   bool   // it answers no more, for a client that does not bear everything
	dead   bool   // for a client that dies of a failure

	// What a client that shares too much has in common for all requests.
	latest any                       // the first message of the latest conversation
	cache  map[string]map[string]any // answers, by what looks the same
	turn   chan struct{}             // for who looks in there

	call context.Context // of the call of a tool that is under way; nil where there is none
}

// JSON-RPC error codes of the answers to sampling.
const (
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
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
	delete(params, "task") // which is for whoever answers
	if refused := m.checkDeclared(params); refused != nil {
		if broken.asksUndeclared {
			_, _ = m.ask(ctx, params) // what it says is of no use to anybody
		}
		return nil, refused
	}
	if refused := m.suffer(ctx, params); refused != nil {
		return nil, refused
	}
	if err := m.wellFormed(params); err != nil {
		return nil, m.refuse(ctx, params, err)
	}
	edit(broken.repairs, params)
	if err := checkRequest(params); err != nil && !slices.Contains(broken.overlooks, ruleOf(err)) {
		return nil, m.invalid(ctx, params, err)
	}
	if broken.refusesWhen != nil && broken.refusesWhen(params) {
		return nil, cmp.Or(broken.refusal, &rpcError{codeInternal, "broken on purpose: refuses this"})
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
	ctx, cancel := m.limited(ctx)
	defer cancel()
	if broken.asksTwice {
		if _, err := m.ask(ctx, params); err != nil {
			return nil, modelError(err)
		}
	}
	result, err := m.remembered(ctx, params)
	if err == nil {
		err = m.settle(allowed, result)
	}
	if err != nil {
		return m.failed(err)
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

// invalid refuses a request that cannot be right.
func (m *model) invalid(ctx context.Context, params map[string]any, why error) *rpcError {
	broken := &m.config.broken
	if broken.asksInvalid && ruleOf(why) != "" {
		_, _ = m.ask(ctx, params) // what it says is of no use to anybody
	}
	return &rpcError{cmp.Or(broken.invalidCode, codeInvalidParams), why.Error()}
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

// askAgain asks the model, and only where the client is broken so more than once.
func (m *model) askAgain(ctx context.Context, params map[string]any) (map[string]any, error) {
	for n := 1; ; n++ {
		result, err := m.attempt(ctx, params)
		if err == nil || m.config.broken.again == nil {
			return result, err
		}
		again, wait := m.config.broken.again(n, err)
		if !again {
			return nil, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// failed is what becomes of a failure to ask the model.
func (m *model) failed(err error) (map[string]any, *rpcError) {
	broken := &m.config.broken
	var refused *rpcError
	if !errors.As(err, &refused) {
		m.mu.Lock()
		m.dead = m.dead || broken.diesOfFailures
		m.mu.Unlock()
		if broken.onFailure != nil {
			return broken.onFailure(m, err)
		}
	}
	return nil, modelError(err)
}

// died reports whether the client has come to its end early.
func (m *model) died() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
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

// post sends a request for the model to a path of the dialect's base URL, and returns the body of the answer, which the caller closes. An answer
// that is no success is an error.
func (m *model) post(ctx context.Context, dialect, path string, header http.Header, body map[string]any) (io.ReadCloser, error) {
	edit(m.config.broken.body, body)
	resp, err := post(ctx, m.env.HTTP, m.env.Model[dialect]+path, header, marshal(body))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, failureOf(resp)
	}
	if m.config.broken.mendsStreams {
		return mend(m.config.Dialect, resp.Body), nil
	}
	return resp.Body, nil
}

// providerError is a failure that the provider told of. What it says is for the client's log alone.
type providerError struct {
	status int
	header http.Header
	body   []byte
}

func (e *providerError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.status, e.body) }

// failureOf reads a response that is no success.
func failureOf(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // the status alone says enough
	return errors.Join(&providerError{resp.StatusCode, resp.Header, body}, err)
}

// bearer is the key as most providers want it.
func (m *model) bearer() http.Header {
	return http.Header{"Authorization": {"Bearer " + m.env.Key}}
}

// askNative passes the request on as it is.
func (m *model) askNative(ctx context.Context, params map[string]any) (map[string]any, error) {
	answer, err := m.post(ctx, dialect.Native, "", m.bearer(), params)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	var result map[string]any
	dec := json.NewDecoder(answer)
	dec.UseNumber()
	if err := dec.Decode(&result); err != nil {
		return nil, fmt.Errorf("the model's answer: %w", err)
	}
	if blocks, ok := result["content"].([]any); ok && len(blocks) == 1 && !m.env.Revision.HasTools() {
		result["content"] = blocks[0]
	}
	return result, nil
}

// convertHistory calls convert with the role and the blocks of each message of a request, which was checked before, and returns all that it
// makes of them.
func convertHistory(params map[string]any, convert func(role string, blocks []map[string]any) ([]any, error)) ([]any, error) {
	var converted []any
	history, _ := params["messages"].([]any)
	for _, item := range history {
		m, _ := item.(map[string]any)
		blocks, err := blocksOf(m["content"])
		if err != nil {
			return nil, err
		}
		made, err := convert(text(m, "role"), blocks)
		if err != nil {
			return nil, err
		}
		converted = append(converted, made...)
	}
	return converted, nil
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
