package native

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Decode refuses only a body that is not a JSON object or whose messages are not an array. Members of a wrong type
// count as absent, and unreadable blocks become Other: checks judge what a client sends.
func (codec) Decode(r *http.Request, body []byte) (*dialect.Request, *dialect.Error) {
	if !jsonvalue.IsKind(bytes.TrimSpace(body), '{') || !json.Valid(body) {
		return nil, refuse("the body is not a JSON object: expected the params of sampling/createMessage")
	}
	req := Read(body)
	if req == nil {
		return nil, refuse("messages is not an array")
	}
	req.Header = r.Header
	return req, nil
}

// Read reads params that are valid JSON as [Codec] does; nil if they are not an object or messages is not an array. The
// request shares memory with them.
func Read(body json.RawMessage) *dialect.Request {
	var params jsonvalue.Members
	var messages []json.RawMessage
	if jsonvalue.ReadPart(bytes.TrimSpace(body), &params) != nil || params == nil ||
		params.Read("messages", &messages) != nil {
		return nil
	}
	req := &dialect.Request{
		Dialect:    dialect.Native,
		Model:      model(params),
		System:     params.Text("systemPrompt"),
		ToolChoice: toolChoice(params),
		Body:       body,
	}
	for i, raw := range messages {
		req.Messages = append(req.Messages, message(raw, fmt.Sprintf("messages[%d]", i)))
	}
	var tools []json.RawMessage
	_ = params.Read("tools", &tools) // a wrong type counts as absent
	for i, raw := range tools {
		var t jsonvalue.Members
		_ = jsonvalue.ReadPart(raw, &t)
		req.Tools = append(req.Tools, dialect.Tool{
			Name: t.Text("name"), Description: t.Text("description"), InputSchema: t.Raw("inputSchema"),
			Path: fmt.Sprintf("tools[%d]", i),
		})
	}
	req.MaxTokens = optional[int64](params, "maxTokens")
	req.Temperature = optional[float64](params, "temperature")
	_ = params.Read("stopSequences", &req.StopSequences)
	return req
}

// Blocks reads the content of a message or a result, an array of blocks or one block; nil for null and for nothing. It
// must be valid JSON. Paths begin with content.
func Blocks(raw json.RawMessage) []dialect.Block { return content(raw, "content", false) }

func refuse(message string) *dialect.Error {
	return &dialect.Error{Status: http.StatusBadRequest, Message: message}
}

// optional returns nil for a member that is absent or of another type.
func optional[T any](o jsonvalue.Members, name string) *T {
	v := new(T)
	if !o.Has(name) || o.Read(name, v) != nil {
		return nil
	}
	return v
}

// model returns the first hint: hints are in order of preference.
func model(params jsonvalue.Members) string {
	var preferences jsonvalue.Members
	var hints []jsonvalue.Members
	_ = params.Read("modelPreferences", &preferences)
	_ = preferences.Read("hints", &hints)
	for _, hint := range hints {
		if name := hint.Text("name"); name != "" {
			return name
		}
	}
	return DefaultModel
}

// toolChoice returns the mode; an empty choice means auto (2025-11-25, schema ToolChoice).
func toolChoice(params jsonvalue.Members) string {
	choice := optional[jsonvalue.Members](params, "toolChoice")
	switch {
	case choice == nil:
		return ""
	case !choice.Has("mode"):
		return dialect.ChoiceAuto
	}
	return choice.Text("mode")
}

func message(raw json.RawMessage, path string) dialect.Message {
	var m jsonvalue.Members
	if jsonvalue.ReadPart(raw, &m) != nil {
		return dialect.Message{Path: path, Content: []dialect.Block{{Type: dialect.Other, Raw: raw, Path: path}}}
	}
	return dialect.Message{Role: dialect.Role(m.Text("role")), Path: path,
		Content: content(m.Raw("content"), path+".content", false)}
}

func content(raw json.RawMessage, path string, inResult bool) []dialect.Block {
	if !jsonvalue.IsGiven(raw) {
		return nil
	}
	var several []json.RawMessage
	if jsonvalue.ReadPart(raw, &several) != nil {
		return []dialect.Block{readBlock(raw, path, inResult)}
	}
	blocks := make([]dialect.Block, len(several))
	for i, raw := range several {
		blocks[i] = readBlock(raw, fmt.Sprintf("%s[%d]", path, i), inResult)
	}
	return blocks
}

// readBlock reads a block. A result inside a result, which MCP does not have, becomes Other, so nesting is bounded.
func readBlock(raw json.RawMessage, path string, inResult bool) dialect.Block {
	b := dialect.Block{Type: dialect.Other, Raw: raw, Path: path}
	var o jsonvalue.Members
	if jsonvalue.ReadPart(raw, &o) != nil {
		return b
	}
	switch t := dialect.BlockType(o.Text("type")); t {
	case dialect.Text:
		b.Type, b.Text = t, o.Text("text")
	case dialect.Image, dialect.Audio:
		b.Type, b.MimeType = t, o.Text("mimeType")
		if text, isText := jsonvalue.TextOf(o.Raw("data")); isText {
			if data, err := base64.StdEncoding.DecodeString(text); err == nil {
				b.Data = data
			}
		}
	case dialect.ToolUse:
		b.Type, b.ID, b.Name, b.Input = t, o.Text("id"), o.Text("name"), o.Raw("input")
	case dialect.ToolResult:
		if !inResult {
			b.Type, b.ID, b.Content = t, o.Text("toolUseId"), content(o.Raw("content"), path+".content", true)
			_ = o.Read("isError", &b.IsError)
		}
	}
	return b
}
