// Package jsontree reads and writes JSON values as they are written, with duplicate members and numbers of any size,
// and shrinks them.
package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
func Parse(raw []byte) (*Node, error) {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return nil, errors.New("not JSON")
	}
	return read(raw)
}

// read decodes valid JSON.
func read(raw []byte) (*Node, error) {
	if raw[0] != '{' && raw[0] != '[' {
		return &Node{Text: string(raw)}, nil
	}
	n := &Node{Kind: raw[0]}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	for dec.More() {
		if n.Kind == '{' {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			n.Names = append(n.Names, name.(string))
		}
		var inner json.RawMessage
		if err := dec.Decode(&inner); err != nil {
			return nil, err
		}
		item, err := read(inner)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, item)
	}
	return n, nil
}

// Must is [Parse] for constants: it panics if raw is not JSON.
func Must(raw string) *Node {
	n, err := Parse([]byte(raw))
	if err != nil {
		panic(fmt.Sprintf("jsontree: %s: %v", raw, err))
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
func Quote(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic("jsontree: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

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
