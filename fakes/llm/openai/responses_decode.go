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
		Dialect: dialect.OpenAIResponses, Model: q.Text("model"), ToolChoice: toolChoice(q.Members, true),
		MaxTokens: q.Integer("max_output_tokens"), Temperature: q.Number("temperature"), Stream: q.Bool("stream"),
		Body: body, Header: r.Header, Decoded: q,
	}
	var system []string
	if text := q.Text("instructions"); text != "" {
		system = append(system, text)
	}
	if q.IsText("input") {
		said := []dialect.Block{{Type: dialect.Text, Text: q.Text("input"), Path: "input"}}
		req.Messages = []dialect.Message{{Role: dialect.User, Content: said, Path: "input"}}
	}
	last := "" // kind of the last message: results or assistant
	items := q.List("input")
	for i := range items {
		it := &items[i]
		role, turn := speaker(it)
		if role == "system" || role == "developer" {
			system = append(system, dialect.PlainText(itemBlocks(it)))
			last = ""
			continue
		}
		if turn == "" || turn != last {
			req.Messages = append(req.Messages, dialect.Message{Role: role, Path: it.Path})
		}
		m := &req.Messages[len(req.Messages)-1]
		m.Content = append(m.Content, itemBlocks(it)...)
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
func speaker(it *node) (role dialect.Role, turn string) {
	switch {
	case it.Kind == "message" && it.Text("role") == string(dialect.Assistant):
		return dialect.Assistant, it.Text("role")
	case it.Kind == "message":
		return dialect.Role(it.Text("role")), ""
	case strings.HasSuffix(it.Kind, "_output"):
		return dialect.User, "results"
	}
	return dialect.Assistant, string(dialect.Assistant)
}

// itemBlocks returns an item's blocks. Items without a neutral form become Other.
func itemBlocks(it *node) []dialect.Block {
	b := dialect.Block{Type: dialect.Other, ID: it.Text("id"), Raw: it.JSON, Path: it.Path}
	switch it.Kind {
	case "message":
		return itemContent(it)
	case "function_call", "custom_tool_call":
		c := toolCall{arguments: it.Raw("arguments")}
		if it.Kind == "custom_tool_call" {
			c.arguments = it.Raw("input")
		}
		b.Type, b.ID, b.Name, b.Input = dialect.ToolUse, it.Text("call_id"), it.Text("name"), c.input()
	case "function_call_output", "custom_tool_call_output":
		b.Type, b.ID, b.Name, b.Content = dialect.ToolResult, it.Text("call_id"), it.Text("name"), itemContent(it)
	case "reasoning":
		b.Type, b.Text, b.Signature = dialect.Thinking, dialect.PlainText(itemContent(it)), it.Text("encrypted_content")
	}
	return []dialect.Block{b}
}

func itemContent(it *node) []dialect.Block {
	var blocks []dialect.Block
	if member := contents[it.Kind]; it.IsText(member) {
		blocks = append(blocks, dialect.Block{Type: dialect.Text, Text: it.Text(member), Path: it.Path + "." + member})
	}
	for _, p := range it.List(contents[it.Kind]) {
		blocks = append(blocks, flatBlock(&p))
	}
	return blocks
}

// flatBlock reads a part of Responses. Files and unknown parts become Other.
func flatBlock(p *node) dialect.Block {
	b := dialect.Block{Type: dialect.Other, Raw: p.JSON, Path: p.Path}
	switch p.Kind {
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
		b.MimeType, b.Data = audioOf(p)
	}
	return b
}

func includes(req *dialect.Request, what string) bool {
	q, _ := dialect.Parsed(req, parseResponses)
	return q != nil && slices.Contains(q.Strings("include"), what) // nil for a hand-made request
}
