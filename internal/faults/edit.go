package faults

import (
	"encoding/json"
	"math/big"
	"reflect"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

// gone is what remains of a value that is deleted.
type gone struct{}

// edit changes a value. An equal value is no change.
type edit struct {
	name  string
	apply func(v any) any
}

// edits are what a fault can do to a value, in the order in which the random numbers choose them.
var edits = []edit{
	{"delete", func(any) any { return gone{} }},
	{"null", func(any) any { return nil }},
	{"retype", retype},
	{"cut", ofText(func(s []rune) []rune { return s[:(len(s)+1)/2] })},
	{"append", ofText(func(s []rune) []rune { return append(slices.Clip(s), 'x') })},
	{"empty", empty},
	{"reverse", reverse},
	{"duplicate", ofItems(func(l []any) []any { return append(slices.Clip(l), l[len(l)-1]) })},
	{"drop first", ofItems(func(l []any) []any { return l[1:] })},
	{"drop last", ofItems(func(l []any) []any { return l[:len(l)-1] })},
	{"double", double},
	{"flip", func(v any) any {
		if b, ok := v.(bool); ok {
			return !b
		}
		return v
	}},
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

func double(v any) any {
	number, ok := v.(json.Number)
	if !ok {
		return v
	}
	r, ok := new(big.Rat).SetString(number.String())
	if !ok {
		return v
	}
	r.Add(r, r)
	if r.IsInt() {
		return json.Number(r.Num().String())
	}
	f, _ := r.Float64()
	return json.Number(mcpjson.Marshal(f))
}

// can returns the edits that change the value, as bits.
func can(s *spot) uint {
	var bits uint
	for i, e := range edits {
		if e.changes(s) {
			bits |= 1 << i
		}
	}
	return bits
}

// changes reports whether the edit changes the value of a spot.
func (e *edit) changes(s *spot) bool {
	after := e.apply(s.value)
	if after == (gone{}) {
		return s.remove != nil
	}
	return !reflect.DeepEqual(s.value, after)
}

// change makes the edit.
func (e *edit) change(s *spot) {
	if after := e.apply(s.value); after == (gone{}) {
		s.remove()
	} else {
		s.set(after)
	}
}
