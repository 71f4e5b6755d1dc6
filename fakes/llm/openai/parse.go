package openai

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// request is a request body as OpenAI documents it. [chat.Check] judges what the parser reads leniently.
type request struct {
	dialect.Members
	style                   *style // of the server whose rules apply
	model                   string
	messages                []message
	tools                   []tool
	stream                  bool
	temperature             *float64
	maxTokens, maxCompleted *int64
	n                       *int64
	stop                    []string
	answered                scratch
}

type message struct {
	raw        json.RawMessage
	paths      *paths
	path       string
	role       string
	toolCallID string
	text       string // string content
	hasText    bool
	parts      []part // array content
	refusal    *string
	hasAudio   bool
	hasCalls   bool // has tool_calls, maybe empty
	calls      []toolCall
}

type part struct {
	dialect.Members
	path string
	raw  json.RawMessage
}

type toolCall struct {
	path, id, kind, name string
	raw                  json.RawMessage
	arguments            json.RawMessage // a string, if valid
}

type tool struct {
	path, kind, name, description string
	parameters                    json.RawMessage
	flat                          dialect.Members // in Responses: the tool itself
}

// parse refuses members of an undocumented type, as the API does before all other checks.
func parse(body []byte) (*request, *dialect.Error) {
	q := requests.Get().(*request)
	var err error
	if q.Members, err = dialect.AppendMembers(q.Members, body); err != nil {
		return nil, invalid("", "", "the body could not be read as a JSON object: %v", err)
	}
	if q.Members == nil {
		return nil, invalid("", "", "the body is null: want a JSON object")
	}
	r := newReader()
	r.ReadAll(q.Members, "", "model", &q.model, "stream", &q.stream, "temperature", &q.temperature,
		"max_tokens", &q.maxTokens, "max_completion_tokens", &q.maxCompleted, "n", &q.n)
	if dialect.IsKind(q.Raw("stop"), '"') {
		q.stop = []string{q.Text("stop")}
	} else if q.Read("stop", &q.stop) != nil {
		r.Refuse("stop", "a string or an array of strings", q.Raw("stop"))
	}
	r.array(q.Raw("messages"), "messages", func(i int, raw []byte, begin int) int {
		q.messages = append(q.messages, message{paths: messagePaths(i)})
		return r.message(&q.messages[i], raw, begin)
	})
	r.array(q.Raw("tools"), "tools", func(i int, raw []byte, begin int) int {
		q.tools = append(q.tools, tool{path: dialect.At("tools", i)})
		return r.tool(&q.tools[i], raw, begin)
	})
	return q, r.Err
}

// reader also walks arrays and objects without allocating them.
type reader struct{ dialect.Reader }

func newReader() *reader {
	return &reader{dialect.Reader{Invalid: func(path, want string, got json.RawMessage) *dialect.Error {
		return invalid(path, "invalid_type", "%s has the wrong type: want %s, got %s", path, want, dialect.JSONName(got))
	}}}
}

// array calls element with the index and start of each element; element returns its end. Another type is an error.
func (r *reader) array(raw json.RawMessage, name string, element func(i int, raw []byte, begin int) (end int)) {
	switch {
	case !dialect.IsGiven(raw):
	case dialect.IsKind(raw, '['):
		i := -1
		dialect.WalkArray(raw, 0, func(begin int) int {
			i++
			return element(i, raw, begin)
		})
	default:
		r.Refuse(name, "an array", raw)
	}
}

// eachMember walks the object at begin, the member name of the object at path, like [dialect.WalkObject]. Another type
// is an error.
func (r *reader) eachMember(
	raw []byte, begin int, path, name string, member func(name []byte, i int) (end int),
) (end int) {
	if raw[begin] == '{' {
		return dialect.WalkObject(raw, begin, member)
	}
	end = dialect.End(raw, begin)
	r.Refuse(dialect.Join(path, name), "an object", raw[begin:end])
	return end
}

// value reads the value at begin into the pointer v; path is its object's.
func (r *reader) value(raw []byte, begin int, path, name string, v any) (end int) {
	end = dialect.End(raw, begin)
	r.Value(raw[begin:end:end], path, name, v)
	return end
}

func (r *reader) message(m *message, raw []byte, begin int) (end int) {
	path := m.paths.message
	end = r.eachMember(raw, begin, "", path, func(name []byte, i int) int {
		switch string(name) {
		case "role":
			return r.value(raw, i, path, "role", &m.role)
		case "tool_call_id":
			return r.value(raw, i, path, "tool_call_id", &m.toolCallID)
		case "refusal":
			return r.value(raw, i, path, "refusal", &m.refusal)
		case "audio":
			m.hasAudio = raw[i] != 'n'
		case "content":
			return r.content(m, raw, i)
		case "tool_calls":
			return r.calls(m, raw, i)
		}
		return dialect.End(raw, i)
	})
	m.raw, m.path = raw[begin:end:end], path
	return end
}

