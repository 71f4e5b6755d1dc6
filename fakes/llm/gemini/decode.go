package gemini

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Decode refuses a path that names no model and method, and a body that is not a JSON object or has fields of another kind than the API
// documents.
//
// A functionResponse is a tool result of a user's turn. Its content is every string in its response as a text each, so that they can be
// found as they were said; where there is more in it than strings, its whole JSON follows as one more text. It is an error where the
// response has the member error, which is how the API wants to be told. Ids are those that the request has, "" where it has none: calls
// and results then belong together by name and order.
func (codec) Decode(r *http.Request, body []byte) (*dialect.Request, *dialect.Error) {
	to := targetOf(r.URL)
	if to.model == "" || to.method != generate && to.method != streamGenerate {
		return nil, &dialect.Error{Status: http.StatusNotFound, Message: fmt.Sprintf(
			"%s is no method of a model: want …/models/MODEL:%s or :%s", r.URL.Path, generate, streamGenerate)}
	}
	q, reader := parse(body, to.vertex)
	if reader.err != nil {
		return nil, reader.err
	}
	config := q.at("generationConfig")
	req := &dialect.Request{
		Dialect: dialect.Gemini, Model: to.model, System: systemPrompt(q), ToolChoice: toolChoice(q), Temperature: config.number("temperature"),
		StopSequences: config.strings("stopSequences"), Stream: to.method == streamGenerate, Body: body, Header: r.Header, URL: r.URL,
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

// role is the role of a content; that of one which names none is the user.
func role(c *node) dialect.Role {
	switch said := c.text("role"); said {
	case "model":
		return dialect.Assistant
	case "", "user", "function":
		return dialect.User
	default:
		return dialect.Role(said) // an unknown one is kept for Check and the journal
	}
}

func systemPrompt(q *node) string {
	var texts []string
	for _, p := range q.at("systemInstruction").list("parts") {
		texts = append(texts, p.text("text"))
	}
	return strings.Join(texts, "\n\n")
}

// declarations are the functions of all tools.
func declarations(q *node) []*node {
	var all []*node
	for _, t := range q.list("tools") {
		all = append(all, t.list("functionDeclarations")...)
	}
	return all
}

// toolChoice returns the mode in the terms of MCP, "tool:NAME" where one function has to be called, or what stands there where it is
// neither. VALIDATED lets the model choose, as AUTO does.
func toolChoice(q *node) string {
	config := q.at("toolConfig").at("functionCallingConfig")
	allowed := config.strings("allowedFunctionNames")
	switch mode := config.text("mode"); {
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
		return mode
	}
}

// block reads a part. What is neither text, image, audio, call nor result is Other.
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

// media reads inlineData and fileData.
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

// response reads what a function returned, and whether it is an error.
func response(result *node) (content []dialect.Block, isError bool) {
	at := result.at("response")
	if at != nil {
		said := func(text string) {
			content = append(content, dialect.Block{Type: dialect.Text, Text: text, Path: at.path})
		}
		if !eachString(json.NewDecoder(strings.NewReader(string(at.raw))), said) {
			said(string(at.raw))
		}
		var members dialect.Members
		_ = dialect.ReadPart(at.raw, &members) // a struct
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

// eachString calls said with each string of a JSON object that is no member's name, in order. It reports whether there is nothing
// else in it.
func eachString(dec *json.Decoder, said func(string)) bool {
	only := true
	type frame struct{ object, value bool } // value: what comes next is a member's value
	var open []frame
	for {
		token, err := dec.Token()
		if err != nil {
			return only
		}
		top := len(open) - 1
		if top >= 0 && open[top].object && !open[top].value {
			if _, isName := token.(string); isName {
				open[top].value = true
				continue
			}
		} else if top >= 0 {
			open[top].value = false
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				open = append(open, frame{object: t == '{'})
			} else {
				open = open[:top]
			}
		case string:
			said(t)
		default:
			only = false
		}
	}
}
