package gemini

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// place is where a node is: a field of its parent, an item, or the entry of a map.
type place struct {
	parent *node  // nil for the request
	name   string // as written; "" for an item
	index  int    // of an item or an entry; -1 for a field
}

// inJSON returns the place as the API's reader of JSON writes it, by the names of its protobuf fields. Entries of a map
// have a number.
func (n *node) inJSON() string {
	return n.proto(func(p *place) string { return jsonvalue.At("", p.index) + ".value" })
}

// inRequest returns the place as the API's later checks write it: see the threads moltis-org/moltis#747 and #849.
func (n *node) inRequest() string {
	return "* GenerateContentRequest." + n.proto(func(p *place) string { return "[" + p.name + "]" })
}

func (n *node) proto(entry func(*place) string) string {
	switch p := &n.place; {
	case p.parent == nil:
		return ""
	case p.name == "":
		return jsonvalue.At(p.parent.proto(entry), p.index)
	case p.index >= 0:
		return p.parent.proto(entry) + entry(p)
	default:
		return jsonvalue.Join(p.parent.proto(entry), snakeCase(p.name))
	}
}

// below returns the place of a missing field.
func (n *node) below(name string) *node { return &node{place: place{n, name, -1}} }

func snakeCase(name string) string {
	var b strings.Builder
	for _, c := range name {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return b.String()
}

// typeName returns the API's name of a kind of value.
func (n *node) typeName(kind string) string {
	if name := typeNames[kind]; name != "" {
		return name
	}
	domain := "google.ai.generativelanguage.v1beta."
	if n.vertex {
		domain = "google.cloud.aiplatform.v1beta1."
	}
	return "type.googleapis.com/" + domain + strings.ToUpper(kind[:1]) + kind[1:]
}

// notInEnum refuses an unknown word: agno-agi/agno#2649.
func notInEnum(n *node, enum string) *dialect.Error {
	return invalid(n.inJSON(), "%s", n.wrongValue(enum, string(n.raw)))
}

func (n *node) wrongValue(kind, got string) string {
	return fmt.Sprintf("Invalid value at '%s' (%s), %s", n.inJSON(), n.typeName(kind), got)
}
