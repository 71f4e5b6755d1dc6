// Package jsonvalue reads, compares and writes JSON as it is on the wire: members in their order with exact names,
// duplicates, and numbers as they are written.
package jsonvalue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// IsKind reports whether a JSON value, without leading white space, begins with the character of its type: {, [, ", t,
// f or n.
func IsKind(raw json.RawMessage, first byte) bool { return len(raw) > 0 && raw[0] == first }

// IsGiven reports whether a member's value is present and not null.
func IsGiven(raw json.RawMessage) bool { return raw != nil && !IsKind(raw, 'n') }

// JSONName names the JSON type of an actual value for a message. A number is shown.
func JSONName(raw json.RawMessage) string {
	switch {
	case len(raw) == 0:
		return "nothing"
	case IsKind(raw, '"'):
		return "a string"
	case IsKind(raw, '{'):
		return "an object"
	case IsKind(raw, '['):
		return "an array"
	case IsKind(raw, 't'), IsKind(raw, 'f'):
		return "true or false"
	case IsKind(raw, 'n'):
		return "null"
	}
	return "the number " + string(raw)
}

// Object is a JSON object with exact member names. encoding/json accepts "toolUseID" for "toolUseId"; providers do not,
// and a fake must not hide the mistake. Values are complete JSON without surrounding white space.
type Object map[string]json.RawMessage

// Has reports whether the member is present and not null.
func (o Object) Has(name string) bool { return IsGiven(o[name]) }

// Read reads the member into the pointer v. A missing or null member leaves v unchanged. A member of another type is an
// error; it leaves v unchanged unless v is a slice, map or struct.
func (o Object) Read(name string, v any) error {
	if !o.Has(name) {
		return nil
	}
	return ReadPart(o[name], v)
}

// Text returns a member that is a string, else "".
func (o Object) Text(name string) string {
	var s string
	_ = o.Read(name, &s)
	return s
}

// Set returns the words of a text as a set.
func Set(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// Marshal writes JSON on one line without HTML escapes, as providers do. It panics if v cannot be written.
func Marshal(v any) []byte {
	var out bytes.Buffer
	Write(&out, v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// Write is [Marshal] behind other bytes, with a newline at the end.
func Write(out *bytes.Buffer, v any) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("jsonvalue: cannot encode a %T: %v", v, err))
	}
}

// Indented is [Marshal] indented by two spaces.
func Indented(v any) []byte {
	raw := Marshal(v)
	out := bytes.NewBuffer(make([]byte, 0, 2*len(raw)))
	_ = json.Indent(out, raw, "", "  ") // valid
	return out.Bytes()
}