func (r *reader) content(m *message, raw []byte, begin int) (end int) {
	m.hasText, m.parts = false, nil // the last of repeated members counts
	end = dialect.End(raw, begin)
	content := json.RawMessage(raw[begin:end:end])
	if dialect.IsKind(content, '"') {
		m.text, m.hasText = dialect.TextOf(content)
		return end
	}
	r.array(content, m.paths.content, func(i int, raw []byte, begin int) int {
		path := dialect.At(m.paths.content, i)
		end := dialect.End(raw, begin)
		element := raw[begin:end:end]
		m.parts = append(m.parts, part{r.Object(element, path), path, element})
		return end
	})
	return end
}

func (r *reader) calls(m *message, raw []byte, begin int) (end int) {
	m.calls, m.hasCalls = nil, raw[begin] != 'n'
	if raw[begin] != '[' {
		end = dialect.End(raw, begin)
		if m.hasCalls {
			r.Refuse(m.paths.message+".tool_calls", "an array", raw[begin:end])
		}
		return end
	}
	return dialect.WalkArray(raw, begin, func(i int) int {
		if m.calls == nil {
			m.calls = make([]toolCall, 0, 2)
		}
		m.calls = append(m.calls, toolCall{path: m.paths.call(len(m.calls))})
		return r.call(&m.calls[len(m.calls)-1], raw, i)
	})
}

// call reads a call without allocating its objects: histories may have many.
func (r *reader) call(c *toolCall, raw []byte, begin int) (end int) {
	function, end := r.function(raw, begin, c.path, &c.kind, &c.id)
	c.raw = raw[begin:end:end]
	if function == nil {
		return end
	}
	arguments := byKind(c.kind, "arguments", "input") // a custom tool takes a text
	r.eachMember(function, 0, c.path, byKind(c.kind, "function", "custom"), func(name []byte, i int) int {
		switch string(name) {
		case "name":
			return r.value(function, i, c.path, byKind(c.kind, "function.name", "custom.name"), &c.name)
		case arguments:
			end := dialect.End(function, i)
			c.arguments = function[i:end:end]
			return end
		}
		return dialect.End(function, i)
	})
	return end
}

// function reads the kind, and the id unless nil, of a tool or call. It returns the member of that kind; nil if
// missing.
func (r *reader) function(raw []byte, begin int, path string, kind, id *string) (function json.RawMessage, end int) {
	var custom json.RawMessage
	end = r.eachMember(raw, begin, "", path, func(name []byte, i int) int {
		end := dialect.End(raw, i)
		value := raw[i:end:end]
		switch string(name) {
		case "id":
			if id != nil {
				r.Value(value, path, "id", id)
			}
		case "type":
			r.Value(value, path, "type", kind)
		case "function":
			function = value
		case "custom":
			custom = value
		}
		return end
	})
	if *kind == "custom" {
		function = custom
	}
	if !dialect.IsGiven(function) {
		return nil, end
	}
	return function, end
}

// byKind selects the word for a kind of tool or call.
func byKind(kind, function, custom string) string {
	if kind == "custom" {
		return custom
	}
	return function
}

func (r *reader) tool(t *tool, raw []byte, begin int) (end int) {
	function, end := r.function(raw, begin, t.path, &t.kind, nil)
	if function == nil {
		return end
	}
	r.eachMember(function, 0, t.path, byKind(t.kind, "function", "custom"), func(name []byte, i int) int {
		switch string(name) {
		case "name":
			return r.value(function, i, t.path, byKind(t.kind, "function.name", "custom.name"), &t.name)
		case "description":
			return r.value(function, i, t.path, byKind(t.kind, "function.description", "custom.description"), &t.description)
		case "parameters":
			end := dialect.End(function, i)
			t.parameters = function[i:end:end]
			return end
		}
		return dialect.End(function, i)
	})
	return end
}

func invalid(param, code, format string, args ...any) *dialect.Error {
	return &dialect.Error{
		Status: http.StatusBadRequest, Kind: "invalid_request_error", Code: code, Param: param,
		Message: fmt.Sprintf(format, args...),
	}
}

// invalidAt refuses a member of the object at path; the message begins with the path.
func invalidAt(path, member, code, format string, args ...any) *dialect.Error {
	return invalid(path+"."+member, code, "%s "+format, append([]any{path}, args...)...)
}

// paths are the places of a message and its contents in a request.
type paths struct {
	message, content string
	calls            [4]string // the first calls
}

func pathsOf(i int) paths {
	p := paths{message: dialect.At("messages", i)}
	p.content = p.message + ".content"
	for j := range p.calls {
		p.calls[j] = dialect.At(p.message+".tool_calls", j)
	}
	return p
}

func (p *paths) call(i int) string {
	if i < len(p.calls) {
		return p.calls[i]
	}
	return dialect.At(p.message+".tool_calls", i)
}

// cachedPaths holds frequent paths, to avoid allocations.
var cachedPaths = func() (all [32]paths) {
	for i := range all {
		all[i] = pathsOf(i)
	}
	return all
}()

func messagePaths(i int) *paths {
	if i < len(cachedPaths) {
		return &cachedPaths[i]
	}
	p := pathsOf(i)
	return &p
}
