package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Pairs is a JSON object that is to be written: names and values in turn, in this order. Members whose value is
// [Absent] are omitted. A value may be Pairs or []Pairs itself.
type Pairs []any

// Ordered writes the [Pairs].
func Ordered(pairs ...any) json.RawMessage { return Append(make([]byte, 0, 256), pairs...) }

// Append writes the [Pairs] behind other bytes.
func Append(out []byte, pairs ...any) []byte { return new(object).pairs(out, pairs) }

// object writes a JSON object: on one line or indented by two spaces.
type object struct {
	indented bool
	depth    int
}

func (o *object) pairs(out []byte, pairs Pairs) []byte {
	begin := len(out)
	out = append(out, '{')
	o.depth++
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == Absent {
			continue
		}
		if len(out) > begin+1 {
			out = append(out, ',')
		}
		out = append(o.value(o.line(out), pairs[i]), ':')
		if o.indented {
			out = append(out, ' ')
		}
		out = o.value(out, pairs[i+1])
	}
	o.depth--
	if len(out) > begin+1 {
		out = o.line(out)
	}
	return append(out, '}')
}

func (o *object) list(out []byte, elements []Pairs) []byte {
	if len(elements) == 0 {
		return append(out, "[]"...)
	}
	out = append(out, '[')
	o.depth++
	for i, element := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		out = o.pairs(o.line(out), element)
	}
	o.depth--
	return append(o.line(out), ']')
}

const indent = "  "

// line begins a line.
func (o *object) line(out []byte) []byte {
	if !o.indented {
		return out
	}
	out = append(out, '\n')
	for range o.depth {
		out = append(out, indent...)
	}
	return out
}

// value appends a value like [Marshal], without the cost of encoding/json for the values that codecs have most.
func (o *object) value(out []byte, v any) []byte {
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
	case Pairs:
		return o.pairs(out, v)
	case []Pairs:
		return o.list(out, v)
	case json.RawMessage:
		return o.raw(out, v)
	case []json.RawMessage:
		if v != nil && !o.indented {
			out = append(out, '[')
			for i, element := range v {
				if i > 0 {
					out = append(out, ',')
				}
				out = o.raw(out, element)
			}
			return append(out, ']')
		}
	}
	return o.raw(out, Marshal(v))
}

func (o *object) raw(out []byte, raw json.RawMessage) []byte {
	if raw == nil {
		return append(out, "null"...)
	}
	var err error
	buffer := bytes.NewBuffer(out)
	switch {
	case o.indented:
		err = json.Indent(buffer, raw, strings.Repeat(indent, o.depth), indent)
	case bytes.IndexByte(raw, ' ') < 0 && bytes.IndexByte(raw, '\n') < 0: // as from Ordered
		return append(out, raw...)
	default:
		err = json.Compact(buffer, raw)
	}
	if err != nil {
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
