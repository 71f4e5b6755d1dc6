package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// ReadPart reads a part of validated JSON (see [ReadMembers]) into the pointer v, like encoding/json but without
// copies.
func ReadPart(raw json.RawMessage, v any) error {
	if len(raw) > 0 && read(raw, v) {
		return nil
	}
	if _, isList := v.(*[]json.RawMessage); isList && IsKind(raw, '{') {
		raw = []byte("{}") // the same error for every object, without its text
	}
	return json.Unmarshal(raw, v)
}

// read reads a value of the expected type. False leaves v unchanged.
func read(raw json.RawMessage, v any) (ok bool) {
	switch v := v.(type) {
	case *string:
		return set(v)(TextOf(raw))
	case *Object:
		if raw[0] == '{' {
			*v = Object{}
			return EachMember(raw, func(name []byte, value json.RawMessage) { (*v)[string(name)] = value })
		}
	case *Members:
		if raw[0] == '{' {
			*v = members(raw)
			return true
		}
	case *[]json.RawMessage:
		return set(v)(Elements(raw))
	case *int64:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		return set(v)(n, err == nil)
	case *float64:
		n, err := strconv.ParseFloat(string(raw), 64)
		return set(v)(n, err == nil)
	case **int64:
		return readNew(raw, v)
	case **float64:
		return readNew(raw, v)
	case *bool:
		return set(v)(raw[0] == 't', raw[0] == 't' || raw[0] == 'f')
	}
	return false
}

func readNew[T any](raw json.RawMessage, v **T) (ok bool) {
	n := new(T)
	if ok = read(raw, n); ok {
		*v = n
	}
	return ok
}

// set returns a function that sets v to a value if it is valid.
func set[T any](v *T) func(T, bool) bool {
	return func(value T, ok bool) bool {
		if ok {
			*v = value
		}
		return ok
	}
}

// EachMember calls member for each member of validated JSON, in order. It reports whether raw is an object. The name is
// valid only during the call.
func EachMember(raw json.RawMessage, member func(name []byte, value json.RawMessage)) bool {
	i := space(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return false
	}
	WalkObject(raw, i, func(name []byte, i int) int {
		end := End(raw, i)
		member(name, raw[i:end:end])
		return end
	})
	return true
}

// WalkObject walks the object that begins at i in validated JSON and returns its end. It calls member with each name
// and the start of its value; member returns the value's end, from reading it or from [End]. So each level is scanned
// only once.
func WalkObject(raw []byte, i int, member func(name []byte, i int) (end int)) (end int) {
	i = space(raw, i+1)
	for raw[i] != '}' {
		end := quoted(raw, i)
		name := nameOf(raw[i:end])
		i = space(raw, end)
		i = member(name, space(raw, i+1)) // skip the colon
		if i = space(raw, i); raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
	return i + 1
}

// WalkArray is [WalkObject] for the elements of an array.
func WalkArray(raw []byte, i int, element func(i int) (end int)) (end int) {
	i = space(raw, i+1)
	for raw[i] != ']' {
		i = element(i)
		if i = space(raw, i); raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
	return i + 1
}

func nameOf(quoted []byte) []byte {
	if name := quoted[1 : len(quoted)-1]; plain(name) {
		return name
	}
	return []byte(text(quoted))
}

// plain reports whether a string has no escapes and is valid UTF-8.
func plain(inner []byte) bool { return bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) }

// Elements returns the elements of validated JSON, and whether it is an array.
func Elements(raw json.RawMessage) (all []json.RawMessage, isArray bool) {
	if !IsKind(raw, '[') {
		return nil, false
	}
	return elements(raw), true
}

// elements reads a valid array.
func elements(raw []byte) []json.RawMessage {
	var buffer [16]json.RawMessage // enough for most arrays, without an allocation
	all := buffer[:0]
	WalkArray(raw, 0, func(i int) int {
		end := End(raw, i)
		all = append(all, raw[i:end:end])
		return end
	})
	return append(make([]json.RawMessage, 0, len(all)), all...)
}

func space(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\r' || raw[i] == '\t') {
		i++
	}
	return i
}

