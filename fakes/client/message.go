package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// JSON-RPC error codes.
const (
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	// CodeDeclined refuses what the user declined (2025-11-25, client/sampling#error-handling).
	CodeDeclined = -1
)

// Error is a JSON-RPC error: from the server, or for the server if a [Handler] returns it.
type Error = server.RPCError

// maxMessage is the most that a message of the server has, in bytes.
const maxMessage = sse.MaxEvent

// errTooLong means that the server sent more than [maxMessage] without an end.
var errTooLong = errors.New("the server sent a message of more than 64 MB")

// message is a JSON-RPC message. Ids stay as they were written.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// request builds a request, a notification if id is nil.
func request(id any, method string, params any) map[string]any {
	m := map[string]any{"jsonrpc": "2.0", "method": method}
	if id != nil {
		m["id"] = id
	}
	if params != nil {
		m["params"] = params
	}
	return m
}

// response builds the response to a request: the error if there is one, else the result.
func response(id json.RawMessage, result map[string]any, refused *Error) map[string]any {
	m := map[string]any{"jsonrpc": "2.0", "id": id}
	if refused != nil {
		m["error"] = refused
	} else {
		m["result"] = result
	}
	return m
}

// unpack returns the messages in raw: one, or in 2025-03-26 a batch (basic/index#batching).
func unpack(raw []byte, revision server.Revision) ([]message, error) {
	if revision.HasBatches() && bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("[")) {
		var batch []message
		err := json.Unmarshal(raw, &batch)
		return batch, err
	}
	var one message
	err := json.Unmarshal(raw, &one)
	return []message{one}, err
}

func resultOf(response *message, err error) (json.RawMessage, error) {
	switch {
	case err != nil:
		return nil, err
	case response == nil:
		return nil, ErrNoResponse
	case response.Error != nil:
		return nil, response.Error
	}
	return response.Result, nil
}

// taker receives a message that is not a response, on the goroutine that reads. It returns the work that answers a
// request, or nil. ctx ends with what the message belongs to: a call or the connection.
type taker func(ctx context.Context, m *message) func() error
