// Package native is the dialect of adapters: POST an MCP CreateMessageRequestParams to /native, and the answer is a
// CreateMessageResult. An adapter in any language is then a few lines, without a provider's format between client and
// model.
//
// It is lenient about histories and roles on purpose. A client must refuse invalid ones itself: an adapter that passes
// everything on must not succeed because this server refused in its place.
package native

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Codec speaks the native dialect. It never streams.
var Codec dialect.Codec = codec{}

// DefaultModel is the model's name if the request has no hint.
const DefaultModel = "scripted-model"

type codec struct{}

func (codec) Name() string       { return dialect.Native }
func (codec) Patterns() []string { return []string{"POST /native"} }

// Check accepts everything: see the package comment.
func (codec) Check(*dialect.Request) *dialect.Error { return nil }

// Encode writes a single block for exactly one text or an empty completion, which clients of every revision can read,
// else an array. It omits thinking, which has no block in MCP.
func (codec) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	visible := slices.DeleteFunc(slices.Clone(reply.Content),
		func(b dialect.Block) bool { return b.Type == dialect.Thinking })
	blocks := make([]json.RawMessage, len(visible))
	for i, b := range visible {
		blocks[i] = block(b, dialect.GenerateID("call_", 24, reply.Serial, i))
	}
	var content any = blocks
	switch {
	case len(blocks) == 0:
		content = block(dialect.Block{Type: dialect.Text}, "")
	case len(blocks) == 1 && visible[0].Type == dialect.Text:
		content = blocks[0]
	}
	return answer(http.StatusOK, jsonvalue.Ordered("role", "assistant", "content", content,
		"model", cmp.Or(reply.Model, req.Model), "stopReason", string(reply.Reason())))
}

// block returns a block in MCP's shape, or its Raw if valid.
func block(b dialect.Block, id string) json.RawMessage {
	kind := string(b.Type)
	switch {
	case json.Valid(b.Raw):
		return b.Raw
	case b.Type == dialect.Text:
		return jsonvalue.Ordered("type", kind, "text", b.Text)
	case b.Type == dialect.ToolUse:
		return jsonvalue.Ordered("type", kind, "id", cmp.Or(b.ID, id), "name", b.Name, "input", input(b.Input))
	}
	return jsonvalue.Ordered("type", kind, "data", b.Data, "mimeType", b.MimeType)
}

// input returns the arguments of a tool use as JSON. Invalid JSON becomes a string, which is invalid on the wire too.
func input(arguments json.RawMessage) json.RawMessage {
	switch {
	case len(bytes.TrimSpace(arguments)) == 0:
		return json.RawMessage("{}")
	case json.Valid(arguments):
		return arguments
	}
	return jsonvalue.Marshal(string(arguments))
}

// EncodeError writes a JSON-RPC error object under "error". Its code is the error's Code if numeric, -32602 (invalid
// params) for status 400, else -32603 (internal error).
func (codec) EncodeError(e *dialect.Error) dialect.Answer {
	code, err := strconv.Atoi(e.Code)
	switch {
	case err == nil:
	case e.Status == http.StatusBadRequest:
		code = -32602
	default:
		code = -32603
	}
	a := answer(e.Status, jsonvalue.Ordered("error", e.Object("code", code, "message", e.Message)))
	maps.Copy(a.Header, e.Header)
	return a
}

// EncodeErrorEvent returns nil: the dialect does not stream.
func (codec) EncodeErrorEvent(*dialect.Request, *dialect.Reply, int, *dialect.Error) []byte {
	return nil
}

func answer(status int, v any) dialect.Answer {
	return dialect.Answer{
		Status: status,
		Header: http.Header{"Content-Type": {"application/json"}},
		Chunks: [][]byte{jsonvalue.Marshal(v)},
	}
}
