package trace

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Bytes is a payload as it was seen. In JSON it is a string where it is valid UTF-8, which keeps a trace readable,
// and {"base64": "…"} where it is not, so that not one byte is lost.
type Bytes []byte

type base64Bytes struct {
	Base64 []byte `json:"base64"`
}

// IsZero reports whether there are no bytes, for omitzero.
func (b Bytes) IsZero() bool { return len(b) == 0 }

// MarshalJSON implements [json.Marshaler].
func (b Bytes) MarshalJSON() ([]byte, error) {
	if utf8.Valid(b) {
		return json.Marshal(string(b))
	}
	return json.Marshal(base64Bytes{b})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (b *Bytes) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*b = Bytes(text)
		return nil
	}
	var encoded base64Bytes
	if err := json.Unmarshal(data, &encoded); err != nil {
		return fmt.Errorf(`payload is neither a string nor {"base64": "…"}: %w`, err)
	}
	*b = encoded.Base64
	return nil
}
