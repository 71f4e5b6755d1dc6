package malformed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// node is a JSON value as it is written: members in their order, duplicate names included.
type node struct {
	kind  byte     // '{', '[', or 0 for other values
	text  string   // the literal, if kind is 0
	names []string // of an object's members
	items []*node  // of an array, or the values of an object's members
}

// parse decodes a JSON value.
func parse(raw []byte) (*node, error) {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return nil, errors.New("not JSON")
	}
	return read(raw)
}

// read decodes valid JSON.
func read(raw []byte) (*node, error) {
	if raw[0] != '{' && raw[0] != '[' {
		return &node{text: string(raw)}, nil
	}
	n := &node{kind: raw[0]}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	for dec.More() {
		if n.kind == '{' {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, name.(string))
		}
		var inner json.RawMessage
		if err := dec.Decode(&inner); err != nil {
			return nil, err
		}
		item, err := read(inner)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	return n, nil
}

// must is parse for constants.
func must(raw string) *node {
	n, err := parse([]byte(raw))
	if err != nil {
		panic(fmt.Sprintf("malformed: %s: %v", raw, err))
	}
	return n
}

// bytes encodes the value without white space.
func (n *node) bytes() []byte {
	var b bytes.Buffer
	n.write(&b)
	return b.Bytes()
}

func (n *node) write(b *bytes.Buffer) {
	if n.kind == 0 {
		b.WriteString(n.text)
		return
	}
	b.WriteByte(n.kind)
	for i, item := range n.items {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.kind == '{' {
			b.WriteString(quoted(n.names[i]))
			b.WriteByte(':')
		}
		item.write(b)
	}
	b.WriteByte(n.kind + 2) // in ASCII the closing bracket is two after the opening one
}

func quoted(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic("malformed: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// clone returns a deep copy.
func (n *node) clone() *node {
	c := &node{kind: n.kind, text: n.text, names: slices.Clone(n.names)}
	for _, item := range n.items {
		c.items = append(c.items, item.clone())
	}
	return c
}

// remove removes the i-th item.
func (n *node) remove(i int) {
	n.items = slices.Delete(n.items, i, i+1)
	if n.kind == '{' {
		n.names = slices.Delete(n.names, i, i+1)
	}
}

// add appends a member to an object.
func (n *node) add(name string, value *node) {
	n.names, n.items = append(n.names, name), append(n.items, value)
}

// place is the i-th item of a node.
type place struct {
	holder *node
	i      int
	path   string
}

func (p *place) value() *node    { return p.holder.items[p.i] }
func (p *place) replace(n *node) { p.holder.items[p.i] = n }
func (p *place) name() string    { return nameOf(p.holder, p.i) }
func nameOf(n *node, i int) string {
	if n.kind == '{' {
		return n.names[i]
	}
	return ""
}

// places returns all values inside of a value, outer ones first.
func places(n *node, path string) []place {
	var all []place
	for i := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if n.kind == '{' {
			at = strings.TrimPrefix(path+"."+n.names[i], ".")
		}
		all = append(all, place{n, i, at})
		all = append(all, places(n.items[i], at)...)
	}
	return all
}

// is returns the JSON Schema type of a value.
func (n *node) is() string {
	switch {
	case n.kind == '{':
		return "object"
	case n.kind == '[':
		return "array"
	case n.text[0] == '"':
		return "string"
	case n.text == "null":
		return "null"
	case n.text == "true", n.text == "false":
		return "boolean"
	}
	return "number"
}
