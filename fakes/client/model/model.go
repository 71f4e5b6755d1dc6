// Package model answers sampling requests by asking a model over HTTP. It writes the request as a provider's API wants
// it, reads the answer, whole or as a stream, and returns it as a CreateMessageResult.
//
//	asker := model.New(model.Options{Dialect: dialect.Anthropic, URL: "https://api.anthropic.com", Key: key})
//	c, err := client.Connect(ctx, client.Options{URL: url, Sampling: asker.Sample})
//
// What belongs here is the translation between MCP and the providers, two files for most of them: one writes requests,
// the file with _answer in its name reads answers. Each block, id and number of the conversation reaches the other side
// unchanged, or the request fails. The package knows nothing of sessions and transports of MCP.
package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

// Options say which model is asked, and how.
type Options struct {
	// Dialect is the provider's API: [dialect.OpenAIChat] (also ""), [dialect.OpenAIResponses], [dialect.Anthropic],
	// [dialect.Gemini], [dialect.Ollama] or [dialect.Native].
	Dialect string
	// URL is the base URL as the provider's SDK wants it: for OpenAI with /v1, for Anthropic without. For the native
	// dialect it is the whole URL, to which the params of the request are posted.
	URL string
	// Key is the API key.
	Key string
	// HTTP sends the requests; nil for [http.DefaultClient].
	HTTP *http.Client
	// Model is the model to ask for if the request prefers no other; "" for a usual one of the provider. Gemini and Ollama
	// only.
	Model string
	// Plain asks for whole answers instead of streams.
	Plain bool
	// Retry decides after the nth failed attempt, from 1, whether and when to ask again. All attempts share the time limit
	// of the request. Nil never asks again. A failure that the provider reports with a status is a [*ProviderError].
	Retry func(attempt int, err error) (wait time.Duration, again bool)
}

// Model asks a model. It is safe for concurrent use.
type Model struct {
	options Options
	gemini  geminiMemory
}

// New returns a model that is asked as the options say.
func New(o Options) *Model {
	o.Dialect = cmp.Or(o.Dialect, dialect.OpenAIChat)
	o.HTTP = cmp.Or(o.HTTP, http.DefaultClient)
	return &Model{options: o}
}

// Sample is a [client.Handler]: it asks the model. What the model does although the request does not allow it does not
// reach the server. Failures of the provider are errors that [client.Client] does not show the server.
func (m *Model) Sample(ctx context.Context, params map[string]any) (map[string]any, error) {
	for attempt := 1; ; attempt++ {
		result, err := m.ask(ctx, params)
		if err == nil {
			return result, settle(params, result)
		}
		if m.options.Retry == nil {
			return nil, err
		}
		wait, again := m.options.Retry(attempt, err)
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

func (m *Model) ask(ctx context.Context, params map[string]any) (map[string]any, error) {
	switch m.options.Dialect {
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
	case dialect.OpenAIChat:
		return m.askChat(ctx, params)
	}
	return nil, fmt.Errorf("unknown dialect %q", m.options.Dialect)
}

// askNative posts the request as it is. Streams do not exist here.
func (m *Model) askNative(ctx context.Context, params map[string]any) (map[string]any, error) {
	answer, err := m.post(ctx, "", m.bearer(), params)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	raw, err := io.ReadAll(answer)
	if err != nil {
		return nil, err
	}
	result, err := mcpjson.Object(raw)
	if err != nil {
		return nil, fmt.Errorf("the model's answer: %w", err)
	}
	return result, nil
}

// ProviderError is an answer of the provider with another status than 200.
type ProviderError struct {
	Status int
	Header http.Header
	// Body is the beginning of the body.
	Body []byte
}

func (e *ProviderError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.Status, e.Body) }

// errorBody is how many bytes of an error's body are read.
const errorBody = 4 << 10

var (
	errInStream = errors.New("the provider reported an error in its answer")
	errCutShort = errors.New("the answer ended before it was complete")
)

// post sends a request to a path below the base URL and returns the body of the answer, which the caller closes.
func (m *Model) post(ctx context.Context, path string, header http.Header, body map[string]any) (io.ReadCloser, error) {
	url := m.options.URL + path
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(mcpjson.Marshal(body)))
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	resp, err := m.options.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	begin, err := io.ReadAll(io.LimitReader(resp.Body, errorBody))
	return nil, errors.Join(&ProviderError{resp.StatusCode, resp.Header, begin}, err)
}

// bearer is the key as most providers want it.
func (m *Model) bearer() http.Header {
	return http.Header{"Authorization": {"Bearer " + m.options.Key}}
}

// refusal is an error that the server may see.
func refusal(format string, args ...any) error {
	return &client.Error{Code: client.CodeInternal, Message: fmt.Sprintf(format, args...)}
}

// copyParams copies the members that the request has, under the provider's names.
func copyParams(body, params map[string]any, names map[string]string) {
	for from, to := range names {
		if v, ok := params[from]; ok {
			body[to] = v
		}
	}
}

// decode reads one JSON value.
func decode(answer io.Reader, v any) error { return json.NewDecoder(answer).Decode(v) }
