package faults

import (
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// gone is what remains of a value that is deleted, and renamed of one whose name changes.
type (
	gone    struct{}
	renamed struct{}
)

// edit changes the values at a place of one message. One of its functions is set; those of a text, a list or a number
// see no other values, and no empty texts and lists.
type edit struct {
	name   string
	value  func(v any) any
	text   func(s string) string
	list   func(l []any) []any
	number func(n *big.Rat)
	// all changes all values. Before has the values at the place in the message before; nil for none.
	all func(values, before []any) []any
}

// edits are what a fault can do, in the order in which the random numbers choose them.
var edits = []edit{
	{name: "delete", value: func(any) any { return gone{} }},
	{name: "null", value: func(any) any { return nil }},
	{name: "retype", value: retype},
	{name: "cut", text: func(s string) string {
		all := []rune(s)
		return string(all[:(len(all)+1)/2])
	}},
	{name: "append", text: func(s string) string { return s + "x" }},
	{name: "empty", value: empty},
	{name: "reverse", value: reverse},
	{name: "duplicate", list: func(l []any) []any { return append(l, l[len(l)-1]) }},
	{name: "drop first", list: func(l []any) []any { return l[1:] }},
	{name: "drop last", list: func(l []any) []any { return l[:len(l)-1] }},
	{name: "double", number: func(n *big.Rat) { n.Add(n, n) }},
	{name: "flip", value: flip},
	{name: "add one", number: func(n *big.Rat) { n.Add(n, big.NewRat(1, 1)) }},
	{name: "move first", list: func(l []any) []any { return append(l[1:], l[0]) }},
	{name: "swap", list: func(l []any) []any {
		last := len(l) - 1
		l[last], l[max(last-1, 0)] = l[max(last-1, 0)], l[last]
		return l
	}},
	{name: "add null", list: func(l []any) []any { return append(l, nil) }},
	{name: "as JSON", value: asJSON},
	{name: "other case", text: otherCase},
	{name: "rename", value: func(any) any { return renamed{} }},
	{name: "trim", text: strings.TrimSpace},
	{name: "in one line", text: strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace},
	{name: "in ASCII", text: inASCII},
	{name: "exchange", all: func(values, _ []any) []any { return append(values[1:], values[0]) }},
	{name: "all alike", all: func(values, _ []any) []any {
		for i := range values {
			values[i] = values[0]
		}
		return values
	}},
	{name: "the one before", all: func(values, before []any) []any {
		copy(values, before)
		return values
	}},
}

// apply returns what becomes of the values at a place. Equal values are no change.
func (e *edit) apply(values, before []any) []any {
	if values = slices.Clone(values); e.all != nil {
		return e.all(values, before)
	}
	for i, v := range values {
		values[i] = e.one(v)
	}
	return values
}

func (e *edit) one(v any) any {
	switch t := v.(type) {
	case string:
		if e.text != nil && t != "" {
			return e.text(t)
		}
	case []any:
		if e.list != nil && len(t) > 0 {
			return e.list(slices.Clone(t))
		}
	case json.Number:
		if n, ok := new(big.Rat).SetString(t.String()); ok && e.number != nil {
			e.number(n)
			return numberOf(n)
		}
	}
	if e.value != nil {
		return e.value(v)
	}
	return v
}

// whole are the edits of a message as a whole, as bits: to lose it, and to send it twice.
const whole = 1<<0 | 1<<7

// retype makes a value of another type that a careless client could make of it.
func retype(v any) any {
	switch v := v.(type) {
	case string:
		return json.Number("7")
	case json.Number:
		return v.String()
	case bool:
		return string(jsonvalue.Marshal(v))
	case nil:
		return "null"
	case []any:
		return object{"items": v}
	}
	return []any{v}
}

func empty(v any) any {
	switch v.(type) {
	case string:
		return ""
	case json.Number:
		return json.Number("0")
	case []any:
		return []any{}
	case object:
		return object{}
	}
	return v
}

func reverse(v any) any {
	switch v := v.(type) {
	case string:
		s := []rune(v)
		slices.Reverse(s)
		return string(s)
	case []any:
		list := slices.Clone(v)
		slices.Reverse(list)
		return list
	}
	return v
}

func flip(v any) any {
	if b, ok := v.(bool); ok {
		return !b
	}
	return v
}

func numberOf(n *big.Rat) json.Number {
	if n.IsInt() {
		return json.Number(n.Num().String())
	}
	double, _ := n.Float64()
	return json.Number(jsonvalue.Marshal(double))
}

// asJSON makes a text of an object or a list, as of the arguments of OpenAI.
func asJSON(v any) any {
	switch v.(type) {
	case object, []any:
		return string(jsonvalue.Marshal(v))
	}
	return v
}

func otherCase(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	other := unicode.ToUpper(first)
	if other == first {
		other = unicode.ToLower(first)
	}
	return string(other) + s[size:]
}

func inASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, s)
}

// can returns the edits that change the values at a place of one message, beside those that are known, as bits.
func can(spots []spot, before []any, known uint) uint {
	bits := known
	for i := range edits {
		if bits&(1<<i) == 0 && len(edits[i].changes(spots, before)) > 0 {
			bits |= 1 << i
		}
	}
	return bits
}

// changes returns what the edit makes of those values that it changes, by index.
func (e *edit) changes(spots []spot, before []any) map[int]any {
	changed := map[int]any{}
	for i, after := range e.apply(valuesOf(spots), before) {
		switch s := &spots[i]; after {
		case gone{}, renamed{}:
			if s.remove != nil {
				changed[i] = after
			}
		default:
			if !reflect.DeepEqual(s.value, after) {
				changed[i] = after
			}
		}
	}
	return changed
}

func valuesOf(spots []spot) []any {
	values := make([]any, len(spots))
	for i := range spots {
		values[i] = spots[i].value
	}
	return values
}

// become gives a spot the value that an edit made.
func (s *spot) become(after any) {
	switch after {
	case gone{}:
		s.remove()
	case renamed{}:
		s.rename()
	default:
		s.set(after)
	}
}
