package openai

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Decode refuses a body that is not a JSON object, or has members of another type than documented. Consecutive items of
// the assistant are one turn, and so are consecutive results. A tool that the provider runs has its type as name.
func (responses) Decode(r *http.Request, body []byte) (*dialect.Request, *dialect.Error) {
	q, refused := parseResponses(body)
	if refused != nil {
		return nil, refused
	}
	req := &dialect.Request{
		Dialect: dialect.OpenAIResponses, Model: q.model, ToolChoice: toolChoice(q.Members, true), MaxTokens: q.maxTokens,
		Temperature: q.temperature,
		Stream:      q.stream, Body: body, Header: r.Header, Decoded: q,
	}
	var system []string
	if q.instructions != "" {
		system = append(system, q.instructions)
	}
	if q.prompt != nil {
		said := []dialect.Block{{Type: dialect.Text, Text: *q.prompt, Path: "input"}}
		req.Messages = []dialect.Message{{Role: dialect.User, Content: said, Path: "input"}}
	}
	last := "" // kind of the last message: results or assistant
	for i := range q.items {
		it := &q.items[i]
		role, turn := it.speaker()
		if role == "system" || role == "developer" {
			system = append(system, dialect.PlainText(it.blocks()))
			last = ""
			continue
		}
		if turn == "" || turn != last {
			req.Messages = append(req.Messages, dialect.Message{Role: role, Path: it.path})
		}
		m := &req.Messages[len(req.Messages)-1]
		m.Content = append(m.Content, it.blocks()...)
		last = turn
	}
	req.System = strings.Join(system, "\n\n")
	for _, t := range q.tools {
		offered := dialect.Tool{Name: t.name, Description: t.description, InputSchema: t.parameters, Path: t.path}
		if hostedTools[t.kind] {
			offered.Name = t.kind
		}
		req.Tools = append(req.Tools, offered)
	}
	return req, nil
}

// speaker returns an item's role, and the kind of turn that it may join; "" for a turn of its own.
func (it *item) speaker() (role dialect.Role, turn string) {
	switch {
	case it.kind == "message" && it.role == string(dialect.Assistant):
		return dialect.Assistant, it.role
	case it.kind == "message":
		return dialect.Role(it.role), ""
	case strings.HasSuffix(it.kind, "_output"):
		return dialect.User, "results"
	}
	return dialect.Assistant, string(dialect.Assistant)
}

// blocks returns an item's blocks. Items without a neutral form become Other.
func (it *item) blocks() []dialect.Block {
	switch it.kind {
	case "message":
		return it.content()
	case "function_call", "custom_tool_call":
		member := "arguments"
		if it.kind == "custom_tool_call" {
			member = "input"
		}
		c := toolCall{arguments: it.Raw(member)}
		return []dialect.Block{{Type: dialect.ToolUse, ID: it.callID, Name: it.name, Input: c.input(), Raw: it.raw,
			Path: it.path}}
	case "function_call_output", "custom_tool_call_output":
		return []dialect.Block{{Type: dialect.ToolResult, ID: it.callID, Name: it.name, Content: it.content(), Raw: it.raw,
			Path: it.path}}
	case "reasoning":
		return []dialect.Block{{
			Type: dialect.Thinking, ID: it.id, Text: dialect.PlainText(it.content()), Signature: it.Text("encrypted_content"),
			Raw: it.raw, Path: it.path,
		}}
	}
	return []dialect.Block{{Type: dialect.Other, ID: it.id, Raw: it.raw, Path: it.path}}
}

func (it *item) content() []dialect.Block {
	var blocks []dialect.Block
	if it.text != nil {
		blocks = append(blocks, dialect.Block{Type: dialect.Text, Text: *it.text, Path: it.path + "." + contents[it.kind]})
	}
	for _, p := range it.parts {
		blocks = append(blocks, p.flatBlock())
	}
	return blocks
}

// flatBlock reads a part of Responses. Files and unknown parts become Other.
func (p *part) flatBlock() dialect.Block {
	b := dialect.Block{Type: dialect.Other, Raw: p.raw, Path: p.path}
	switch kind := p.Text("type"); kind {
	case "input_text", "output_text", "summary_text":
		b.Type, b.Text = dialect.Text, p.Text("text")
	case "refusal":
		b.Type, b.Text = dialect.Text, p.Text("refusal")
	case "input_image":
		b.Type = dialect.Image
		url := p.Text("image_url")
		mimeType, data, err := dataURI(url)
		switch {
		case err == nil:
			b.MimeType, b.Data = mimeType, data
		case url == "":
			b.Text = p.Text("file_id")
		default:
			b.Text = url
		}
	case "input_audio":
		b.Type = dialect.Audio
		b.MimeType, b.Data = p.audio()
	}
	return b
}

func includes(req *dialect.Request, what string) bool {
	q, _ := dialect.Parsed(req, parseResponses)
	return q != nil && slices.Contains(q.include, what) // nil for a hand-made request
}
