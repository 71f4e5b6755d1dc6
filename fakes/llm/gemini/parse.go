package gemini

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// node is a value of a request, with its fields by camelCase name. Methods of a nil node, an absent value, return zero
// values.
type node struct {
	raw    json.RawMessage
	path   string // as written in the body
	fields map[string]*node
	items  []*node // of an array; a lone message counts as one item
}

func (n *node) at(name string) *node {
	if n == nil {
		return nil
	}
	return n.fields[name]
}

func (n *node) list(name string) []*node {
	if n = n.at(name); n == nil {
		return nil
	}
	return n.items
}

// text returns a string field, else "".
func (n *node) text(name string) string { return n.at(name).string() }

func (n *node) string() string {
	var s string
	if n != nil {
		s, _ = dialect.TextOf(n.raw) // an enum may be a number
	}
	return s
}

// number returns a number field, also one in a string; nil for none.
func (n *node) number(name string) *float64 {
	if n = n.at(name); n == nil {
		return nil
	}
	f, ok := number(n.raw)
	if !ok {
		return nil
	}
	return &f
}

func (n *node) bool(name string) bool {
	n = n.at(name)
	return n != nil && string(n.raw) == "true"
}

// bytes returns a field of bytes; nil for none.
func (n *node) bytes(name string) []byte {
	if n.at(name) == nil {
		return nil
	}
	data, _ := decodeBase64(n.text(name)) // validated by scalar
	return data
}

func (n *node) strings(name string) []string {
	var all []string
	for _, item := range n.list(name) {
		all = append(all, item.string())
	}
	return all
}

// reader reads a body by the table of fields. It keeps the first value of a wrong kind and all unknown names.
type reader struct {
	vertex  bool
	err     *dialect.Error
	unknown []unknownName
}

type unknownName struct{ name, at string }

// parsed is a request and the findings of its reader.
type parsed struct {
	request *node
	reader  *reader
}

// parse refuses values of an undocumented kind, as the API does before all other checks.
func parse(body []byte, vertex bool) (*node, *reader) {
	r := &reader{vertex: vertex}
	if len(bytes.TrimSpace(body)) == 0 { // SDKs send an empty request like this
		body = []byte("{}")
	}
	o, err := dialect.ReadMembers(body) // validates the JSON
	if err != nil {
		r.err = invalid("", "the body could not be read as a JSON object: %v", err)
		return nil, r
	}
	if o == nil {
		r.err = invalid("", "the body is null: want a JSON object")
		return nil, r
	}
	return r.read("request", body, ""), r
}

// read reads a value of a kind; null is absent.
func (r *reader) read(kind string, raw json.RawMessage, path string) *node {
	raw = bytes.TrimSpace(raw)
	if string(raw) == "null" {
		return nil
	}
	n := &node{raw: raw, path: path}
	if item, repeated := strings.CutPrefix(kind, "[]"); repeated {
		r.readItems(n, item)
		return n
	}
	if value, isMap := strings.CutPrefix(kind, "map:"); isMap {
		o := r.object(n)
		for _, name := range o.Names() {
			r.add(n, name, name, value, o.Raw(name))
		}
		return n
	}
	fields := documented[kind]
	if fields == nil {
		r.scalar(n, kind)
		return n
	}
	o := r.object(n)
	for _, written := range o.Names() {
		name := fieldName(kind, written)
		if name != "" && (r.vertex || !vertexOnly[kind+"."+name]) {
			r.add(n, name, written, fields[name], o.Raw(written))
		} else {
			r.unknown = append(r.unknown, unknownName{written, path})
		}
	}
	return n
}

func (r *reader) add(n *node, name, written, kind string, raw json.RawMessage) {
	if value := r.read(kind, raw, dialect.Join(n.path, written)); value != nil {
		if n.fields == nil {
			n.fields = map[string]*node{}
		}
		n.fields[name] = value
	}
}

// readItems reads an array. The API accepts a lone message as an array of one, as in "parts": {"text": "hi"}.
func (r *reader) readItems(n *node, kind string) {
	if dialect.IsKind(n.raw, '{') && documented[kind] != nil {
		n.items = []*node{r.read(kind, n.raw, n.path)}
		return
	}
	var items []json.RawMessage
	if dialect.ReadPart(n.raw, &items) != nil {
		r.refuse(n, "an array")
		return
	}
	for i, raw := range items {
		path := dialect.At(n.path, i)
		item := r.read(kind, raw, path)
		if item == nil {
			item = &node{raw: raw, path: path}
			r.refuse(item, "no null in an array")
		}
		n.items = append(n.items, item)
	}
}

func (r *reader) object(n *node) dialect.Members {
	var o dialect.Members
	if dialect.ReadPart(n.raw, &o) != nil {
		r.refuse(n, "an object")
	}
	return o
}

// scalar checks a value against the JSON form of its kind (protobuf.dev/programming-guides/json).
func (r *reader) scalar(n *node, kind string) {
	text, isString := dialect.TextOf(n.raw)
	valid, want := true, ""
	switch kind {
	case "string":
		valid, want = isString, "a string"
	case "bytes":
		_, err := decodeBase64(text)
		valid, want = isString && err == nil, "base64"
	case "bool":
		valid, want = dialect.IsKind(n.raw, 't') || dialect.IsKind(n.raw, 'f'), "true or false"
	case "enum":
		_, err := strconv.Atoi(string(n.raw))
		valid, want = isString || err == nil, "one of an enum's words"
	case "number":
		_, valid = number(n.raw)
		want = "a number"
	case "integer":
		f, isNumber := number(n.raw)
		valid, want = isNumber && f == math.Trunc(f) && math.Abs(f) < 1<<63, "an integer"
	case "struct":
		r.object(n)
	}
	if !valid {
		r.refuse(n, want)
	}
}

// number reads a number, also one in a string.
func number(raw json.RawMessage) (f float64, ok bool) {
	written := strings.Trim(string(raw), `"`)
	f, err := strconv.ParseFloat(written, 64)
	return f, err == nil && json.Valid([]byte(written))
}

func (r *reader) refuse(n *node, want string) {
	if r.err == nil {
		r.err = invalid(n.path, "invalid value at '%s': want %s, got %s", n.path, want, short(n.raw))
	}
}

// short cuts a value for a message.
func short(raw json.RawMessage) string {
	const limit = 60
	if runes := []rune(string(raw)); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return string(raw)
}

// decodeBase64 reads both alphabets, with or without padding.
func decodeBase64(text string) ([]byte, error) {
	text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	return base64.RawStdEncoding.DecodeString(text)
}
