package jsonvalue

import (
	"bytes"
	"encoding/json"
)

// Ordered writes a JSON object of names and values in turn, in this order. Members whose value is [Absent] are omitted.
// It is for small objects; structs are for the others.
func Ordered(pairs ...any) json.RawMessage {
	var out bytes.Buffer
	write := func(v any) {
		Write(&out, v)
		out.Truncate(out.Len() - 1)
	}
	out.WriteByte('{')
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == Absent {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		write(pairs[i])
		out.WriteByte(':')
		write(pairs[i+1])
	}
	out.WriteByte('}')
	return out.Bytes()
}

type absent struct{}

// Absent is the value of a member that [Ordered] omits.
var Absent = absent{}

// OrAbsent returns the value, or [Absent] if it is the zero value.
func OrAbsent[T comparable](v T) any {
	var zero T
	if v == zero {
		return Absent
	}
	return v
}

// ListOrAbsent returns the list, or [Absent] if it is empty.
func ListOrAbsent[T any](list []T) any {
	if len(list) == 0 {
		return Absent
	}
	return list
}
