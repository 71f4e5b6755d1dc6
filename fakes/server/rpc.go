package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Error codes of JSON-RPC and MCP (2026-07-28, basic/index#error-codes).
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
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

// object is a JSON object by the exact names of its members. A struct that encoding/json fills would accept "Method"
// for "method", and so messages that no other peer accepts.
type object map[string]json.RawMessage

// objectOf parses an object; nil when raw is anything else.
func objectOf(raw json.RawMessage) object {
	if len(raw) == 0 {
		return nil
	}
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

func (o object) text(name string) (string, bool) { return textOf(o[name]) }

// textOf parses a string; false when raw is empty, null or anything else. Raw, unless empty, is valid JSON.
func textOf(raw json.RawMessage) (string, bool) {
	if len(raw) > 1 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]), true
	}
	var text *string
	if json.Unmarshal(raw, &text) != nil || text == nil {
		return "", false
	}
	return *text, true
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// message is a parsed JSON-RPC message. A missing member is nil.
type message struct {
	ID     json.RawMessage
	Method *string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage

	params object // Params; nil when they are not an object
	meta   object // their _meta, likewise
}

func (m *message) isRequest() bool      { return m.Method != nil && m.ID != nil }
func (m *message) isNotification() bool { return m.Method != nil && m.ID == nil }
func (m *message) isResponse() bool     { return m.Method == nil && (m.Result != nil || m.Error != nil) }

// parse reads one message. It is lenient; the checks judge the form from the trace.
func parse(raw []byte) (*message, *RPCError) {
	if bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")) {
		return nil, rpcErrorf(codeParse,
			"the message begins with a byte order mark, which JSON must not have (RFC 8259, section 8.1)")
	}
	if err := jsonvalue.Validate(raw); err != nil {
		return nil, rpcErrorf(codeParse, "the message is %v", err)
	}
	switch raw = bytes.TrimLeft(raw, " \t\r\n"); raw[0] {
	case '{':
	case '[':
		return nil, rpcErrorf(codeInvalidRequest, "expected a single JSON-RPC message, found an array")
	default:
		return nil, rpcErrorf(codeInvalidRequest, "expected a JSON-RPC message, found %s", clip(raw))
	}
	return parseMembers(objectOf(raw))
}

func parseMembers(members object) (*message, *RPCError) {
	m := &message{ID: members["id"], Params: members["params"], Result: members["result"], Error: members["error"]}
	if method, ok := members.text("method"); ok {
		m.Method = &method
	} else if members["method"] != nil {
		return nil, rpcErrorf(codeInvalidRequest, "method must be a string, found %s", clip(members["method"]))
	}
	m.params = objectOf(m.Params)
	m.meta = objectOf(m.params["_meta"])
	if isNull(m.Error) { // no error: some libraries write both members
		m.Error = nil
	}
	// Only the response to a message with an unreadable id has the id null (JSON-RPC; 2025-11-25,
	// basic/index#requests).
	if m.ID != nil && !isID(m.ID) && (m.Method != nil || !isNull(m.ID)) {
		return nil, rpcErrorf(codeInvalidRequest, "id must be a string or a number, found %s", clip(m.ID))
	}
	if !m.isRequest() && !m.isNotification() && !m.isResponse() {
		return nil, rpcErrorf(codeInvalidRequest,
			"not a request, notification or response: method, result and error are missing")
	}
	return m, nil
}

// isID reports whether valid JSON is a string or a number, as ids and progress tokens must be.
func isID(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// maxExact is the largest number up to which float64 is exact for every integer.
const maxExact = 1 << 53

// idKey returns the key that matches a request id. A number and the string of its digits have the same key, so that a
// handler continues when the id came back changed; the checks judge that change from the trace.
func idKey(id json.RawMessage) string {
	if text, ok := textOf(id); ok {
		return text
	}
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	if f, err := strconv.ParseFloat(string(id), 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= maxExact {
		return strconv.FormatInt(int64(f), 10) // 1.0, 1e3
	}
	return string(id)
}

// encode is json.Marshal without HTML escapes, so that frames are readable.
func encode(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok && raw != nil {
		return raw, nil // an encoder would remove spaces, and refuse invalid JSON
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func mustEncode(v any) []byte {
	raw, err := encode(v)
	if err != nil {
		panic(fmt.Sprintf("server: encoding our own %T: %v", v, err))
	}
	return raw
}

type member struct {
	name  string
	value []byte
}

// join builds an object from its members, in order and byte for byte, valid or not. It leaves out empty values.
func join(members ...member) []byte {
	size := 2
	for _, m := range members {
		size += len(m.name) + len(m.value) + 4
	}
	joined := append(make([]byte, 0, size), '{')
	for _, m := range members {
		if len(m.value) == 0 {
			continue
		}
		if len(joined) > 1 {
			joined = append(joined, ',')
		}
		joined = append(append(append(joined, mustEncode(m.name)...), ':'), m.value...)
	}
	return append(joined, '}')
}

var version2 = member{"jsonrpc", []byte(`"2.0"`)}

func requestFrame(id []byte, method string, params []byte) []byte {
	return join(version2, member{"id", id}, member{"method", mustEncode(method)}, member{"params", params})
}

func resultFrame(id json.RawMessage, result []byte) []byte {
	return join(version2, member{"id", id}, member{"result", result})
}

// errorFrame returns an error response, without an id when that of the request is unreadable.
func errorFrame(id json.RawMessage, err *RPCError) []byte {
	return rawErrorFrame(id, mustEncode(err))
}

func rawErrorFrame(id json.RawMessage, err []byte) []byte {
	return join(version2, member{"id", id}, member{"error", err})
}
