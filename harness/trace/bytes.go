package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Bytes is a payload as it was seen. In JSON it is a string where it is valid UTF-8, which keeps a trace readable,
// and {"base64": "…"} where it is not, so that not one byte is lost.
type Bytes []byte

type base64Bytes struct {
	Base64 *[]byte `json:"base64"`
}

// IsZero reports whether there are no bytes, for omitzero.
func (b Bytes) IsZero() bool { return len(b) == 0 }

// MarshalJSON implements [json.Marshaler].
func (b Bytes) MarshalJSON() ([]byte, error) {
	if !utf8.Valid(b) {
		plain := []byte(b)
		return json.Marshal(base64Bytes{&plain})
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // a trace is read by people, and is no web page
	err := enc.Encode(string(b))
	return text.Bytes(), err
}

// UnmarshalJSON implements [json.Unmarshaler]. Anything but the two forms is an error: a payload is never lost silently.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil && text != nil {
		*b = some([]byte(*text))
		return nil
	}
	var encoded base64Bytes
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&encoded); err != nil {
		return fmt.Errorf(`payload is neither a string nor {"base64": "…"}: %w`, err)
	}
	if encoded.Base64 == nil {
		return errors.New(`payload is neither a string nor {"base64": "…"}`)
	}
	*b = some(*encoded.Base64)
	return nil
}

// some returns b, or nil for no bytes: there is one way to have none.
func some(b []byte) Bytes {
	if len(b) == 0 {
		return nil
	}
	return b
}
