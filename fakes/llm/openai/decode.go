package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Decode refuses a body that is not a JSON object, or has members of another type than documented. It accepts arguments
// that are not a string; [chat.Check] refuses them.
// A legacy function call is a tool use without an id, and so is its result, which has the function's name.
func (c chat) Decode(r *http.Request, body []byte) (*dialect.Request, *dialect.Error) {
	q, refused := parse(body)
	if refused != nil {
		return nil, refused
	}
	req := &dialect.Request{
		Dialect: dialect.OpenAIChat, Model: cmp.Or(deployment(r.URL), q.Text("model")),
		ToolChoice: toolChoice(q.Members, false), Temperature: q.Number("temperature"), StopSequences: stops(q.node),
		MaxTokens: cmp.Or(q.Integer("max_completion_tokens"), q.Integer("max_tokens")), Stream: q.Bool("stream"),
		Body: body, Header: r.Header, Decoded: q,
	}
	if c.isMistral && req.ToolChoice == "any" {
		req.ToolChoice = dialect.ChoiceRequired
	}
	req.Messages = slices.Grow(req.Messages, len(q.messages))
	var system []string
	inResults := false // the last turn consists of tool messages
	for i := range q.messages {
		m := &q.messages[i]
		wasInResults := inResults
		inResults = m.Kind == "tool" || m.Kind == "function"
		switch {
		case m.Kind == "system" || m.Kind == "developer":
			system = append(system, dialect.PlainText(m.blocks()))
		case inResults:
			if !wasInResults {
				req.Messages = append(req.Messages, dialect.Message{Role: dialect.User, Path: m.Path})
			}
			turn := &req.Messages[len(req.Messages)-1]
			turn.Content = append(turn.Content, dialect.Block{
				Type: dialect.ToolResult, ID: m.Text("tool_call_id"), Name: m.Text("name"), Content: m.blocks(),
				Raw: m.JSON, Path: m.Path})
		default:
			role := dialect.Role(m.Kind) // Check refuses an unknown role; the journal keeps it
			req.Messages = append(req.Messages, dialect.Message{Role: role, Content: m.blocks(), Path: m.Path})
		}
	}
	req.System = strings.Join(system, "\n\n")
	for _, t := range q.tools {
		req.Tools = append(req.Tools, dialect.Tool{
			Name: t.name, Description: t.description, InputSchema: t.parameters, Path: t.path})
	}
	return req, nil
}

// toolChoice returns the mode, "tool:NAME" for one tool, or an unknown value unchanged. In Chat Completions an inner
// object describes the choice: {"type":"function","function":{…}}. In Responses it is flat.
func toolChoice(q jsonvalue.Members, flat bool) string {
	var mode string
	var choice jsonvalue.Members
	if q.Has("function_call") {
		return functionCall(q)
	}
	switch {
	case !q.Has("tool_choice"):
		return ""
	case q.Read("tool_choice", &mode) == nil:
		return mode
	case q.Read("tool_choice", &choice) == nil:
		kind := choice.Text("type")
		if !flat {
			choice = choice.Object(kind)
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

// stops returns the stop sequences: a string or several.
func stops(q *node) []string {
	if q.IsText("stop") {
		return []string{q.Text("stop")}
	}
	return q.Strings("stop")
}

// reasoningOf returns the thinking in a message of compatible servers.
func reasoningOf(m *node) string { return cmp.Or(m.Text("reasoning_content"), m.Text("reasoning")) }

// blocks returns a message's content and calls.
func (m *message) blocks() (all []dialect.Block) {
	add := func(kind dialect.BlockType, text, member string) {
		all = append(all, dialect.Block{Type: kind, Text: text, Path: m.Path + member})
	}
	if text := reasoningOf(m.node); text != "" {
		add(dialect.Thinking, text, "")
	}
	if m.IsText("content") {
		add(dialect.Text, m.Text("content"), ".content")
	}
	for _, p := range m.List("content") {
		all = append(all, chatBlock(&p))
	}
	if m.Has("refusal") {
		add(dialect.Text, m.Text("refusal"), ".refusal")
	}
	for _, c := range m.calls {
		all = append(all, dialect.Block{
			Type: dialect.ToolUse, ID: c.id, Name: c.name, Input: c.input(), Raw: c.raw, Path: c.path})
	}
	return all
}

func (c *toolCall) input() json.RawMessage {
	if text, isText := jsonvalue.TextOf(c.arguments); isText {
		return json.RawMessage(text)
	}
	return c.arguments
}

// imageURL returns the URL of an image, which Mistral also accepts as a string.
func imageURL(p *node) string {
	if url := p.Text("image_url"); url != "" {
		return url
	}
	return p.Object("image_url").Text("url")
}

// chatBlock reads a part. Files and unknown parts become Other. Mistral's thinking is an array of texts.
func chatBlock(p *node) dialect.Block {
	b := dialect.Block{Type: dialect.Other, Raw: p.JSON, Path: p.Path}
	switch kind := p.Kind; kind {
	case "text", "refusal":
		b.Type, b.Text = dialect.Text, p.Text(kind)
	case "image_url":
		b.Type = dialect.Image
		url := imageURL(p)
		mimeType, data, err := dataURI(url)
		if err == nil {
			b.MimeType, b.Data = mimeType, data
		} else {
			b.Text = url
		}
	case "thinking":
		b.Type, b.Text = dialect.Thinking, textOf(p.Raw("thinking"))
	case "input_audio":
		b.Type = dialect.Audio
		b.MimeType, b.Data = audioOf(p)
	}
	return b
}

// audioOf returns the type and the data of a sound. The data are nil if they are not base64.
func audioOf(p *node) (mimeType string, data []byte) {
	audio := p.Object("input_audio")
	if mimeType = "audio/" + audio.Text("format"); mimeType == "audio/mp3" {
		mimeType = "audio/mpeg"
	}
	data, err := base64.StdEncoding.DecodeString(audio.Text("data"))
	if err != nil {
		return mimeType, nil
	}
	return mimeType, data
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
