package report

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSON encodes the results as one JSON document, with a newline at its end.
func JSON(rs *Results) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(rs); err != nil {
		panic(fmt.Sprintf("report: results are plain data and cannot fail to encode: %v", err))
	}
	return b.Bytes()
}

// ReadJSON reads what [JSON] wrote. Its error says where the document is not what it should be.
func ReadJSON(raw []byte) (*Results, error) {
	var rs Results
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&rs); err != nil {
		return nil, fmt.Errorf("unreadable results: %w", err)
	}
	return &rs, nil
}
