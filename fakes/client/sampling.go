package client

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/validity"
)

// The requests of a server.
const (
	methodSampling = "sampling/createMessage"
	methodElicit   = "elicitation/create"
	methodRoots    = "roots/list"
)

// createMessage turns CreateMessageRequestParams into a CreateMessageResult, or into the reason why it cannot.
func (c *Client) createMessage(ctx context.Context, raw json.RawMessage) (map[string]any, error) {
	params, err := jsonvalue.ReadObject(raw)
	if err != nil {
		return nil, &Error{Code: CodeInvalidParams, Message: "params is not an object"}
	}
	delete(params, "task") // for this client, not for the handler
	if refused := c.checkDeclared(params); refused != nil {
		return nil, refused
	}
	validate := c.options.Validate
	if validate == nil {
		validate = func(params map[string]any) error { return Validate(c.Revision(), params) }
	}
	if err := validate(params); err != nil {
		return nil, &Error{Code: CodeInvalidParams, Message: err.Error()}
	}
	ctx, done := c.within(ctx)
	defer done()
	if refused := c.consent(ctx, params, nil); refused != nil {
		return nil, refused
	}
	answer := c.handle
	if loop := c.options.Loop; loop != nil {
		answer = func(ctx context.Context, params map[string]any) (map[string]any, error) {
			return loop.run(ctx, c, params)
		}
	}
	result, err := answer(ctx, params)
	if err != nil {
		return nil, err
	}
	blocks, ok := result["content"].([]any)
	if ok && len(blocks) == 1 && !c.Revision().HasSamplingTools() { // content is one block there
		result = maps.Clone(result)
		result["content"] = blocks[0]
	}
	if refused := c.consent(ctx, params, result); refused != nil {
		return nil, refused
	}
	return result, nil
}

func (c *Client) checkDeclared(params map[string]any) *Error {
	sampling, declared := c.declared()["sampling"].(map[string]any)
	fault := validity.Undeclared(params, func(path ...string) bool {
		return declared && (len(path) == 1 || sampling[path[1]] != nil)
	})
	switch {
	case fault == nil:
		return nil
	case fault.Kind == validity.UndeclaredSampling:
		return &Error{Code: CodeMethodNotFound, Message: fault.Message}
	}
	return &Error{Code: CodeInvalidParams, Message: fault.Message}
}

func (c *Client) consent(ctx context.Context, params, result map[string]any) *Error {
	if c.options.Consent == nil {
		return nil
	}
	err := c.options.Consent(ctx, params, result)
	var refused *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused
	case result == nil:
		return &Error{Code: CodeDeclined, Message: "the user declined the request"}
	}
	return &Error{Code: CodeDeclined, Message: "the user declined the answer"}
}

// handle calls the handler. The time limit covers the whole answer of the model, not only its beginning.
func (c *Client) handle(ctx context.Context, params map[string]any) (map[string]any, error) {
	if c.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.options.Timeout)
		defer cancel()
	}
	result, err := c.options.Sampling(ctx, params)
	if err == nil && result == nil {
		err = errors.New("the handler returned no result")
	}
	return result, err
}

// handlerError returns the error for the server. What a provider says is not for it.
func handlerError(err error) *Error {
	var refused *Error
	if err == nil {
		return nil
	}
	if errors.As(err, &refused) {
		return refused
	}
	return &Error{Code: CodeInternal, Message: "the model did not answer"}
}
