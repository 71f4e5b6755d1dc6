package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
)

// JSON-RPC and MCP error codes (2026-07-28, basic/index#error-codes).
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

// RPCError is a JSON-RPC error, sent or received.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

func rpcErrorf(code int, format string, args ...any) *RPCError {
	return &RPCError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// message is any JSON-RPC message as it was read.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method *string         `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (m *message) isRequest() bool      { return m.Method != nil && m.ID != nil }
func (m *message) isNotification() bool { return m.Method != nil && m.ID == nil }
func (m *message) isResponse() bool     { return m.Method == nil && (m.Result != nil || m.Error != nil) }

// parse reads one message. It takes what can be understood; whether that is well-formed is for the reader of the
// trace to judge.
func parse(raw []byte) (*message, *RPCError) {
	if !json.Valid(raw) {
		return nil, rpcErrorf(codeParse, "the body is not JSON")
	}
	if trimmed := bytes.TrimSpace(raw); trimmed[0] != '{' {
		return nil, rpcErrorf(codeInvalidRequest, "the body must be a single JSON-RPC message")
	}
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, rpcErrorf(codeInvalidRequest, "not a JSON-RPC message: %v", err)
	}
	if m.ID != nil && string(m.ID) != "null" {
		if c := m.ID[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
			return nil, rpcErrorf(codeInvalidRequest, "id must be a string or a number, got %s", m.ID)
		}
	}
	if !m.isRequest() && !m.isNotification() && !m.isResponse() {
		return nil, rpcErrorf(codeInvalidRequest, "neither request, notification nor response: no method, result or error")
	}
	return &m, nil
}

// idKey names a request id for matching. A number and the string of its digits have one key: a play goes on whenever it is clear
// which request the client means, and that the id came back changed is judged from the trace.
func idKey(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return text
	}
	if f, ok := new(big.Float).SetPrec(256).SetString(string(id)); ok && f.IsInt() {
		return f.Text('f', 0)
	}
	return string(id)
}

// encode is json.Marshal without the escaping of HTML, so that frames read as they were meant.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

type rpcRequest struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      any             `json:"id,omitempty"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
}

type rpcResponse struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *RPCError       `json:"error,omitempty"`
}

// mustEncode encodes what we made ourselves, of types that cannot fail.
func mustEncode(v any) []byte {
	raw, err := encode(v)
	if err != nil {
		panic(fmt.Sprintf("server: encoding our own %T: %v", v, err))
	}
	return raw
}

func requestFrame(id any, method string, params json.RawMessage) []byte {
	return mustEncode(rpcRequest{"2.0", id, method, params})
}

func resultFrame(id, result json.RawMessage) []byte {
	return mustEncode(rpcResponse{JSONRPC: "2.0", ID: id, Result: result})
}

func errorFrame(id json.RawMessage, err *RPCError) []byte {
	return mustEncode(rpcResponse{JSONRPC: "2.0", ID: id, Error: err})
}
