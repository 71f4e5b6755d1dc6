package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/native"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// New connects to the server under test, and closes the connection at the end of the test. The test fails if the client
// cannot connect, if an answer is not valid by the schema, which the server then does not see, for each answer that
// failed with another error than an [*Error], such as that of [Decline], unless the request or its call was cancelled,
// and for each line of a launched server that is not a message.
//
// A server that the test starts must end after the client: use t.Cleanup(srv.Close) instead of defer.
func New(t server.TB, o Options) *Client {
	t.Helper()
	var strays []string // guarded by mu
	var mu sync.Mutex
	o.strayed = func(what string) {
		mu.Lock()
		defer mu.Unlock()
		strays = append(strays, what)
	}
	c, err := connect(context.Background(), o, &journal{})
	if err != nil {
		t.Fatalf("connecting to the server under test: %v", err)
		return nil // another TB may continue
	}
	t.Cleanup(func() {
		t.Helper()
		var gone *url.Error
		if err := c.Close(); err != nil && !errors.As(err, &gone) {
			t.Errorf("closing the MCP client: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, what := range strays {
			t.Errorf("%s", what)
		}
		for i, s := range c.Samples() {
			var told *Error
			if s.Err != nil && !s.cancelled && !errors.As(s.Err, &told) {
				t.Errorf("request %d of the server, %s: %v", i+1, s.Method, s.Err)
			}
		}
	})
	return c
}

// Sample is a request of the server to the client.
type Sample struct {
	// Method is sampling/createMessage, elicitation/create or roots/list.
	Method string
	// Params is the request as the server wrote it.
	Params json.RawMessage
	// Request is a sampling request in the form that package llm has for requests to all models: its messages, tools and
	// limits. It is nil for other methods and invalid params. llm.AssertConversation compares it.
	Request *dialect.Request
	// Result is what the client answered; nil if it answered with an error or not at all.
	Result map[string]any
	// Err says why there is no result. The server is told only if it is an [*Error].
	Err error
	// Took is the time from the request to the answer.
	Took time.Duration

	cancelled bool // by the server, or with its call
}

// journal holds what the server asked of a client of [New]. It is guarded by Client.mu.
type journal struct{ samples []Sample }

// Samples returns what the server has asked, in the order of the answers. Only a client of [New] keeps it.
func (c *Client) Samples() []Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.journal == nil {
		return nil
	}
	return slices.Clone(c.journal.samples)
}

// respond answers a request of the server, and returns the result or the error to answer with.
func (c *Client) respond(ctx context.Context, method string, raw json.RawMessage) (map[string]any, *Error) {
	if c.options.replaying != nil {
		return c.options.replaying(ctx, method, raw)
	}
	began := time.Now()
	var result map[string]any
	var err error
	switch method {
	case methodSampling:
		result, err = c.createMessage(ctx, raw)
	case methodElicit:
		var params map[string]any
		if params, err = jsonvalue.ReadObject(raw); err == nil {
			result, err = c.options.Elicitation(ctx, params)
		}
	case methodRoots:
		roots := []any{}
		for _, uri := range c.options.Roots {
			roots = append(roots, map[string]any{"uri": uri})
		}
		result = map[string]any{"roots": roots}
	}
	if c.journal == nil {
		return result, handlerError(err)
	}
	if err == nil && method == methodSampling {
		revision := string(c.Revision())
		if err = schema.Validate(revision, schema.CreateMessageResult, jsonvalue.Marshal(result)); err != nil {
			err = fmt.Errorf("the answer is not a valid CreateMessageResult of %s: %w", revision, err)
		}
	}
	s := Sample{Method: method, Params: raw, Result: result, Err: err, Took: time.Since(began),
		cancelled: ctx.Err() != nil}
	if err != nil {
		s.Result = nil
	}
	if method == methodSampling && json.Valid(raw) {
		s.Request = native.Read(raw)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.journal.samples = append(c.journal.samples, s)
	return s.Result, handlerError(err)
}

// answers reports whether the client answers a method other than sampling.
func (c *Client) answers(method string) bool {
	return c.options.replaying != nil ||
		method == methodElicit && c.options.Elicitation != nil || method == methodRoots && c.options.Roots != nil
}

// explained adds to the error of a call why samples since the nth failed: the server is not told.
func (c *Client) explained(err error, n int) error {
	samples := c.Samples()
	if err == nil || n >= len(samples) {
		return err
	}
	for i, s := range samples[n:] {
		if s.Err != nil {
			err = fmt.Errorf("%w; request %d of the server failed: %w", err, n+i+1, s.Err)
		}
	}
	return err
}
