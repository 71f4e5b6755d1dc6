package gemini

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// node is a value of a request, with its fields by camelCase name. Methods of a nil node, an absent value, return zero
// values.
type node struct {
	place
	raw    json.RawMessage
	path   string // as written in the body
	fields map[string]*node
	items  []*node // of an array; a lone message counts as one item
	vertex bool
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

func (n *node) text(name string) string { return n.at(name).string() }

func (n *node) string() string {
	var s string
	if n != nil {
		s, _ = jsonvalue.TextOf(n.raw) // an enum may be a number
	}
	return s
}

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

type unknownName struct {
	name string
	at   *node
}

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
	o, err := jsonvalue.ReadMembers(body) // validates the JSON
	if err != nil {
		r.err = unreadable(body, err)
		return nil, r
	}
	if o == nil {
		r.err = ours("the body is null: expected a JSON object")
		return nil, r
	}
	return r.read("request", body, "", place{}), r
}

// read reads a value of a kind; null is absent.
func (r *reader) read(kind string, raw json.RawMessage, path string, at place) *node {
	raw = bytes.TrimSpace(raw)
	if string(raw) == "null" {
		return nil
	}
	n := &node{place: at, raw: raw, path: path, vertex: r.vertex}
	if item, repeated := strings.CutPrefix(kind, "[]"); repeated {
		r.readItems(n, item)
		return n
	}
	if value, isMap := strings.CutPrefix(kind, "map:"); isMap {
		for i, m := range r.object(n, kind) {
			r.add(n, string(m.Name), value, m, i)
		}
		return n
	}
	fields := documented[kind]
	if fields == nil {
		r.scalar(n, kind)
		return n
	}
	for _, m := range r.object(n, kind) {
		written := string(m.Name)
		name := fieldName(kind, written)
		if name == "" || !r.vertex && vertexOnly[kind+"."+name] {
			r.unknown = append(r.unknown, unknownName{written, n})
			continue
		}
		if kind == "part" && n.hasData() && isData(name) && n.at(name) == nil && jsonvalue.IsGiven(m.Value) {
			r.refuse(n, "Invalid value at '%s' (oneof), oneof field 'data' is already set. Cannot set '%s'", n.inJSON(), written)
		}
		r.add(n, name, fields[name], m, -1)
	}
	return n
}

func (r *reader) add(n *node, name, kind string, m jsonvalue.Member, index int) {
	written := string(m.Name)
	value := r.read(kind, m.Value, jsonvalue.Join(n.path, written), place{parent: n, name: written, index: index})
	if value != nil {
		if n.fields == nil {
			n.fields = map[string]*node{}
		}
		n.fields[name] = value
	}
}

// readItems reads an array. The API accepts a lone message as an array of one, as in "parts": {"text": "hi"}.
func (r *reader) readItems(n *node, kind string) {
	if jsonvalue.IsKind(n.raw, '{') && documented[kind] != nil {
		n.items = []*node{r.read(kind, n.raw, n.path, place{parent: n})}
		return
	}
	var items []json.RawMessage
	if jsonvalue.ReadPart(n.raw, &items) != nil {
		r.wrongKind(n, kind)
		return
	}
	for i, raw := range items {
		path, at := jsonvalue.At(n.path, i), place{parent: n, index: i}
		item := r.read(kind, raw, path, at)
		if item == nil {
			item = &node{place: at, raw: raw, path: path}
			r.refuse(item, "%s is null"+dialect.OwnWords, item.inJSON())
		}
		n.items = append(n.items, item)
	}
}

func (r *reader) object(n *node, kind string) jsonvalue.Members {
	var o jsonvalue.Members
	if jsonvalue.ReadPart(n.raw, &o) != nil {
		r.wrongKind(n, kind)
	}
	return o
}

// scalar checks a value against the JSON form of its kind (protobuf.dev/programming-guides/json).
func (r *reader) scalar(n *node, kind string) {
	text, isString := jsonvalue.TextOf(n.raw)
	valid := true
	switch kind {
	case "string":
		valid = isString
	case "bytes":
		if _, err := decodeBase64(text); err != nil {
			r.refuse(n, "Invalid value at '%s' (TYPE_BYTES), Base64 decoding failed for %s", n.inJSON(), short(n.raw))
		}
		valid = isString
	case "bool":
		valid = jsonvalue.IsKind(n.raw, 't') || jsonvalue.IsKind(n.raw, 'f')
	case "enum":
		_, err := strconv.Atoi(string(n.raw))
		valid = isString || err == nil
	case "number":
		_, valid = number(n.raw)
	case "integer":
		f, isNumber := number(n.raw)
		valid = isNumber && f == math.Trunc(f) && math.Abs(f) < 1<<63
	case "struct":
		r.object(n, kind)
	}
	if !valid {
		r.wrongKind(n, kind)
	}
}

// number reads a number, also one in a string.
func number(raw json.RawMessage) (f float64, ok bool) {
	written := strings.Trim(string(raw), `"`)
	f, err := strconv.ParseFloat(written, 64)
	return f, err == nil && json.Valid([]byte(written))
}

func (r *reader) refuse(n *node, format string, args ...any) {
	if r.err == nil {
		r.err = invalid(n.inJSON(), format, args...)
	}
}

// typeNames are the API's names of scalars and of maps.
var typeNames = map[string]string{"string": "TYPE_STRING", "bytes": "TYPE_BYTES", "bool": "TYPE_BOOL",
	"number": "TYPE_FLOAT", "integer": "TYPE_INT32", "struct": "type.googleapis.com/google.protobuf.Struct"}

// wrongKind refuses a value in the words of protobuf's reader of JSON: agno-agi/agno#2649, pydantic/pydantic-ai#583.
func (r *reader) wrongKind(n *node, kind string) {
	at, words := n.parent, ""
	switch n.raw[0] {
	case '[':
		words = notField(n.name, at.inJSON(), "Proto field is not repeating, cannot start list.")
	case '{':
		words = notField(n.name, at.inJSON(), "Starting an object on a scalar field")
	default:
		at, words = n, n.wrongValue(kind, short(n.raw))
	}
	r.refuse(at, "%s", words)
}

// unreadable refuses a body that is not a JSON object. The API also shows the place in the body.
func unreadable(body []byte, err error) *dialect.Error {
	if why := codecs.NotObject(body); why != "" {
		return ours("the body: %s", why)
	}
	why := "Unexpected token."
	if strings.HasPrefix(err.Error(), "unexpected end") {
		why = "Unexpected end of string. Expected a value."
	}
	return invalid("", "Invalid JSON payload received. %s\n\n^", why)
}

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
