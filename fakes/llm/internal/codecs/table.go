package codecs

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// API is how a provider reads requests: the table of their members, and its words for mistakes in them. Functions that
// the provider's checks do not use may be nil.
type API struct {
	Table
	// Root is the object that a body is; "" for "request".
	Root string
	// Kind returns the kind of an object with variants; nil for its member type.
	Kind func(object string, o jsonvalue.Members) string
	// VariantPath returns the path that messages give the members of a variant; nil for the object's own.
	VariantPath func(path, object, kind string) string
	// Unreadable refuses a body that is not a JSON object; for null there is no error. See [NotObject].
	Unreadable func(body []byte, err error) *dialect.Error
	// WrongType refuses a value of another type than documented.
	WrongType func(path, expected string, found json.RawMessage) *dialect.Error
	// Unknown refuses the members of the object at path that it does not have.
	Unknown func(path string, names []string) *dialect.Error
	// Missing refuses an object at path without a member.
	Missing func(path, name string) *dialect.Error
	// Outside refuses a number, an int64 or a float64. A limit that does not exist is "".
	Outside func(path string, v any, low, high string) *dialect.Error
	// NotOneOf refuses a word that is not one of several; a missing one is "".
	NotOneOf func(path, found string, words []string) *dialect.Error
}

// Table describes objects by name: see [NewTable].
type Table map[string]*object

type object struct {
	name     string
	members  []member
	typed    []member // those that are read
	known    map[string]bool
	variants map[string]*object // by kind; "*" for all others
}

func (o *object) variant(kind string) *object {
	if v := o.variants[kind]; v != nil {
		return v
	}
	return o.variants["*"]
}

// member is a member of an object. low and high are as written.
type member struct {
	name, kind, low, high string
	object                *object // of the kind; nil for a value
	words                 []string
	required, notNull     bool
	orText, isList        bool
}

// NewTable reads a table. A line without indentation has the name of an object; the lines below it have its members, in
// the order in which the provider reads them: NAME, or NAME:KIND for those that are read. A kind is string, strings,
// bool, integer, number, object, the name of an object of the table, or "[]" before one, with "text|" before that if it
// may also be a string. After it follow "!" for a required member or "^" for one that must not be null, then {A,B} for
// one of some words, or [LOW,HIGH] for a number. The object NAME/KIND has the members of objects NAME of one kind, and
// NAME/* those of all other kinds.
func NewTable(text string) Table {
	t := Table{}
	var o *object
	for line := range strings.Lines(text) {
		if strings.TrimLeft(line, "\t ") == line && strings.TrimSpace(line) != "" {
			o = &object{name: strings.TrimSpace(line), known: map[string]bool{}, variants: map[string]*object{}}
			t[o.name] = o
			if of, kind, isVariant := strings.Cut(o.name, "/"); isVariant {
				t[of].variants[kind] = o
			}
			continue
		}
		for word := range strings.FieldsSeq(line) {
			m := newMember(word)
			o.known[m.name] = true
			o.members = append(o.members, m)
			if m.kind != "" {
				o.typed = append(o.typed, m)
			}
		}
	}
	for _, o := range t {
		for i := range o.typed {
			o.typed[i].object = t[o.typed[i].kind]
		}
	}
	return t
}

var memberForm = regexp.MustCompile(`^(\w+)(?::(text\|)?(\[\])?(\w+))?([!^])?(?:\{(.+)\})?(?:\[(.*),(.*)\])?$`)

func newMember(word string) member {
	part := memberForm.FindStringSubmatch(word)
	if part == nil {
		panic("invalid member of a table: " + word)
	}
	m := member{name: part[1], orText: part[2] != "", isList: part[3] != "", kind: part[4],
		required: part[5] == "!", notNull: part[5] == "^", low: part[7], high: part[8]}
	if part[6] != "" {
		m.words = strings.Split(part[6], ",")
	}
	return m
}

// Node is an object of a request that an [API] has read: its values have the documented types.
type Node struct {
	jsonvalue.Members
	JSON json.RawMessage
	Path string
	// Kind is the kind of an object with variants.
	Kind  string
	inner []inner
}

type inner struct {
	name  string
	nodes []Node
}

