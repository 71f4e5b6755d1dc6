package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Errors of a call that the server did not respond to with an error of its own, which is an [*Error].
var (
	// ErrAbandoned means that the client stopped waiting: the context of the call ended, or the call asked for input more
	// than Options.MaxRounds times.
	ErrAbandoned = errors.New("the client abandoned the call")
	// ErrNoResponse means that the server ended the response without a message for the call.
	ErrNoResponse = errors.New("the stream ended without a response")
	// ErrUnusable means that the result has an unknown resultType or is not JSON as expected.
	ErrUnusable = errors.New("the result cannot be used")
	// ErrSessionLost means that the server ended the session during the call.
	ErrSessionLost = errors.New("the session is lost")
	// ErrServerLost means that the launched server ended during the call and was restarted.
	ErrServerLost = errors.New("the server ended during the call and was restarted")
)

// InputError means that the server asked for input (2026-07-28) that the client did not give: it was declined, it could
// not be made, or the client has not declared it. The server gets no response to that.
type InputError struct {
	Result Result // the input_required result
	Err    error
}

func (e *InputError) Error() string { return "the client did not give the input: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *InputError) Unwrap() error { return e.Err }

// Tool is a tool that the server lists.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
}

// Result is the result of a call, as the server wrote it.
type Result json.RawMessage

// Text returns the text blocks of a tool's result, joined by newlines.
func (r Result) Text() string {
	o, _ := jsonvalue.ReadObject(r) // an invalid result has no text
	var texts []string
	for _, b := range jsonvalue.OfType(o["content"], "text") {
		texts = append(texts, jsonvalue.TextIn(b, "text"))
	}
	return strings.Join(texts, "\n")
}

// IsError reports whether the result of a tool says that the tool failed.
func (r Result) IsError() bool {
	o, _ := jsonvalue.ReadObject(r)
	return o["isError"] == true
}

// ListTools returns all tools of the server.
func (c *Client) ListTools(ctx context.Context) ([]Tool, error) {
	var all []Tool
	for params := (map[string]any{}); ; {
		raw, err := c.request(ctx, "tools/list", params)
		if err != nil {
			return nil, fmt.Errorf("tools/list: %w", err)
		}
		var page struct {
			Tools      []Tool
			NextCursor string
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("tools/list: %w: %w", ErrUnusable, err)
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" {
			return all, nil
		}
		params = map[string]any{"cursor": page.NextCursor}
	}
}

// CallTool calls a tool; nil arguments are sent as {}. An error response of the server is an [*Error]; a result with
// isError is not an error. When ctx ends, the client cancels the request and the samples for it.
func (c *Client) CallTool(ctx context.Context, name string, arguments map[string]any) (Result, error) {
	if arguments == nil {
		arguments = map[string]any{}
	}
	return c.call(ctx, "tools/call", map[string]any{"name": name, "arguments": arguments})
}

// GetPrompt gets a prompt; nil arguments are left out. Errors are those of [Client.CallTool].
func (c *Client) GetPrompt(ctx context.Context, name string, arguments map[string]string) (Result, error) {
	params := map[string]any{"name": name}
	if arguments != nil {
		params["arguments"] = arguments
	}
	return c.call(ctx, "prompts/get", params)
}

// ReadResource reads a resource. Errors are those of [Client.CallTool].
func (c *Client) ReadResource(ctx context.Context, uri string) (Result, error) {
	return c.call(ctx, "resources/read", map[string]any{"uri": uri})
}

// call makes a request during which the server may sample.
func (c *Client) call(ctx context.Context, method string, params map[string]any) (Result, error) {
	ctx, done := context.WithCancel(ctx)
	defer done()
	if c.options.Meta != nil {
		params["_meta"] = c.options.Meta
	}
	c.mu.Lock()
	c.calls = append(c.calls, ctx)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls = slices.DeleteFunc(c.calls, func(other context.Context) bool { return other == ctx })
	}()
	before := len(c.Samples())
	result, err := c.request(ctx, method, params)
	return result, c.explained(err, before)
}

// within returns a context for one sample: it ends with ctx and with the call under way. Over stdio and on a GET stream
// nothing says which call a sample belongs to: with several calls under way it belongs to none.
func (c *Client) within(ctx context.Context) (context.Context, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) != 1 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	unbind := context.AfterFunc(c.calls[0], cancel)
	return ctx, func() {
		unbind()
		cancel()
	}
}

func (c *Client) abandoned(ctx context.Context) bool {
	return ctx.Err() != nil && c.base.Err() == nil && c.ctx.Err() == nil
}

// request makes a request and restarts a launched server that ends meanwhile (2026-07-28,
// basic/transports/stdio#unexpected-termination). A stateless request is then made again. One within a session has
// failed with the session.
func (c *Client) request(ctx context.Context, method string, params map[string]any) (Result, error) {
	for {
		if c.ctx.Err() != nil {
			return nil, fmt.Errorf("the client is closed: %w", c.ctx.Err())
		}
		w := c.current()
		raw, err := w.request(ctx, method, params)
		switch {
		case c.abandoned(ctx):
			return nil, fmt.Errorf("%w: %w", ErrAbandoned, context.Cause(ctx))
		case !errors.Is(err, errServerEnded):
			return Result(raw), err
		}
		next, failed := c.restart(w)
		if failed != nil {
			return nil, errors.Join(err, failed)
		}
		if _, ok := next.(*stateless); !ok {
			return nil, fmt.Errorf("%w: %w", ErrServerLost, err)
		}
	}
}

// maxRestarts is how many times a launched server is restarted.
const maxRestarts = 3

// restart replaces a connection whose server ended, unless another call has done so.
func (c *Client) restart(ended wire) (wire, error) {
	c.restarting <- struct{}{}
	defer func() { <-c.restarting }()
	if w := c.current(); w != ended {
		return w, nil
	}
	if c.restarts == maxRestarts {
		return nil, fmt.Errorf("the server was restarted %d times already", maxRestarts)
	}
	c.restarts++
	_ = ended.close() // its error repeats that the server ended
	next, err := c.open()
	if err != nil {
		return nil, fmt.Errorf("restarting the server: %w", err)
	}
	c.mu.Lock()
	c.wire = next
	c.mu.Unlock()
	return next, nil
}
