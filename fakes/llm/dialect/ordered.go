package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// appendValue appends a value like [Marshal], without the cost of encoding/json for the values that codecs have most.
func appendValue(out []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...)
	case string:
		if isPlain(v) {
			return append(append(append(out, '"'), v...), '"')
		}
	case int:
		return strconv.AppendInt(out, int64(v), 10)
	case int64:
		return strconv.AppendInt(out, v, 10)
	case bool:
		return strconv.AppendBool(out, v)
	case json.RawMessage:
		return appendCompact(out, v)
	case []json.RawMessage:
		if v == nil {
			break
		}
		out = append(out, '[')
		for i, element := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCompact(out, element)
		}
		return append(out, ']')
	}
	return append(out, Marshal(v)...)
}

func appendCompact(out []byte, raw json.RawMessage) []byte {
	switch {
	case raw == nil:
		return append(out, "null"...)
	case bytes.IndexByte(raw, ' ') < 0 && bytes.IndexByte(raw, '\n') < 0: // as from Ordered
		return append(out, raw...)
	}
	buffer := bytes.NewBuffer(out)
	if err := json.Compact(buffer, raw); err != nil {
		panic(fmt.Sprintf("dialect: a codec built invalid JSON: %v", err))
	}
	return buffer.Bytes()
}

// isPlain reports whether a string is printable ASCII that JSON does not escape.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
