package jsonvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Node is a JSON value as it is written: members in their order, duplicate names included.
type Node struct {
	Kind  byte     // '{', '[', or 0 for other values
	Text  string   // the literal, if Kind is 0
	Names []string // of an object's members
	Items []*Node  // of an array, or the values of an object's members
}

// Parse decodes a JSON value. It returns an error if raw is not JSON.
func Parse(raw []byte) (*Node, error) { return ParseAtMost(raw, math.MaxInt) }

// ErrTooMany is the error of [ParseAtMost] for a document with more values.
var ErrTooMany = errors.New("too many values")

// ParseAtMost is [Parse] of a document with at most so many values, itself included.
func ParseAtMost(raw []byte, values int) (*Node, error) {
	raw = bytes.Trim(raw, " \t\r\n")
	if err := Validate(raw); err != nil {
		return nil, err
	}
	p := parser{raw: raw, left: values}
	if n := p.value(); p.left >= 0 {
		return n, nil
	}
	return nil, ErrTooMany
}

// Validate returns nil for one JSON value. Valid JSON with more levels than encoding/json reads gets an error of its
// own.
func Validate(raw []byte) error {
	var whole json.RawMessage
	switch err := json.Unmarshal(raw, &whole); {
	case err == nil:
		return nil
	case strings.HasSuffix(err.Error(), "exceeded max depth"):
		return errors.New("JSON of more than 10,000 levels, which this program does not read")
	}
	return errors.New("not JSON")
}

// parser reads valid JSON, so that it needs no bounds checks.
type parser struct {
	raw  []byte
	i    int // of the next byte
	left int // how many more values may follow; negative after too many
}

// value reads the value at a place without white space before it.
func (p *parser) value() *Node {
	if p.left--; p.left < 0 {
		return nil
	}
	kind := p.raw[p.i]
	if kind != '{' && kind != '[' {
		return &Node{Text: string(p.part())}
	}
	n := &Node{Kind: kind}
	for p.i++; p.more(); {
		if kind == '{' {
			name, _ := TextOf(p.part())
			n.Names = append(n.Names, name)
			p.more() // skips the colon
		}
		if n.Items = append(n.Items, p.value()); p.left < 0 {
			return nil
		}
	}
	return n
}

// part reads a string, a number or a word.
func (p *parser) part() []byte {
	begin := p.i
	if p.raw[begin] == '"' {
		p.i = quoteAfter(p.raw, begin) + 1
		return p.raw[begin:p.i]
	}
	for p.i < len(p.raw) && bytes.IndexByte([]byte(",]} \t\r\n"), p.raw[p.i]) < 0 {
		p.i++
	}
	return p.raw[begin:p.i]
}

// more skips white space, commas and colons, and reports whether a value or a name follows. If not, it skips the
// closing bracket.
func (p *parser) more() bool {
	for bytes.IndexByte([]byte(",: \t\r\n"), p.raw[p.i]) >= 0 {
		p.i++
	}
	if p.raw[p.i] == ']' || p.raw[p.i] == '}' {
		p.i++
		return false
	}
	return true
}

// Must is [Parse] for constants: it panics if raw is not JSON.
func Must(raw string) *Node {
	n, err := Parse([]byte(raw))
	if err != nil {
		panic(fmt.Sprintf("jsonvalue: %s: %v", raw, err))
	}
	return n
}

// Bytes encodes the value without white space.
func (n *Node) Bytes() []byte {
	var b bytes.Buffer
	n.write(&b)
	return b.Bytes()
}

func (n *Node) write(b *bytes.Buffer) {
	if n.Kind == 0 {
		b.WriteString(n.Text)
		return
	}
	b.WriteByte(n.Kind)
	for i, item := range n.Items {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.Kind == '{' {
			b.WriteString(Quote(n.Names[i]))
			b.WriteByte(':')
		}
		item.write(b)
	}
	b.WriteByte(n.Kind + 2) // in ASCII the closing bracket is two after the opening one
}

// Quote returns a text as a JSON string, without escapes for HTML.
func Quote(text string) string { return string(Marshal(text)) }

// Clone returns a deep copy.
func (n *Node) Clone() *Node {
	c := &Node{Kind: n.Kind, Text: n.Text, Names: slices.Clone(n.Names)}
	for _, item := range n.Items {
		c.Items = append(c.Items, item.Clone())
	}
	return c
}

// Remove removes the i-th item.
func (n *Node) Remove(i int) {
	n.Items = slices.Delete(n.Items, i, i+1)
	if n.Kind == '{' {
		n.Names = slices.Delete(n.Names, i, i+1)
	}
}

// Add appends a member to an object.
func (n *Node) Add(name string, value *Node) {
	n.Names, n.Items = append(n.Names, name), append(n.Items, value)
}

// Member returns the value of an object's first member with the name; nil without one.
func (n *Node) Member(name string) *Node {
	if i := slices.Index(n.Names, name); i >= 0 {
		return n.Items[i]
	}
	return nil
}

// Place is the item of Holder with the index I.
type Place struct {
	Holder *Node
	I      int
	// Path leads from the root to the place, such as "messages[0].content".
	Path string
}

// Value returns the value at the place.
func (p *Place) Value() *Node { return p.Holder.Items[p.I] }

// Replace replaces the value at the place.
func (p *Place) Replace(n *Node) { p.Holder.Items[p.I] = n }

// Name returns the name of the member; "" for an item of an array.
func (p *Place) Name() string {
	if p.Holder.Kind == '{' {
		return p.Holder.Names[p.I]
	}
	return ""
}

// Places returns all values inside of a value at the path, outer ones first.
func Places(n *Node, path string) []Place {
	var all []Place
	for i := range n.Items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if n.Kind == '{' {
			at = strings.TrimPrefix(path+"."+n.Names[i], ".")
		}
		all = append(all, Place{n, i, at})
		all = append(all, Places(n.Items[i], at)...)
	}
	return all
}

// Type returns the JSON Schema type of a value.
func (n *Node) Type() string {
	switch {
	case n.Kind == '{':
		return "object"
	case n.Kind == '[':
		return "array"
	case n.Text[0] == '"':
		return "string"
	case n.Text == "null":
		return "null"
	case n.Text == "true", n.Text == "false":
		return "boolean"
	}
	return "number"
}
