package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
)

// DecodeJSON decodes JSON with its numbers as they were written; nil if it is invalid.
func DecodeJSON(raw []byte) any {
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

// SameJSON reports whether two documents are equal, in any order of keys, with numbers compared by value.
func SameJSON(a, b []byte) bool {
	x, y := DecodeJSON(a), DecodeJSON(b)
	return x != nil && y != nil && Equal(x, y)
}

// Equal reports whether two decoded documents are equal, with numbers compared by value.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		other, ok := b.(json.Number)
		return ok && SameNumber(a, other)
	case []any:
		other, ok := b.([]any)
		return ok && slices.EqualFunc(a, other, Equal)
	case map[string]any:
		other, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, other, Equal)
	}
	return reflect.DeepEqual(a, b)
}

// SameNumber reports whether two numbers are equal, to 512 bits. A large exponent does not make it slower.
func SameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okX := new(big.Float).SetPrec(512).SetString(string(a))
	y, okY := new(big.Float).SetPrec(512).SetString(string(b))
	return okX && okY && !x.IsInf() && x.Cmp(y) == 0
}

// Contains reports whether a string of a decoded document contains the text, also in JSON inside a string.
func Contains(value any, text string) bool {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, text) {
			return true
		}
		switch inner := DecodeJSON([]byte(v)).(type) {
		case map[string]any, []any:
			return Contains(inner, text)
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

// EachString calls f with each string of a decoded document and its path, in order, until f returns false. Keys of
// objects count.
func EachString(value any, path string, f func(path, value string) bool) bool {
	return walk(value, path, func(path string, v any) bool {
		text, ok := v.(string)
		return !ok || f(path, text)
	})
}

// eachList calls f with each list of a decoded document and its path, in order, until f returns false.
func eachList(value any, path string, f func(path string, list []any) bool) bool {
	return walk(value, path, func(path string, v any) bool {
		list, ok := v.([]any)
		return !ok || f(path, list)
	})
}

// walk calls f with each value and each key of a decoded document, in order, until f returns false.
func walk(value any, path string, f func(path string, v any) bool) bool {
	if !f(path, value) {
		return false
	}
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			if !walk(item, fmt.Sprintf("%s[%d]", path, i), f) {
				return false
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if at := (Place{Path: path}).At(name).Path; !f(at, name) || !walk(v[name], at, f) {
				return false
			}
		}
	}
	return true
}
