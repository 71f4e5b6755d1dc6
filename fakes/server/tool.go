package server

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/toolschema"
)

// Tool is a tool that the server offers to the client, or that a sampling request offers to the model.
type Tool struct {
	// Name has 1 to 128 characters of A-Z, a-z, 0-9, "_", "-", "." (2025-11-25, server/tools#tool-names). The name of a
	// prompt may have any characters.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// InputSchema marshals to a JSON Schema of type object, in 2020-12 unless its $schema differs. Nil allows any
	// object.
	InputSchema any `json:"inputSchema"`
	// Annotations marshals to the tool's annotations, such as {"destructiveHint": true}; nil leaves them out.
	Annotations any `json:"annotations,omitempty"`
	// Handler runs when the client calls the tool. A tool of the server requires it.
	Handler Handler `json:"-"`
	// Carrier is the request that starts the handler: "" is tools/call. With [PromptsGet] or [ResourcesRead]
	// (2026-07-28) it is not a tool but the prompt of that name, or the resource at its [ResourceURI]; legacy revisions
	// do not offer it, and InputSchema is ignored.
	Carrier Carrier `json:"-"`
	// Mark is a word that [Session.Ask] adds to its texts, so that the model's side can tell conversations apart. May
	// be empty.
	Mark string `json:"-"`
	// Optional permits that the tool is never called, in a test with [New] or [NewWith].
	Optional bool `json:"-"`
	// ResponseMode selects how the server responds to calls of the tool; [Auto] is [Options.Responses].
	ResponseMode ResponseMode `json:"-"`
}

// MarshalJSON implements [json.Marshaler]: the tool as in tools/list and in sampling requests.
func (t Tool) MarshalJSON() ([]byte, error) {
	if t.InputSchema == nil {
		t.InputSchema = map[string]any{"type": "object", "properties": map[string]any{}} // OpenAI requires properties
	}
	type plain Tool
	return encode(plain(t))
}

// Handler is the code of a tool. Its value becomes the result of the call: a [CallToolResult] or [RawResult] as it is,
// a string or nil as text, anything else as the text of its JSON. A *[RPCError] as the value becomes an error response.
// An error becomes a result with isError, which the client's model can read. A handler runs on its own goroutine and
// should return when s.Context() is done.
type Handler func(s *Session) (any, error)

// CallToolResult is the result of a tools/call. In modern revisions the server adds its serverInfo to Meta.
type CallToolResult struct {
	Content           []any          `json:"content"`
	StructuredContent any            `json:"structuredContent,omitempty"`
	IsError           bool           `json:"isError,omitempty"`
	Meta              map[string]any `json:"_meta,omitempty"`

	raw      json.RawMessage // replaces all other fields
	refused  *RPCError       // in place of a result
	rawError json.RawMessage // likewise, as it was recorded
}

// RawResult is the result of a call, sent byte for byte, valid or not; the trace marks it as hostile.
type RawResult json.RawMessage

type serverTool struct {
	Tool
	index  int
	schema *toolschema.Schema
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func compileTool(t Tool, index int) (*serverTool, error) {
	if !toolName.MatchString(t.Name) && (t.Carrier != PromptsGet || t.Name == "") {
		return nil, fmt.Errorf("tool name %q: expected 1 to 128 characters of [A-Za-z0-9_.-]", t.Name)
	}
	if t.Handler == nil {
		return nil, fmt.Errorf("tool %s has no Handler", t.Name)
	}
	if !slices.Contains([]Carrier{"", PromptsGet, ResourcesRead}, t.Carrier) {
		return nil, fmt.Errorf("tool %s: unknown Carrier %q: expected %s, %s, or \"\" for tools/call",
			t.Name, t.Carrier, PromptsGet, ResourcesRead)
	}
	if t.InputSchema == nil {
		t.InputSchema = map[string]any{"type": "object"}
		return &serverTool{Tool: t, index: index, schema: toolschema.AnyObject()}, nil
	}
	raw, err := encode(t.InputSchema)
	if err == nil {
		var schema *toolschema.Schema
		if schema, err = toolschema.Compile(raw); err == nil {
			return &serverTool{Tool: t, index: index, schema: schema}, nil
		}
	}
	return nil, fmt.Errorf("input schema of tool %s: %w", t.Name, err)
}

// responses returns how the server responds to calls of the tool; nil is any other request.
func (s *Server) responses(t *serverTool) ResponseMode {
	if t != nil && t.ResponseMode != Auto {
		return t.ResponseMode
	}
	return s.opts.ResponseMode
}

// callResult turns the values of a handler into a CallToolResult.
func callResult(value any, err error) CallToolResult {
	if err != nil {
		return CallToolResult{Content: []any{Text(err.Error())}, IsError: true}
	}
	if v, ok := value.(*CallToolResult); ok && v != nil {
		value = *v
	}
	switch v := value.(type) {
	case CallToolResult:
		if v.Content == nil {
			v.Content = []any{}
		}
		return v
	case RawResult:
		return CallToolResult{raw: json.RawMessage(v)}
	case *RPCError:
		return CallToolResult{refused: v}
	case nil:
		return CallToolResult{Content: []any{}}
	case string:
		return CallToolResult{Content: []any{Text(v)}}
	}
	raw, err := encode(value)
	if err != nil {
		return callResult(nil, fmt.Errorf("the handler returned a %T that does not marshal to JSON: %w", value, err))
	}
	return CallToolResult{Content: []any{Text(string(raw))}}
}
