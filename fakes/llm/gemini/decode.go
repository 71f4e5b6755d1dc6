package gemini

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Decode refuses a path without model and method, a body that is not a JSON object, and fields of another kind than
// documented.
//
// A functionResponse is a tool result in a user's turn. Each string in its response becomes a text; if it has other
// values, its whole JSON follows as one more text. It is an error if the response has the member error, as the API
// documents. Ids are the request's own, possibly "": then calls and results belong together by name and order.
func (codec) Decode(r *http.Request, body []byte) (*dialect.Request, *dialect.Error) {
	to := targetOf(r.URL)
	if to.model == "" || to.method != generate && to.method != streamGenerate {
		return nil, &dialect.Error{Status: http.StatusNotFound, Message: fmt.Sprintf(
			"%s is not a method of a model: expected …/models/MODEL:%s or :%s"+dialect.OwnWords,
			r.URL.Path, generate, streamGenerate)}
	}
	q, reader := parse(body, to.vertex)
	if reader.err != nil {
		return nil, reader.err
	}
	config := q.at("generationConfig")
	req := &dialect.Request{
		Dialect: dialect.Gemini, Model: to.model, System: systemPrompt(q), ToolChoice: toolChoice(q),
		Temperature:   config.number("temperature"),
		StopSequences: config.strings("stopSequences"), Stream: to.method == streamGenerate, Body: body, Header: r.Header,
		URL:     r.URL,
		Decoded: parsed{q, reader},
	}
	if limit := config.number("maxOutputTokens"); limit != nil {
		tokens := int64(*limit)
		req.MaxTokens = &tokens
	}
	for _, c := range q.list("contents") {
		m := dialect.Message{Role: role(c), Path: c.path}
		for _, p := range c.list("parts") {
			m.Content = append(m.Content, p.block())
		}
		req.Messages = append(req.Messages, m)
	}
	for _, d := range declarations(q) {
		req.Tools = append(req.Tools, dialect.Tool{
			Name: d.text("name"), Description: d.text("description"), InputSchema: inputSchema(d), Path: d.path,
		})
	}
	return req, nil
}

// role returns the role of a content; the default is the user.
func role(c *node) dialect.Role {
	switch name := c.text("role"); name {
	case "model":
		return dialect.Assistant
	case "", "user", "function":
		return dialect.User
	default:
		return dialect.Role(name) // Check refuses an unknown role; the journal keeps it
	}
}

func systemPrompt(q *node) string {
	var texts []string
	for _, p := range q.at("systemInstruction").list("parts") {
		texts = append(texts, p.text("text"))
	}
	return strings.Join(texts, "\n\n")
}

func declarations(q *node) []*node {
	var all []*node
	for _, t := range q.list("tools") {
		all = append(all, t.list("functionDeclarations")...)
	}
	return all
}

// toolChoice returns the mode in MCP's terms, "tool:NAME" if one function is forced, or an unknown value unchanged.
// VALIDATED lets the model choose, like AUTO.
func toolChoice(q *node) string {
	config := q.at("toolConfig").at("functionCallingConfig")
	allowed := config.strings("allowedFunctionNames")
	switch mode := modeOf(config); {
	case mode == "ANY" && len(allowed) == 1:
		return "tool:" + allowed[0]
	case mode == "ANY":
		return dialect.ChoiceRequired
	case mode == "AUTO", mode == "VALIDATED":
		return dialect.ChoiceAuto
	case mode == "NONE":
		return dialect.ChoiceNone
	case mode == "MODE_UNSPECIFIED":
		return ""
	default:
		return config.text("mode")
	}
}

// block reads a part. Unknown parts become Other.
func (n *node) block() dialect.Block {
	b := dialect.Block{Type: dialect.Other, Raw: n.raw, Path: n.path, Signature: n.text("thoughtSignature")}
	switch {
	case n.at("functionCall") != nil:
		call := n.at("functionCall")
		b.Type, b.ID, b.Name, b.Input = dialect.ToolUse, call.text("id"), call.text("name"), json.RawMessage("{}")
		if args := call.at("args"); args != nil {
			b.Input = args.raw
		}
	case n.at("functionResponse") != nil:
		result := n.at("functionResponse")
		b.Type, b.ID, b.Name = dialect.ToolResult, result.text("id"), result.text("name")
		b.Content, b.IsError = response(result)
	case n.at("inlineData") != nil || n.at("fileData") != nil:
		n.media(&b)
	case n.at("text") != nil:
		b.Type, b.Text = dialect.Text, n.text("text")
		if n.bool("thought") {
			b.Type = dialect.Thinking
		}
	}
	return b
}

func (n *node) media(b *dialect.Block) {
	inline, file := n.at("inlineData"), n.at("fileData")
	b.MimeType = inline.text("mimeType") + file.text("mimeType")
	switch kind, _, _ := strings.Cut(b.MimeType, "/"); kind {
	case "image":
		b.Type = dialect.Image
	case "audio":
		b.Type = dialect.Audio
	default:
		return
	}
	b.Data, b.Text = inline.bytes("data"), file.text("fileUri")
}

// response reads a function's response and whether it is an error.
func response(result *node) (content []dialect.Block, isError bool) {
	at := result.at("response")
	if at != nil {
		add := func(text string) {
			content = append(content, dialect.Block{Type: dialect.Text, Text: text, Path: at.path})
		}
		if !eachString(at.raw, add) {
			add(string(at.raw))
		}
		var members jsonvalue.Members
		_ = jsonvalue.ReadPart(at.raw, &members) // a struct
		problem := string(members.Raw("error"))
		isError = members.Has("error") && problem != "false" && problem != `""`
	}
	for _, p := range result.list("parts") {
		b := dialect.Block{Type: dialect.Other, Raw: p.raw, Path: p.path}
		p.media(&b)
		content = append(content, b)
	}
	return content, isError
}

// eachString calls add with each string value of valid JSON, in order. It reports whether there are no other scalars.
func eachString(raw json.RawMessage, add func(string)) (only bool) {
	if text, isString := jsonvalue.TextOf(raw); isString {
		add(text)
		return true
	}
	var values []json.RawMessage
	var members jsonvalue.Members
	if jsonvalue.IsKind(raw, '{') {
		_ = jsonvalue.ReadPart(raw, &members)
	} else if jsonvalue.ReadPart(raw, &values) != nil || values == nil {
		return false
	}
	for _, m := range members {
		values = append(values, m.Value)
	}
	only = true
	for _, value := range values {
		only = eachString(value, add) && only
	}
	return only
}