// List returns the objects in an array, or in a list of its own a member that is an object.
func (n *Node) List(name string) []Node {
	for i := range n.inner {
		if n.inner[i].name == name {
			return n.inner[i].nodes
		}
	}
	return nil
}

// At returns a member that is an object; an empty one if there is none.
func (n *Node) At(name string) *Node {
	if all := n.List(name); len(all) > 0 {
		return &all[0]
	}
	return new(Node)
}

// Bool returns a member that is a bool, else false.
func (n *Node) Bool(name string) bool { return jsonvalue.IsKind(n.Raw(name), 't') }

// IsText reports whether a member is a string.
func (n *Node) IsText(name string) bool { return jsonvalue.IsKind(n.Raw(name), '"') }

// Integer returns a member that is an integer; nil without one.
func (n *Node) Integer(name string) *int64 { return optional[int64](n, name) }

// Number returns a member that is a number; nil without one.
func (n *Node) Number(name string) *float64 { return optional[float64](n, name) }

func optional[T any](n *Node, name string) *T {
	raw := n.Raw(name)
	v := new(T)
	if !jsonvalue.IsGiven(raw) || jsonvalue.ReadPart(raw, v) != nil {
		return nil
	}
	return v
}

// Strings returns a member that is an array of strings.
func (n *Node) Strings(name string) (all []string) {
	_ = n.Read(name, &all) // read by the table
	return all
}

// Read reads a body. It refuses one that is not a JSON object, and the first value of another type than documented.
func (a *API) Read(body []byte) (*Node, *dialect.Error) {
	o, err := jsonvalue.ReadMembers(body)
	if err != nil || o == nil {
		return nil, a.Unreadable(body, err)
	}
	r := &reading{API: a}
	n := &Node{Members: o, JSON: body}
	r.members(n, a.Table[cmp.Or(a.Root, "request")], "")
	if r.err != nil {
		return nil, r.err
	}
	return n, nil
}

// ReadAt is Read for a part of a body: a member with the same name as its object in the table.
func (a *API) ReadAt(object string, raw json.RawMessage) (*Node, *dialect.Error) {
	r := &reading{API: a}
	n := new(Node)
	r.node(n, a.Table[object], raw, object)
	return n, r.err
}

// reading is the state of a reader: it keeps the first error.
type reading struct {
	*API
	err *dialect.Error
}

func (r *reading) node(n *Node, o *object, raw json.RawMessage, path string) {
	n.JSON, n.Path = raw, path
	if jsonvalue.ReadPart(raw, &n.Members) != nil || n.Members == nil {
		r.refuse(path, "an object", raw)
		return
	}
	r.members(n, o, path)
}

// members reads the members of an object, then those of its variant.
func (r *reading) members(n *Node, o *object, path string) {
	r.read(n, o, path)
	if r.Kind != nil {
		n.Kind = r.Kind(o.name, n.Members)
	} else {
		n.Kind = n.Text("type")
	}
	if r.VariantPath != nil {
		path = r.VariantPath(path, o.name, n.Kind)
	}
	if variant := o.variant(n.Kind); variant != nil {
		r.read(n, variant, path)
	}
}

// Has reports whether objects of a name have a variant of the kind.
func (t Table) Has(name, kind string) bool { return t[name].variants[kind] != nil }

func (r *reading) read(n *Node, o *object, path string) {
	for i := range o.typed {
		m := &o.typed[i]
		raw := n.Raw(m.name)
		if raw != nil && m.notNull && jsonvalue.IsKind(raw, 'n') {
			r.refuse(jsonvalue.Join(path, m.name), kindName(m), raw)
		}
		if !jsonvalue.IsGiven(raw) || m.orText && jsonvalue.IsKind(raw, '"') {
			continue
		}
		switch {
		case m.isList && jsonvalue.IsKind(raw, '['):
			n.inner = append(n.inner, inner{m.name, r.list(m.object, raw, jsonvalue.Join(n.Path, m.name))})
		case !m.isList && m.object != nil && jsonvalue.IsKind(raw, '{'):
			nodes := make([]Node, 1)
			r.node(&nodes[0], m.object, raw, jsonvalue.Join(path, m.name))
			n.inner = append(n.inner, inner{m.name, nodes})
		case m.isList:
			r.refuse(jsonvalue.Join(n.Path, m.name), kindName(m), raw)
		case !isA(raw, m.kind):
			r.refuse(jsonvalue.Join(path, m.name), kindName(m), raw)
		}
	}
}

