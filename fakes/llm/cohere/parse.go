package cohere

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// request is a request body as Cohere documents it. [chat.Check] judges what the parser reads leniently.
type request struct {
	jsonvalue.Members
	model, choice      string
	messages           []message
	tools              []tool
	stream             bool
	maxTokens          *int64
	temperature        *float64
	presence, frequent *float64
	stops              []string
}

type message struct {
	jsonvalue.Members
	raw                    json.RawMessage
	path, role, plan, text string // text is string content
	id                     string // of a tool message's call
	parts                  []part
	calls                  []call
}

// part is an element of a content, with the members of its image or document.
type part struct {
	jsonvalue.Members
	raw              json.RawMessage
	path, kind, text string
	inner            jsonvalue.Members
}

type call struct {
	raw                            json.RawMessage
	path, id, kind, name, argument string
}

type tool struct {
	jsonvalue.Members
	function                      jsonvalue.Members
	path, kind, name, description string
}

// parse refuses members of an undocumented type, as the API does before all other checks.
func parse(body []byte) (*request, *dialect.Error) {
	q := new(request)
	var err error
	if q.Members, err = jsonvalue.ReadMembers(body); err != nil {
		return nil, invalid("invalid json syntax: %v", err)
	}
	if q.Members == nil {
		return nil, invalid("invalid json syntax: the body is null, want an object" + dialect.OwnWords)
	}
	r := &reader{codecs.Reader{Invalid: wrongType}}
	r.ReadAll(q.Members, "", "model", &q.model, "stream", &q.stream, "temperature", &q.temperature,
		"max_tokens", &q.maxTokens, "stop_sequences", &q.stops, "tool_choice", &q.choice,
		"presence_penalty", &q.presence, "frequency_penalty", &q.frequent)
	r.Each(q.Members, "", "messages", func(raw json.RawMessage, path string) {
		q.messages = append(q.messages, r.message(raw, path))
	})
	r.Each(q.Members, "", "tools", func(raw json.RawMessage, path string) {
		t := tool{Members: r.Object(raw, path), path: path}
		r.ReadAll(t.Members, path, "type", &t.kind, "function", &t.function)
		r.ReadAll(t.function, path+".function", "name", &t.name, "description", &t.description)
		q.tools = append(q.tools, t)
	})
	return q, r.Err
}

type reader struct{ codecs.Reader }

func (r *reader) message(raw json.RawMessage, path string) message {
	m := message{Members: r.Object(raw, path), raw: raw, path: path}
	r.ReadAll(m.Members, path, "role", &m.role, "tool_plan", &m.plan, "tool_call_id", &m.id)
	var isText bool
	if m.text, isText = jsonvalue.TextOf(m.Raw("content")); !isText {
		r.Each(m.Members, path, "content", func(raw json.RawMessage, path string) {
			p := part{Members: r.Object(raw, path), raw: raw, path: path}
			r.Read(p.Members, path, "type", &p.kind)
			switch p.kind {
			case "text", "thinking":
				r.Read(p.Members, path, p.kind, &p.text)
			case "image_url", "document":
				r.Read(p.Members, path, p.kind, &p.inner)
			}
			m.parts = append(m.parts, p)
		})
	}
	r.Each(m.Members, path, "tool_calls", func(raw json.RawMessage, path string) {
		c := call{raw: raw, path: path}
		o := r.Object(raw, path)
		var function jsonvalue.Members
		r.ReadAll(o, path, "id", &c.id, "type", &c.kind, "function", &function)
		r.ReadAll(function, path+".function", "name", &c.name, "arguments", &c.argument)
		m.calls = append(m.calls, c)
	})
	return m
}

var index = regexp.MustCompile(`\[\d+\]`)

const usage = "For proper usage, please refer to https://docs.cohere.com/reference/chat"

func wrongType(path, want string, got json.RawMessage) *dialect.Error {
	return unprocessable("invalid type: parameter '%s' is of type %s but should be of type %s. %s",
		index.ReplaceAllString(path, ""), bare(jsonvalue.JSONName(got)), bare(want), usage)
}

// bare returns the name of a type as Cohere writes it, without the article and the value.
func bare(name string) string {
	for _, article := range []string{"an ", "a ", "the "} {
		name = strings.TrimPrefix(name, article)
	}
	switch {
	case strings.HasPrefix(name, "number"):
		return "number"
	case name == "true or false":
		return "boolean"
	}
	return strings.Replace(name, "object", "Object", 1)
}

func invalid(format string, args ...any) *dialect.Error {
	return &dialect.Error{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

func unprocessable(format string, args ...any) *dialect.Error {
	return &dialect.Error{Status: http.StatusUnprocessableEntity, Message: fmt.Sprintf(format, args...)}
}