// End returns the end of the value that begins at i in validated JSON.
func End(raw []byte, i int) int {
	switch raw[i] {
	case '"':
		return quoted(raw, i)
	case '{', '[':
		depth := 0
		for {
			switch raw[i] {
			case '"':
				i = quoted(raw, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if i++; depth == 0 {
				return i
			}
		}
	}
	for i < len(raw) && bytes.IndexByte([]byte(",]} \n\r\t"), raw[i]) < 0 {
		i++
	}
	return i
}

func quoted(raw []byte, i int) int {
	for i = stop(raw, i+1); raw[i] != '"'; i = stop(raw, i+2) { // skip a backslash and the character that it escapes
	}
	return i + 1
}

// TextOf returns the text of validated JSON, and whether it is a string.
func TextOf(raw json.RawMessage) (s string, isText bool) {
	if !IsKind(raw, '"') {
		return "", false
	}
	return text(raw), true
}

// BytesOf is [TextOf] as bytes.
func BytesOf(raw json.RawMessage) (text []byte, isText bool) {
	if !IsKind(raw, '"') {
		return nil, false
	}
	return textBytes(raw), true
}

// frequentWords need no allocation.
var frequentWords = [...]string{"user", "assistant", "system", "tool", "function", "text"}

// text decodes a valid string.
func text(raw []byte) string {
	for _, word := range frequentWords {
		if string(raw[1:len(raw)-1]) == word {
			return word
		}
	}
	inner := textBytes(raw)
	return unsafe.String(unsafe.SliceData(inner), len(inner)) // no copy: see Members
}

// textBytes decodes a valid string, sharing its memory if it has no escapes.
func textBytes(raw []byte) []byte {
	inner := raw[1 : len(raw)-1 : len(raw)-1]
	if plain(inner) {
		return inner
	}
	if utf8.Valid(inner) && !bytes.Contains(inner, []byte(`\u`)) {
		return unescaped(inner)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // valid JSON
	return []byte(s)
}

// unescaped decodes single-character escapes.
func unescaped(inner []byte) []byte {
	out := make([]byte, 0, len(inner))
	for {
		before, after, found := bytes.Cut(inner, []byte{'\\'})
		out = append(out, before...)
		if !found {
			return out
		}
		c := after[0]
		if i := strings.IndexByte("bfnrt", c); i >= 0 {
			c = "\b\f\n\r\t"[i]
		}
		out = append(out, c)
		inner = after[1:]
	}
}

const hex = "0123456789abcdef"

// AppendText appends the text as a JSON string, as [Marshal] writes it.
func AppendText[T string | []byte](out []byte, text T) []byte {
	out = append(out, '"')
	start, size := 0, 0
	for i := 0; i < len(text); i += size {
		c := text[i]
		size = 1
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			continue
		}
		var escape string
		if c < utf8.RuneSelf {
			escape = escaped(c)
		} else if escape, size = escapedRune(string(text[i:min(len(text), i+utf8.UTFMax)])); escape == "" {
			continue
		}
		out = append(append(out, text[start:i]...), escape...)
		start = i + size
	}
	return append(append(out, text[start:]...), '"')
}

// escaped returns the escape of a control character, quotation mark or backslash.
func escaped(c byte) string {
	if i := strings.IndexByte("\b\f\n\r\t\"\\", c); i >= 0 {
		return `\b\f\n\r\t\"\\`[2*i : 2*i+2]
	}
	return `\u00` + string([]byte{hex[c>>4], hex[c&0xf]})
}

// escapedRune returns the escape of the first character, "" for most, and its size.
func escapedRune(text string) (escape string, size int) {
	switch r, size := utf8.DecodeRuneInString(text); {
	case r == '\u2028':
		return `\u2028`, size
	case r == '\u2029':
		return `\u2029`, size
	case r == utf8.RuneError && size == 1: // invalid UTF-8
		return `\ufffd`, size
	default:
		return "", size
	}
}
