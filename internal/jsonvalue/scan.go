package jsonvalue

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// ReadPart reads a part of valid JSON (see [ReadMembers]) into the pointer v, like encoding/json. Parts of an object or
// array share memory with raw.
func ReadPart(raw json.RawMessage, v any) error {
	switch v := v.(type) {
	case *string:
		if text, isText := TextOf(raw); isText {
			*v = text
			return nil
		}
	case *Members:
		if IsKind(raw, '{') {
			*v = members(raw)
			return nil
		}
	case *Object:
		if IsKind(raw, '{') {
			*v = Object{}
			for _, m := range members(raw) {
				(*v)[string(m.Name)] = m.Value
			}
			return nil
		}
	case *[]json.RawMessage:
		if IsKind(raw, '[') {
			*v = make([]json.RawMessage, 0, 4)
			cut(raw, func(part json.RawMessage) { *v = append(*v, part) })
			return nil
		}
	}
	return json.Unmarshal(raw, v)
}

// TextOf returns the text of valid JSON, and whether it is a string.
func TextOf(raw json.RawMessage) (text string, isText bool) {
	if !IsKind(raw, '"') {
		return "", false
	}
	if inner, same := verbatim(raw); same {
		return string(inner), true
	}
	return decode(raw), true
}

// verbatim returns what is between the quotes of a valid string, and whether that is its text.
func verbatim(raw json.RawMessage) (inner []byte, same bool) {
	inner = raw[1 : len(raw)-1]
	return inner, bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner)
}

func decode(raw json.RawMessage) (text string) {
	_ = json.Unmarshal(raw, &text)
	return text
}

// cut calls take with the elements of a valid array, or with the names and values of a valid object in turn.
// encoding/json would scan each level twice and copy it.
func cut(raw json.RawMessage, take func(part json.RawMessage)) {
	for i := 1; ; {
		switch raw[i] {
		case ']', '}':
			return
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
		default:
			end := i + size(raw[i:])
			take(raw[i:end:end])
			i = end
		}
	}
}

// size returns the size of the value at the start of a part of valid JSON.
func size(raw []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch raw[i] {
		case '"':
			i = quoteAfter(raw, i)
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
			if depth > 0 || bytes.IndexByte([]byte(",]} \t\r\n"), raw[i+1]) < 0 {
				continue // in a number or word
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
}

// quoteAfter returns the place of the quote that ends the string that starts at a place.
func quoteAfter(raw []byte, start int) int {
	for i := start + 1; ; i++ {
		i += bytes.IndexByte(raw[i:], '"')
		escapes := 0
		for raw[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}
