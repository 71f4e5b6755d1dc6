package cohere

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Decode refuses a body that is not a JSON object, or has members of another type than documented. Tool messages that
// follow each other are one turn of the user.
func (chat) Decode(r *http.Request, body []byte) (*dialect.Request, *dialect.Error) {
	q, refused := api.Read(body)
	if refused != nil {
		return nil, refused
	}
	req := &dialect.Request{
		Dialect: dialect.CohereChat, Model: q.Text("model"), ToolChoice: strings.ToLower(q.Text("tool_choice")),
		MaxTokens: q.Integer("max_tokens"), Temperature: q.Number("temperature"), StopSequences: q.Strings("stop_sequences"),
		Stream: q.Bool("stream"), Body: body, Header: r.Header, Decoded: q,
	}
	var system []string
	inResults := false // the last turn consists of tool messages
	all := q.List("messages")
	for i := range all {
		m := &all[i]
		wasInResults := inResults
		inResults = m.Kind == "tool"
		switch {
		case m.Kind == "system":
			system = append(system, dialect.PlainText(blocks(m)))
		case inResults:
			if !wasInResults {
				req.Messages = append(req.Messages, dialect.Message{Role: dialect.User, Path: m.Path})
			}
			turn := &req.Messages[len(req.Messages)-1]
			turn.Content = append(turn.Content, dialect.Block{Type: dialect.ToolResult, ID: m.Text("tool_call_id"),
				Content: blocks(m), Raw: m.JSON, Path: m.Path})
		default:
			role := dialect.Role(m.Kind) // Check refuses an unknown role; the journal keeps it
			req.Messages = append(req.Messages, dialect.Message{Role: role, Content: blocks(m), Path: m.Path})
		}
	}
	req.System = strings.Join(system, "\n\n")
	for _, t := range q.List("tools") {
		function := t.At("function")
		req.Tools = append(req.Tools, dialect.Tool{Name: function.Text("name"), Description: function.Text("description"),
			InputSchema: function.Raw("parameters"), Path: t.Path})
	}
	return req, nil
}

// blocks returns a message's plan, content and calls.
func blocks(m *node) (all []dialect.Block) {
	for _, name := range []string{"tool_plan", "content"} {
		if text := m.Text(name); text != "" {
			all = append(all, dialect.Block{Type: dialect.Text, Text: text, Path: m.Path + "." + name})
		}
	}
	for _, p := range m.List("content") {
		all = append(all, block(&p))
	}
	for _, c := range m.List("tool_calls") {
		function := c.At("function")
		all = append(all, dialect.Block{Type: dialect.ToolUse, ID: c.Text("id"), Name: function.Text("name"),
			Input: json.RawMessage(function.Text("arguments")), Raw: c.JSON, Path: c.Path})
	}
	return all
}

// block reads a part. The data of a document is a text, or an object that becomes one. Unknown parts become Other.
func block(p *node) dialect.Block {
	b := dialect.Block{Type: dialect.Other, Raw: p.JSON, Path: p.Path}
	switch p.Kind {
	case "text":
		b.Type, b.Text = dialect.Text, p.Text("text")
	case "thinking":
		b.Type, b.Text = dialect.Thinking, p.Text("thinking")
	case "document":
		data := p.Object("document").Raw("data")
		text, isText := jsonvalue.TextOf(data)
		if !isText {
			text = string(data)
		}
		b.Type, b.Text = dialect.Text, text
	case "image_url":
		b.Type = dialect.Image
		address := p.Object("image_url").Text("url")
		kind, encoded, isData := strings.Cut(strings.TrimPrefix(address, "data:"), ";base64,")
		data, err := base64.StdEncoding.DecodeString(encoded)
		if isData && err == nil {
			b.MimeType, b.Data = kind, data
		} else {
			b.Text = address
		}
	}
	return b
}
