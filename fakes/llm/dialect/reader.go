package dialect

import (
	"encoding/json"
	"strconv"
)

// Reader reads the members of a request and keeps the first error, in the provider's words.
type Reader struct {
	// Invalid makes the error for a value of another type than documented.
	Invalid func(path, want string, got json.RawMessage) *Error
	// Err is the first error; nil if there is none.
	Err *Error
}

// Refuse keeps an error for a value, unless there is one already.
func (r *Reader) Refuse(path, want string, got json.RawMessage) {
	if r.Err == nil {
		r.Err = r.Invalid(path, want, got)
	}
}

// Read reads a member of the object at path into the pointer v. It skips a null or missing member.
func (r *Reader) Read(o Members, path, name string, v any) { r.Value(o.Raw(name), path, name, v) }

// Value is Read with the member's value.
func (r *Reader) Value(raw json.RawMessage, path, name string, v any) {
	if IsGiven(raw) && ReadPart(raw, v) != nil {
		r.Refuse(Join(path, name), TypeName(v), raw)
	}
}

// Object reads the element of an array.
func (r *Reader) Object(raw json.RawMessage, path string) Members {
	var o Members
	if ReadPart(raw, &o) != nil || o == nil {
		r.Refuse(path, "an object", raw)
	}
	return o
}

// Each calls element with each element of an array member, and the element's path.
func (r *Reader) Each(o Members, path, name string, element func(raw json.RawMessage, path string)) {
	var all []json.RawMessage
	r.Read(o, path, name, &all)
	for i, raw := range all {
		element(raw, At(Join(path, name), i))
	}
}

// Optional reads a member; nil if it is null or missing.
func Optional[T any](r *Reader, o Members, path, name string) *T {
	if !o.Has(name) {
		return nil
	}
	v := new(T)
	r.Read(o, path, name, v)
	return v
}

// Join returns the path of a member of the object at path; the path of the body is "".
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// At returns the path of an element.
func At(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// Outside reports whether a number is given and below low or above high.
func Outside[T int64 | float64](v *T, low, high T) bool { return v != nil && (*v < low || *v > high) }