func (r *reading) list(o *object, raw json.RawMessage, path string) []Node {
	var all []json.RawMessage
	_ = jsonvalue.ReadPart(raw, &all) // an array
	nodes := make([]Node, len(all))
	for i := range all {
		r.node(&nodes[i], o, all[i], jsonvalue.At(path, i))
	}
	return nodes
}

func (r *reading) refuse(path, expected string, found json.RawMessage) {
	if r.err == nil {
		r.err = r.WrongType(path, expected, found)
	}
}

func isA(raw json.RawMessage, kind string) bool {
	var err error
	switch kind {
	case "string":
		return jsonvalue.IsKind(raw, '"')
	case "bool":
		return jsonvalue.IsKind(raw, 't') || jsonvalue.IsKind(raw, 'f')
	case "integer":
		_, err = strconv.ParseInt(string(raw), 10, 64)
	case "number":
		_, err = strconv.ParseFloat(string(raw), 64)
	case "strings":
		err = jsonvalue.ReadPart(raw, new([]string))
	case "object":
		return jsonvalue.IsKind(raw, '{')
	default:
		return false
	}
	return err == nil
}

// kindNames are the types of the table in words, for a message about the expected type.
var kindNames = map[string]string{"string": "a string", "bool": "true or false", "integer": "an integer",
	"number": "a number", "strings": "an array of strings"}

func kindName(m *member) string {
	switch {
	case m.isList:
		return "an array"
	case m.orText:
		return "a string or " + kindNames[m.kind]
	}
	if name := kindNames[m.kind]; name != "" {
		return name
	}
	return "an object"
}

// CheckKnown refuses members that an object does not have, unless others have them. Those of a variant are listed with
// it, if it has any.
func (a *API) CheckKnown(n *Node, object, path string, others ...string) *dialect.Error {
	o := a.Table[object]
	if v := o.variant(n.Kind); v != nil {
		o = v
	}
	names := n.Unknown(o.known)
	for _, other := range others {
		names = slices.DeleteFunc(names, func(name string) bool { return a.Table[other].known[name] })
	}
	if len(names) == 0 {
		return nil
	}
	return a.Unknown(path, names)
}

// CheckValues refuses the first member of an object that is required and missing, is not one of the words, or is out of
// its range. Names limit it to some members.
func (a *API) CheckValues(n *Node, object, path string, names ...string) *dialect.Error {
	for i := range a.Table[object].members {
		m := &a.Table[object].members[i]
		if names != nil && !slices.Contains(names, m.name) {
			continue
		}
		raw := n.Raw(m.name)
		switch {
		case m.words != nil && (m.required || jsonvalue.IsGiven(raw)) && !slices.Contains(m.words, n.Text(m.name)):
			return a.NotOneOf(jsonvalue.Join(path, m.name), n.Text(m.name), m.words)
		case m.required && (!jsonvalue.IsGiven(raw) || string(raw) == `""`):
			return a.Missing(path, m.name)
		case m.isOutside(raw):
			return a.Outside(jsonvalue.Join(path, m.name), m.number(raw), m.low, m.high)
		}
	}
	return nil
}

func (m *member) isOutside(raw json.RawMessage) bool {
	if m.low == "" && m.high == "" || !jsonvalue.IsGiven(raw) {
		return false
	}
	v, _ := strconv.ParseFloat(string(raw), 64)
	low, noLow := strconv.ParseFloat(m.low, 64)
	high, noHigh := strconv.ParseFloat(m.high, 64)
	return noLow == nil && v < low || noHigh == nil && v > high
}

func (m *member) number(raw json.RawMessage) any {
	if m.kind == "integer" {
		n, _ := strconv.ParseInt(string(raw), 10, 64)
		return n
	}
	f, _ := strconv.ParseFloat(string(raw), 64)
	return f
}
