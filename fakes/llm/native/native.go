// Package native is the dialect of adapters: POST an MCP CreateMessageRequestParams to /native, and the answer is a
// CreateMessageResult. An adapter in any language is then a few lines, with no provider's format between client and model.
//
// It is lenient about histories and roles on purpose: a client must refuse them itself, and an adapter that hands
// everything on must not pass because we refused in its place.
package native

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Codec speaks the native dialect. It never streams.
var Codec dialect.Codec = codec{}

// DefaultModel is the model's name for a request that hints at none.
const DefaultModel = "scripted-model"

type codec struct{}

func (codec) Name() string       { return dialect.Native }
func (codec) Patterns() []string { return []string{"POST /native"} }

// Check finds no fault: see the package's comment.
func (codec) Check(*dialect.Request) *dialect.Error { return nil }

// result is a CreateMessageResult of MCP 2025-11-25 and later, where content is a block or an array of blocks.
type result struct {
	Role       dialect.Role       `json:"role"`
	Content    any                `json:"content"`
	Model      string             `json:"model"`
	StopReason dialect.StopReason `json:"stopReason"`
}

// Encode writes a single block for exactly one text, and for an empty completion, which clients of every revision can read, and an
// array otherwise. What the model only thinks has no block in MCP.
func (codec) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	said := slices.DeleteFunc(slices.Clone(reply.Content), func(b dialect.Block) bool { return b.Type == dialect.Thinking })
	blocks := make([]any, len(said))
	for i, b := range said {
		blocks[i] = block(b, dialect.MintID("call_", 24, reply.Serial, i))
	}
	r := result{Role: dialect.Assistant, Content: blocks, Model: reply.Model, StopReason: reply.Reason()}
	switch {
	case len(blocks) == 0:
		r.Content = block(dialect.Block{Type: dialect.Text}, "")
	case len(blocks) == 1 && said[0].Type == dialect.Text:
		r.Content = blocks[0]
	}
	if r.Model == "" {
		r.Model = req.Model
	}
	return answer(http.StatusOK, r)
}

// block returns a block in the shape of MCP. A block with Raw is sent as it is.
func block(b dialect.Block, id string) any {
	if json.Valid(b.Raw) {
		return b.Raw
	}
	switch b.Type {
	case dialect.Text:
		return struct {
			Type dialect.BlockType `json:"type"`
			Text string            `json:"text"`
		}{b.Type, b.Text}
	case dialect.ToolUse:
		if b.ID != "" {
			id = b.ID
		}
		return struct {
			Type  dialect.BlockType `json:"type"`
			ID    string            `json:"id"`
			Name  string            `json:"name"`
			Input json.RawMessage   `json:"input"`
		}{b.Type, id, b.Name, input(b.Input)}
	}
	return struct {
		Type     dialect.BlockType `json:"type"`
		Data     []byte            `json:"data"`
		MimeType string            `json:"mimeType"`
	}{b.Type, b.Data, b.MimeType}
}

// input returns a tool use's arguments as JSON. Arguments that are no JSON become a string: wrong on the wire, as they are
// wrong from the model.
func input(arguments json.RawMessage) json.RawMessage {
	switch {
	case len(bytes.TrimSpace(arguments)) == 0:
		return json.RawMessage("{}")
	case json.Valid(arguments):
		return arguments
	}
	return dialect.Marshal(string(arguments))
}

// EncodeError writes a JSON-RPC error object under "error". Its code is the error's Code where that is a number,
// -32602 (invalid params) for a 400, and -32603 (internal error) otherwise.
func (codec) EncodeError(e *dialect.Error) dialect.Answer {
	code, err := strconv.Atoi(e.Code)
	switch {
	case err == nil:
	case e.Status == http.StatusBadRequest:
		code = -32602
	default:
		code = -32603
	}
	type rpcError struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	a := answer(e.Status, map[string]rpcError{"error": {code, e.Message}})
	maps.Copy(a.Header, e.Header)
	return a
}

// EncodeErrorEvent has nothing to write: the dialect has no streams.
func (codec) EncodeErrorEvent(*dialect.Request, *dialect.Reply, int, *dialect.Error) []byte {
	return nil
}

func answer(status int, v any) dialect.Answer {
	return dialect.Answer{
		Status: status,
		Header: http.Header{"Content-Type": {"application/json"}},
		Chunks: [][]byte{dialect.Marshal(v)},
	}
}
