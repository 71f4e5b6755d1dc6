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
	q, refused := parse(body)
	if refused != nil {
		return nil, refused
	}
	req := &dialect.Request{
		Dialect: dialect.CohereChat, Model: q.model, ToolChoice: strings.ToLower(q.choice), MaxTokens: q.maxTokens,
		Temperature: q.temperature, StopSequences: q.stops, Stream: q.stream, Body: body, Header: r.Header, Decoded: q,
	}
	var system []string
	inResults := false // the last turn consists of tool messages
	for i := range q.messages {
		m := &q.messages[i]
		wasInResults := inResults
		inResults = m.role == "tool"
		switch {
		case m.role == "system":
			system = append(system, dialect.PlainText(m.blocks()))
		case inResults:
			if !wasInResults {
				req.Messages = append(req.Messages, dialect.Message{Role: dialect.User, Path: m.path})
			}
			turn := &req.Messages[len(req.Messages)-1]
			turn.Content = append(turn.Content, dialect.Block{
				Type: dialect.ToolResult, ID: m.id, Content: m.blocks(), Raw: m.raw, Path: m.path})
		default:
			role := dialect.Role(m.role) // Check refuses an unknown role; the journal keeps it
			req.Messages = append(req.Messages, dialect.Message{Role: role, Content: m.blocks(), Path: m.path})
		}
	}
	req.System = strings.Join(system, "\n\n")
	for _, t := range q.tools {
		req.Tools = append(req.Tools, dialect.Tool{
			Name: t.name, Description: t.description, InputSchema: t.function.Raw("parameters"), Path: t.path})
	}
	return req, nil
}

// blocks returns a message's content, plan and calls.
func (m *message) blocks() (all []dialect.Block) {
	if m.plan != "" {
		all = append(all, dialect.Block{Type: dialect.Text, Text: m.plan, Path: m.path + ".tool_plan"})
	}
	if m.text != "" {
		all = append(all, dialect.Block{Type: dialect.Text, Text: m.text, Path: m.path + ".content"})
	}
	for i := range m.parts {
		all = append(all, m.parts[i].block())
	}
	for _, c := range m.calls {
		all = append(all, dialect.Block{Type: dialect.ToolUse, ID: c.id, Name: c.name, Input: json.RawMessage(c.argument),
			Raw: c.raw, Path: c.path})
	}
	return all
}

// block reads a part. The data of a document is a text, or an object that becomes one. Unknown parts become Other.
func (p *part) block() dialect.Block {
	b := dialect.Block{Type: dialect.Other, Text: p.text, Raw: p.raw, Path: p.path}
	switch p.kind {
	case "text":
		b.Type = dialect.Text
	case "thinking":
		b.Type = dialect.Thinking
	case "document":
		data := p.inner.Raw("data")
		text, isText := jsonvalue.TextOf(data)
		if !isText {
			text = string(data)
		}
		b.Type, b.Text = dialect.Text, text
	case "image_url":
		b.Type = dialect.Image
		address := p.inner.Text("url")
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
