package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Bytes is a payload as it was seen. Its JSON is a string if it is valid UTF-8, so that a trace stays readable, and
// else {"base64": "…"}, so that no byte is lost.
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
	return jsonvalue.Marshal(string(b)), nil // people read traces
}

// UnmarshalJSON implements [json.Unmarshaler]. Every other form is an error, so that no payload is lost silently.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil && text != nil {
		*b = nilIfEmpty([]byte(*text))
		return nil
	}
	var encoded base64Bytes
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(&encoded)
	if err == nil && encoded.Base64 == nil {
		err = errors.New("base64 is missing")
	}
	if err != nil {
		return fmt.Errorf(`expected a payload as a string or {"base64": "…"}: %w`, jsonvalue.Plain(err))
	}
	*b = nilIfEmpty(*encoded.Base64)
	return nil
}

// nilIfEmpty returns b, or nil for no bytes: an empty payload has one representation.
func nilIfEmpty(b []byte) Bytes {
	if len(b) == 0 {
		return nil
	}
	return b
}
