package faults

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// object is a JSON object.
type object = map[string]any

// Place is a place in a kind of message.
type Place struct {
	// Kind is the kind of message: a method of the client, or one of the kinds in this package.
	Kind string `json:"kind"`
	// Pattern is a path in the message, such as messages[role=tool].content. An item of an array shows its role and its
	// type, and * stands for any name. "" is the message as a whole.
	Pattern string `json:"pattern"`
}

func (p Place) String() string { return strings.TrimSpace(p.Kind + " " + p.Pattern) }

// spot is a value at a place of one message.
type spot struct {
	pattern string
	value   any
	set     func(any)
	remove  func() // nil for an item of an array, like rename
	rename  func()
}

// region says how names are written in patterns.
type region int

const (
	message region = iota // as they are, and with the type and the role of objects
	schema                // as they are
	entries               // as *, with messages below
	members               // as *, with schemas below
	free                  // as *, also below
	opaque                // as *, with nothing below
)

// regions are the regions below a name: in a message, and in a schema.
var regions = map[region]map[string]region{
	message: {
		"inputResponses": entries, "inputRequests": opaque,
		"inputSchema": schema, "input_schema": schema, "parameters": schema, "parametersJsonSchema": schema,
		"input": free, "arguments": free, "args": free, "response": free, "structuredContent": free, "metadata": free,
	},
	schema: {"properties": members, "$defs": members, "definitions": members},
}

// walk returns the values in an object, outer ones first. Equal objects give equal lists.
func walk(o object) []spot {
	w := walker{}
	w.object(o, "", message)
	return w.found
}

// placesIn returns the values in an object by pattern, and the patterns in order.
func placesIn(o object) (patterns []string, spots map[string][]spot) {
	spots = map[string][]spot{}
	for _, s := range walk(o) {
		if spots[s.pattern] == nil {
			patterns = append(patterns, s.pattern)
		}
		spots[s.pattern] = append(spots[s.pattern], s)
	}
	return patterns, spots
}

type walker struct{ found []spot }

func (w *walker) value(s spot, r region) {
	if o, ok := s.value.(object); ok && r == message {
		s.pattern += kindOfObject(o)
	}
	w.found = append(w.found, s)
	if r == opaque && strings.HasSuffix(s.pattern, ".*") { // what is in a request for input is a message of its own
		return
	}
	switch v := s.value.(type) {
	case object:
		w.object(v, s.pattern, r)
	case []any:
		for i, item := range v {
			pattern := s.pattern
			if o, ok := item.(object); !ok || r != message || kindOfObject(o) == "" {
				pattern += "[]"
			}
			w.value(spot{pattern: pattern, value: item, set: func(item any) { v[i] = item }}, r)
		}
	}
}

func (w *walker) object(o object, pattern string, r region) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		shown, below := name, r
		switch r {
		case entries, members, free, opaque:
			shown, below = "*", map[region]region{entries: message, members: schema, free: free, opaque: opaque}[r]
		default:
			if inner, ok := regions[r][name]; ok {
				below = inner
			}
		}
		if _, isObject := o[name].(object); !isObject && below == free {
			below = r // the input of OpenAI's responses is a list of messages
		}
		w.value(spot{
			pattern: strings.TrimPrefix(pattern+"."+shown, "."), value: o[name],
			set: func(v any) { o[name] = v }, remove: func() { delete(o, name) },
			rename: func() {
				o[otherCase(name)] = o[name]
				delete(o, name)
			},
		}, below)
	}
}

// word is a role or a type that a protocol defines.
var word = regexp.MustCompile(`^[a-z_.]{1,60}$`)

// kindOfObject is the role and the type of an object, as a pattern shows them.
func kindOfObject(o object) string {
	var shown []string
	for _, name := range []string{"role", "type"} {
		if s := jsonvalue.TextIn(o, name); word.MatchString(s) {
			shown = append(shown, name+"="+s)
		}
	}
	if shown == nil {
		return ""
	}
	return "[" + strings.Join(shown, ",") + "]"
}
