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
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// Options say which model is asked, and how.
type Options struct {
	// Dialect is the provider's API: [dialect.OpenAIChat] (also ""), [dialect.OpenAIResponses], [dialect.Anthropic],
	// [dialect.Gemini], [dialect.Ollama], [dialect.CohereChat] or [dialect.Native].
	Dialect string
	// URL is the base URL as the provider's SDK wants it: for OpenAI with /v1, for Anthropic without. For the native
	// dialect it is the whole URL, to which the params of the request are posted.
	URL string
	// Key is the API key.
	Key string
	// HTTP sends the requests; nil for [http.DefaultClient].
	HTTP *http.Client
	// Model is the model to ask for if the request prefers no other; "" for a usual one of the provider. The native
	// dialect has none.
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

// exchange is a request to a provider, and how its answer is read.
type exchange struct {
	path   string // below the base URL
	header http.Header
	body   map[string]any
	read   func(answer io.Reader) (*turn, error)
}

func (m *Model) ask(ctx context.Context, params map[string]any) (map[string]any, error) {
	params, given := acceptedNames(params, m.options.Dialect)
	x, err := m.exchange(params)
	if err != nil {
		return nil, err
	}
	answer, err := m.post(ctx, x)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	t, err := x.read(answer)
	if err != nil {
		return nil, err
	}
	for _, use := range t.blocks {
		if name := given[jsonvalue.TextIn(use, "name")]; name != "" {
			use["name"] = name
		}
	}
	return t.result(), nil
}

func (m *Model) exchange(params map[string]any) (*exchange, error) {
	switch m.options.Dialect {
	case dialect.Native:
		return &exchange{"", m.bearer(), params, readNative}, nil
	case dialect.Anthropic:
		return m.anthropic(params)
	case dialect.OpenAIResponses:
		return m.responses(params)
	case dialect.Ollama:
		return m.ollama(params)
	case dialect.Gemini:
		return m.generate(params)
	case dialect.CohereChat:
		return m.cohere(params)
	case dialect.OpenAIChat:
		return m.chat(params)
	}
	return nil, fmt.Errorf("unknown dialect %q", m.options.Dialect)
}

func readNative(answer io.Reader) (*turn, error) {
	raw, err := io.ReadAll(answer)
	if err != nil {
		return nil, err
	}
	result, err := jsonvalue.ReadObject(raw)
	return &turn{native: result}, err
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

// post sends a request and returns the body of the answer, which the caller closes.
func (m *Model) post(ctx context.Context, x *exchange) (io.ReadCloser, error) {
	body := bytes.NewReader(jsonvalue.Marshal(x.body))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.options.URL+x.path, body)
	if err != nil {
		return nil, err
	}
	req.Header = x.header
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

func (m *Model) bearer() http.Header {
	return http.Header{"Authorization": {"Bearer " + m.options.Key}}
}

// refusal is an error that the server may see.
func refusal(format string, args ...any) error {
	return &client.Error{Code: client.CodeInternal, Message: fmt.Sprintf(format, args...)}
}

func copyMembers(to, from map[string]any, names map[string]string) {
	for name, other := range names {
		if v, ok := from[name]; ok {
			to[other] = v
		}
	}
}

// toolsOf returns the tools of the request in the shape that most providers share, with their input schema under a name
// of the provider.
func toolsOf(params map[string]any, schema string) []map[string]any {
	list, _ := params["tools"].([]any)
	var tools []map[string]any
	for _, item := range list {
		tool, _ := item.(map[string]any)
		shared := map[string]any{"name": tool["name"], schema: tool["inputSchema"]}
		copyMembers(shared, tool, map[string]string{"description": "description"})
		tools = append(tools, shared)
	}
	return tools
}

// decode reads a whole answer, up to the end of its JSON.
func decode[T any](answer io.Reader) (*T, error) {
	v := new(T)
	return v, json.NewDecoder(answer).Decode(v)
}

// readEvents reads JSON events until take says that the answer is complete. It reports false if the stream ends before.
func readEvents[T any](answer io.Reader, take func(event *T) (complete bool, err error)) (complete bool, err error) {
	failed := sse.Events(answer, func(data []byte) bool {
		if string(data) == "[DONE]" { // of chat completions
			complete = true
			return false
		}
		var event T
		if err = json.Unmarshal(data, &event); err == nil {
			complete, err = take(&event)
		}
		return err == nil && !complete
	})
	if err == nil {
		err = failed
	}
	return complete, err
}

// whole returns an error for an answer that was cut short.
func whole(complete bool, err error) error {
	if err == nil && !complete {
		return errCutShort
	}
	return err
}
