package faults

import (
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

// gone is what remains of a value that is deleted, and renamed of one whose name changes.
type (
	gone    struct{}
	renamed struct{}
)

// edit changes the values at a place of one message. Before has the values there in the message before; nil for none.
// Equal values are no change.
type edit struct {
	name  string
	apply func(values, before []any) []any
}

// edits are what a fault can do, in the order in which the random numbers choose them.
var edits = []edit{
	{"delete", each(func(any) any { return gone{} })},
	{"null", each(func(any) any { return nil })},
	{"retype", each(retype)},
	{"cut", each(ofText(func(s []rune) []rune { return s[:(len(s)+1)/2] }))},
	{"append", each(ofText(func(s []rune) []rune { return append(slices.Clip(s), 'x') }))},
	{"empty", each(empty)},
	{"reverse", each(reverse)},
	{"duplicate", each(ofItems(func(l []any) []any { return append(slices.Clip(l), l[len(l)-1]) }))},
	{"drop first", each(ofItems(func(l []any) []any { return l[1:] }))},
	{"drop last", each(ofItems(func(l []any) []any { return l[:len(l)-1] }))},
	{"double", each(ofNumber(func(n *big.Rat) { n.Add(n, n) }))},
	{"flip", each(func(v any) any {
		if b, ok := v.(bool); ok {
			return !b
		}
		return v
	})},
	{"add one", each(ofNumber(func(n *big.Rat) { n.Add(n, big.NewRat(1, 1)) }))},
	{"move first", each(ofItems(func(l []any) []any { return append(slices.Clone(l[1:]), l[0]) }))},
	{"swap", each(ofItems(func(l []any) []any {
		l = slices.Clone(l)
		last := len(l) - 1
		l[last], l[max(last-1, 0)] = l[max(last-1, 0)], l[last]
		return l
	}))},
	{"add null", each(ofItems(func(l []any) []any { return append(slices.Clip(l), nil) }))},
	{"as JSON", each(asJSON)},
	{"other case", each(ofText(func(s []rune) []rune { return []rune(otherCase(string(s))) }))},
	{"rename", each(func(any) any { return renamed{} })},
	{"trim", each(ofText(func(s []rune) []rune { return []rune(strings.TrimSpace(string(s))) }))},
	{"in one line", each(ofText(func(s []rune) []rune { return []rune(oneLine.Replace(string(s))) }))},
	{"in ASCII", each(ofText(inASCII))},
	{"exchange", func(values, _ []any) []any { return append(slices.Clone(values[1:]), values[0]) }},
	{"all alike", func(values, _ []any) []any { return slices.Repeat(values[:1], len(values)) }},
	{"the one before", func(values, before []any) []any {
		all := slices.Clone(values)
		copy(all, before)
		return all
	}},
}

// each returns an edit of one value as one of all values.
func each(f func(v any) any) func(values, before []any) []any {
	return func(values, _ []any) []any {
		all := make([]any, len(values))
		for i, v := range values {
			all[i] = f(v)
		}
		return all
	}
}

// whole are the edits of a message as a whole, as bits: to lose it, and to send it twice.
const whole = 1<<0 | 1<<7

func ofText(f func([]rune) []rune) func(any) any {
	return func(v any) any {
		if s, ok := v.(string); ok && s != "" {
			return string(f([]rune(s)))
		}
		return v
	}
}

func ofItems(f func([]any) []any) func(any) any {
	return func(v any) any {
		if list, ok := v.([]any); ok && len(list) > 0 {
			return f(list)
		}
		return v
	}
}

// retype makes a value of another type that a careless client could make of it.
func retype(v any) any {
	switch v := v.(type) {
	case string:
		return json.Number("7")
	case json.Number:
		return v.String()
	case bool:
		return string(mcpjson.Marshal(v))
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

func ofNumber(f func(n *big.Rat)) func(any) any {
	return func(v any) any {
		number, _ := v.(json.Number)
		r, ok := new(big.Rat).SetString(number.String())
		if !ok {
			return v
		}
		if f(r); r.IsInt() {
			return json.Number(r.Num().String())
		}
		double, _ := r.Float64()
		return json.Number(mcpjson.Marshal(double))
	}
}

// asJSON makes a text of an object or a list, as of the arguments of OpenAI.
func asJSON(v any) any {
	switch v.(type) {
	case object, []any:
		return string(mcpjson.Marshal(v))
	}
	return v
}

// otherCase changes the case of the first letter.
func otherCase(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	other := unicode.ToUpper(first)
	if other == first {
		other = unicode.ToLower(first)
	}
	return string(other) + s[size:]
}

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

func inASCII(s []rune) []rune {
	s = slices.Clone(s)
	for i, r := range s {
		if r > unicode.MaxASCII {
			s[i] = '?'
		}
	}
	return s
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
