package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Object is a JSON object whose members, each a whole JSON value without white space around it, are read by their exact names. encoding/json takes "toolUseID" for "toolUseId";
// the providers do not, and a fake must not hide the mistake.
type Object map[string]json.RawMessage

// Has reports whether the member is there and is not null.
func (o Object) Has(name string) bool {
	v, ok := o[name]
	return ok && string(v) != "null"
}

// Read reads the member into v, a pointer. A member that is absent or null leaves v as it is. A member of another type is
// an error, and leaves v as it is too where v is no slice, map or struct.
func (o Object) Read(name string, v any) error {
	if !o.Has(name) {
		return nil
	}
	return ReadPart(o[name], v)
}

// Text returns a member that is a string; "" when there is none.
func (o Object) Text(name string) string {
	var s string
	_ = o.Read(name, &s) // not a string: there is none
	return s
}

// Marshal writes JSON as providers do: on one line, and without HTML's escapes for <, > and &. It panics on what cannot be
// written, which a codec's own structs always can.
func Marshal(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("dialect: a codec built what is not JSON: %v", err))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
