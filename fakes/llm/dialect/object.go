package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Object is a JSON object with exact member names. encoding/json accepts "toolUseID" for "toolUseId"; providers do not,
// and a fake must not hide the mistake. Values are complete JSON without surrounding white space.
type Object map[string]json.RawMessage

// Has reports whether the member is present and not null.
func (o Object) Has(name string) bool {
	v, ok := o[name]
	return ok && string(v) != "null"
}

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

// Marshal writes JSON on one line without HTML escapes, as providers do. It panics if v cannot be written; a codec's
// own structs always can.
func Marshal(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("dialect: a codec built what is not JSON: %v", err))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
