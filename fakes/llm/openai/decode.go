package openai

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Decode refuses a body that is not a JSON object, or has members of another type than documented. It accepts arguments
// that are not a string; [chat.Check] refuses them.
func (chat) Decode(r *http.Request, body []byte) (*dialect.Request, *dialect.Error) {
	q, refused := parse(body)
	if refused != nil {
		return nil, refused
	}
	req := &dialect.Request{
		Dialect: dialect.OpenAIChat, Model: q.model, ToolChoice: toolChoice(q.Members, false), MaxTokens: q.maxCompleted,
		Temperature:   q.temperature,
		StopSequences: q.stop, Stream: q.stream, Body: body, Header: r.Header, Decoded: q,
	}
	if req.MaxTokens == nil {
		req.MaxTokens = q.maxTokens
	}
	if len(q.messages) > 0 {
		req.Messages = make([]dialect.Message, 0, len(q.messages))
	}
	n := q.blocks()
	memory := make(blocks, n+q.results())
	all, results := memory[:0:n], memory[n:n]
	var buffer [2]string
	system := buffer[:0]
	inResults := false // the last turn consists of tool messages
	for i := range q.messages {
		m := &q.messages[i]
		wasInResults := inResults
		inResults = m.role == "tool"
		switch {
		case m.role == "system" || m.role == "developer":
			system = append(system, dialect.PlainText(all.of(m)))
		case inResults:
			result := dialect.Block{Type: dialect.ToolResult, ID: m.toolCallID, Content: all.of(m), Raw: m.raw, Path: m.path}
			if !wasInResults {
				results = results[len(results):]
				req.Messages = append(req.Messages, dialect.Message{Role: dialect.User, Path: m.path})
			}
			results = append(results, result)
			req.Messages[len(req.Messages)-1].Content = results[:len(results):len(results)]
		default:
			role := dialect.Role(m.role) // Check refuses an unknown role; the journal keeps it
			req.Messages = append(req.Messages, dialect.Message{Role: role, Content: all.of(m), Path: m.path})
		}
	}
	req.System = strings.Join(system, "\n\n")
	if len(q.tools) > 0 {
		req.Tools = make([]dialect.Tool, len(q.tools))
	}
	for i := range q.tools {
		t := &q.tools[i]
		req.Tools[i] = dialect.Tool{Name: t.name, Description: t.description, InputSchema: t.parameters, Path: t.path}
	}
	return req, nil
}

// toolChoice returns the mode, "tool:NAME" for one tool, or an unknown value unchanged. In Chat Completions an inner
// object describes the choice: {"type":"function","function":{…}}. In Responses it is flat.
func toolChoice(q dialect.Members, flat bool) string {
	var mode string
	var choice dialect.Members
	switch {
	case !q.Has("tool_choice"):
		return ""
	case q.Read("tool_choice", &mode) == nil:
		return mode
	case q.Read("tool_choice", &choice) == nil:
		kind := choice.Text("type")
		if !flat {
			inner := choice
			choice = nil
			_ = inner.Read(kind, &choice)
		}
		switch kind {
		case "function", "custom":
			return "tool:" + choice.Text("name")
		case "allowed_tools":
			return choice.Text("mode")
		}
	}
	return string(q.Raw("tool_choice"))
}

func (q *request) results() int {
	n := 0
	for i := range q.messages {
		if q.messages[i].role == "tool" {
			n++
		}
	}
	return n
}

// blocks holds the blocks of several messages in one allocation.
type blocks []dialect.Block

func (q *request) blocks() int {
	n := 0
	for i := range q.messages {
		m := &q.messages[i]
		n += len(m.parts) + len(m.calls)
		if m.hasText {
			n++
		}
		if m.refusal != nil {
			n++
		}
	}
	return n
}

// of adds and returns a message's content and calls.
func (all *blocks) of(m *message) []dialect.Block {
	begin := len(*all)
	add := func(b dialect.Block) { *all = append(*all, b) }
	if m.hasText {
		add(dialect.Block{Type: dialect.Text, Text: m.text, Path: m.paths.content})
	}
	for i := range m.parts {
		add(m.parts[i].block())
	}
	if m.refusal != nil {
		add(dialect.Block{Type: dialect.Text, Text: *m.refusal, Path: m.path + ".refusal"})
	}
	for i := range m.calls {
		c := &m.calls[i]
		add(dialect.Block{Type: dialect.ToolUse, ID: c.id, Name: c.name, Input: c.input(), Raw: c.raw, Path: c.path})
	}
	end := len(*all)
	if begin == end {
		return nil
	}
	return (*all)[begin:end:end]
}

func (c *toolCall) input() json.RawMessage {
	text, isText := dialect.BytesOf(c.arguments)
	if !isText {
		return c.arguments
	}
	return text
}

// block reads a part. Files and unknown parts become Other.
func (p *part) block() dialect.Block {
	b := dialect.Block{Type: dialect.Other, Raw: p.raw, Path: p.path}
	kind := p.Text("type")
	var inner dialect.Members
	_ = p.Read(kind, &inner)
	switch kind {
	case "text", "refusal":
		b.Type, b.Text = dialect.Text, p.Text(kind)
	case "image_url":
		b.Type = dialect.Image
		mimeType, data, err := dataURI(inner.Text("url"))
		if err == nil {
			b.MimeType, b.Data = mimeType, data
		} else {
			b.Text = inner.Text("url")
		}
	case "input_audio":
		b.Type, b.MimeType = dialect.Audio, audioType(inner.Text("format"))
		b.Data, _ = base64.StdEncoding.DecodeString(inner.Text("data"))
	}
	return b
}

func audioType(format string) string {
	if format == "mp3" {
		return "audio/mpeg"
	}
	return "audio/" + format
}

// errNotData says that a URL is an address.
var errNotData = errors.New("not a data URI")

// dataURI reads data:TYPE;base64,DATA.
func dataURI(url string) (mimeType string, data []byte, err error) {
	rest, isData := strings.CutPrefix(url, "data:")
	if !isData {
		return "", nil, errNotData
	}
	mimeType, encoded, found := strings.Cut(rest, ";base64,")
	if !found {
		return "", nil, errors.New("a data URI without ;base64,")
	}
	data, err = base64.StdEncoding.DecodeString(encoded)
	return mimeType, data, err
}
