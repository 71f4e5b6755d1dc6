// Package codecs has what the codecs share to read and write requests.
package codecs

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Reader reads the members of a request and keeps the first error, in the provider's words.
type Reader struct {
	// Invalid makes the error for a value of another type than documented.
	Invalid func(path, want string, got json.RawMessage) *dialect.Error
	// Err is the first error; nil for none.
	Err *dialect.Error
}

// Refuse keeps an error for a value, unless there is one already.
func (r *Reader) Refuse(path, want string, got json.RawMessage) {
	if r.Err == nil {
		r.Err = r.Invalid(path, want, got)
	}
}

// Read reads a member of the object at path into the pointer v. It skips a null or missing member.
func (r *Reader) Read(o jsonvalue.Members, path, name string, v any) {
	r.Value(o.Raw(name), path, name, v)
}

// ReadAll reads members by names and pointers in turn, in this order.
func (r *Reader) ReadAll(o jsonvalue.Members, path string, pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		r.Read(o, path, pairs[i].(string), pairs[i+1])
	}
}

// Value is Read with the member's value.
func (r *Reader) Value(raw json.RawMessage, path, name string, v any) {
	if jsonvalue.IsGiven(raw) && jsonvalue.ReadPart(raw, v) != nil {
		r.Refuse(jsonvalue.Join(path, name), jsonvalue.TypeName(v), raw)
	}
}

// Object reads the element of an array.
func (r *Reader) Object(raw json.RawMessage, path string) jsonvalue.Members {
	if !jsonvalue.IsKind(raw, '{') {
		r.Refuse(path, "an object", raw)
		return nil
	}
	var o jsonvalue.Members
	_ = jsonvalue.ReadPart(raw, &o)
	return o
}

// List reads an array member with read, which gets a place in the list, the element for it, and the element's path.
func List[T any](r *Reader, o jsonvalue.Members, path, name string,
	read func(to *T, raw json.RawMessage, path string)) []T {
	var all []json.RawMessage
	r.Read(o, path, name, &all)
	if all == nil {
		return nil
	}
	list, path := make([]T, len(all)), jsonvalue.Join(path, name)
	for i, raw := range all {
		read(&list[i], raw, jsonvalue.At(path, i))
	}
	return list
}

// Each calls element with each element of an array member, and the element's path.
func (r *Reader) Each(o jsonvalue.Members, path, name string, element func(raw json.RawMessage, path string)) {
	var all []json.RawMessage
	r.Read(o, path, name, &all)
	for i, raw := range all {
		element(raw, jsonvalue.At(jsonvalue.Join(path, name), i))
	}
}

// First returns the first error of the checks.
func First[T any](v T, checks ...func(T) *dialect.Error) *dialect.Error {
	for _, check := range checks {
		if err := check(v); err != nil {
			return err
		}
	}
	return nil
}

// Each returns the first error of the check on an element.
func Each[T any](all []T, check func(*T) *dialect.Error) *dialect.Error {
	for i := range all {
		if err := check(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// Outside reports whether a number is given and below low or above high.
func Outside[T int64 | float64](v *T, low, high T) bool { return v != nil && (*v < low || *v > high) }
