package jsonvalue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Decode decodes JSON with its numbers as they were written, as [json.Number]; nil if it is invalid.
func Decode(raw []byte) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	if _, err := dec.Token(); err != io.EOF { // something follows
		return nil
	}
	return v
}

// Same reports whether two documents are equal (see [Equal]). Nothing is equal to invalid JSON and null.
func Same(a, b []byte) bool {
	x := Decode(a)
	return x != nil && (bytes.Equal(a, b) || Equal(x, Decode(b)))
}

// Equal reports whether two decoded values are equal, with members in any order and numbers compared by value.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		other, ok := b.(json.Number)
		return ok && (a == other || Number(string(a)) == Number(string(other)))
	case []any:
		other, ok := b.([]any)
		return ok && slices.EqualFunc(a, other, Equal)
	case map[string]any:
		other, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, other, Equal)
	}
	return reflect.DeepEqual(a, b)
}

// Number returns one notation for equal numbers and keeps every digit: 1, 1.0 and 10e-1 are equal, while
// 9007199254740993 differs from 9007199254740992 (as float64 they are equal). A fraction, or a number below 1, has the
// exponent e-. What is not a number stays as it is.
func Number(s string) string {
	digits, negative := strings.CutPrefix(s, "-")
	exponent := 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(digits[i+1:]); err != nil || exponent > 1<<30 || exponent < -1<<30 {
			return s // too large to matter
		}
		digits = digits[:i]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return s
	}
	digits = strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	short := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(short)
	switch {
	case short == "":
		return "0"
	case exponent >= 0 && exponent <= 20:
		short += strings.Repeat("0", exponent)
	default:
		short += "e" + strconv.Itoa(exponent)
	}
	if negative {
		return "-" + short
	}
	return short
}

// Canonical returns the text that is the same for all equal values. A value that is not JSON, but a [fmt.Stringer], is
// its text, which is equal to no JSON if it is not JSON.
func Canonical(v any) string { return string(appendCanonical(nil, v)) }

func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, Marshal(name)...), ':')
			b = appendCanonical(b, v[name])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, item)
		}
		return append(b, ']')
	case json.Number:
		return append(b, Number(string(v))...)
	case fmt.Stringer:
		return append(b, v.String()...)
	}
	return append(b, Marshal(v)...)
}

// Walk calls f with each value and each name of a decoded value and its path, in order, until f returns false.
func Walk(v any, path string, f func(path string, v any) bool) bool {
	if !f(path, v) {
		return false
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if !Walk(item, At(path, i), f) {
				return false
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if at := Join(path, name); !f(at, name) || !Walk(v[name], at, f) {
				return false
			}
		}
	}
	return true
}

// EachString calls f with each string of a decoded value and its path, in order, until f returns false. Names count.
func EachString(v any, path string, f func(path, text string) bool) bool {
	return Walk(v, path, func(path string, v any) bool {
		text, ok := v.(string)
		return !ok || f(path, text)
	})
}

// Contains reports whether a string of a decoded value contains the text, also in JSON inside a string. Names do not
// count.
func Contains(v any, text string) bool {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, text) {
			return true
		}
		if inner := strings.TrimLeft(v, " \t\r\n"); inner != "" && (inner[0] == '{' || inner[0] == '[') {
			return Contains(Decode([]byte(inner)), text)
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return Contains(item, text) })
	case map[string]any:
		for _, item := range v {
			if Contains(item, text) {
				return true
			}
		}
	}
	return false
}

// Missing stands for a member or an item that is not there.
var Missing any = missing{}

type missing struct{}

func (missing) String() string { return "nothing" }

// MemberOf returns a member, or [Missing].
func MemberOf(o map[string]any, name string) any {
	if v, ok := o[name]; ok {
		return v
	}
	return Missing
}

// ItemOf returns an item, or [Missing].
func ItemOf(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return Missing
}

// Difference returns the path of the first difference between two decoded values, and the values there. Members of a
// come first.
func Difference(path string, a, b any) (where string, first, second any) {
	switch a := a.(type) {
	case map[string]any:
		if other, ok := b.(map[string]any); ok {
			names := slices.Sorted(maps.Keys(a))
			for _, name := range slices.Sorted(maps.Keys(other)) {
				if _, both := a[name]; !both {
					names = append(names, name)
				}
			}
			for _, name := range names {
				if v, w := MemberOf(a, name), MemberOf(other, name); !Equal(v, w) {
					return Difference(Join(path, name), v, w)
				}
			}
		}
	case []any:
		if other, ok := b.([]any); ok {
			for i := range max(len(a), len(other)) {
				if v, w := ItemOf(a, i), ItemOf(other, i); !Equal(v, w) {
					return Difference(At(path, i), v, w)
				}
			}
		}
	}
	return path, a, b
}
