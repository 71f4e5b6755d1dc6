package anthropic

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Decode refuses a body that is not a JSON object, or has members of another type than documented. As for the model,
// consecutive messages of one role are one turn, system messages are part of the prompt, and an empty last assistant
// message is dropped.
func (messages) Decode(r *http.Request, body []byte) (*dialect.Request, *dialect.Error) {
	q, refused := parse(body)
	if refused != nil {
		return nil, refused
	}
	req := &dialect.Request{
		Dialect: dialect.Anthropic, Model: q.Text("model"), ToolChoice: q.toolChoice(),
		MaxTokens: q.Integer("max_tokens"), Temperature: q.Number("temperature"),
		StopSequences: q.Strings("stop_sequences"), Stream: q.Bool("stream"),
		Body: body, Header: r.Header, URL: r.URL, Decoded: q,
	}
	var system []string
	for _, b := range q.system {
		system = append(system, b.text)
	}
	for i, m := range q.messages {
		if m.role == "system" {
			for _, b := range m.content {
				system = append(system, b.text)
			}
			continue
		}
		if m.role == "assistant" && m.empty() && i == len(q.messages)-1 {
			continue
		}
		role := dialect.Role(m.role) // Check refuses an unknown role; the journal keeps it
		last := len(req.Messages) - 1
		if last < 0 || req.Messages[last].Role != role {
			req.Messages = append(req.Messages, dialect.Message{Role: role, Path: m.Path})
			last++
		}
		req.Messages[last].Content = append(req.Messages[last].Content, neutral(m.content)...)
	}
	req.System = strings.Join(system, "\n\n")
	for _, t := range q.List("tools") {
		req.Tools = append(req.Tools, dialect.Tool{Name: t.Text("name"), Description: t.Text("description"),
			InputSchema: t.Raw("input_schema"), Path: t.Path})
	}
	return req, nil
}

// toolChoice returns the mode, "tool:NAME" for one tool, or an unknown value unchanged.
func (q *request) toolChoice() string {
	switch kind := q.choice(); kind {
	case "any":
		return dialect.ChoiceRequired
	case "tool":
		return "tool:" + q.At("tool_choice").Text("name")
	default:
		return kind
	}
}

func neutral(content []block) []dialect.Block {
	var blocks []dialect.Block
	for _, b := range content {
		blocks = append(blocks, b.neutral())
	}
	return blocks
}

// neutral reads a block. Documents, redacted thinking, blocks of the provider's own tools and unknown blocks become
// Other.
func (b *block) neutral() dialect.Block {
	n := dialect.Block{Type: dialect.Other, Raw: b.raw, Path: b.path}
	switch b.kind {
	case "text":
		n.Type, n.Text = dialect.Text, b.text
	case "thinking":
		n.Type, n.Text, n.Signature = dialect.Thinking, b.text, b.Text("signature")
	case "image":
		n.Type = dialect.Image
		source := b.Object("source")
		switch source.Text("type") {
		case "base64":
			n.MimeType = source.Text("media_type")
			n.Data, _ = base64.StdEncoding.DecodeString(source.Text("data")) // Check refuses invalid base64
		case "url":
			n.Text = source.Text("url")
		case "file":
			n.Text = source.Text("file_id")
		}
	case "tool_use":
		n.Type, n.ID, n.Name, n.Input = dialect.ToolUse, b.id, b.Text("name"), b.Raw("input")
	case "tool_result":
		n.Type, n.ID, n.IsError, n.Content = dialect.ToolResult, b.id, b.Bool("is_error"), neutral(b.content)
	}
	return n
}
