package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// ReadPart reads a part of what [ReadMembers] has read into v, a pointer, as encoding/json would, but without looking for mistakes in
// it again, and without copies.
func ReadPart(raw json.RawMessage, v any) error {
	if len(raw) == 0 {
		return json.Unmarshal(raw, v)
	}
	switch v := v.(type) {
	case *string:
		if raw[0] == '"' {
			*v = text(raw)
			return nil
		}
	case *Object:
		if raw[0] == '{' {
			*v = Object{}
			EachMember(raw, func(name []byte, value json.RawMessage) { (*v)[string(name)] = value })
			return nil
		}
	case *Members:
		if raw[0] == '{' {
			*v = members(raw)
			return nil
		}
	case *[]json.RawMessage:
		switch raw[0] {
		case '[':
			*v = elements(raw)
			return nil
		case '{': // the error is that of any object, and this one may be long
			return json.Unmarshal([]byte("{}"), v)
		}
	case *int64:
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			*v = n
			return nil
		}
	case *float64:
		if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
			*v = n
			return nil
		}
	case *bool:
		switch raw[0] {
		case 't':
			*v = true
			return nil
		case 'f':
			*v = false
			return nil
		}
	}
	return json.Unmarshal(raw, v)
}

// EachMember calls member for each member of a part of what [ReadMembers] has read, in their order, and reports whether the part is an
// object at all. The name is to be used during the call only.
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

// WalkObject calls member for each member of the object that begins at i in what [ReadMembers] has read, with the name and where the value begins;
// member returns where that ends, which it knows when it has read the value, or else by [End]. So a text is walked through once, however deep
// it is. The result is where the object ends.
func WalkObject(raw []byte, i int, member func(name []byte, i int) (end int)) (end int) {
	i = space(raw, i+1)
	for raw[i] != '}' {
		end := quoted(raw, i)
		name := nameOf(raw[i:end])
		i = space(raw, end)
		i = member(name, space(raw, i+1)) // past the colon
		if i = space(raw, i); raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
	return i + 1
}

// WalkArray is [WalkObject] of an array and its elements.
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

// nameOf returns the name that a string is.
func nameOf(quoted []byte) []byte {
	if name := quoted[1 : len(quoted)-1]; plain(name) {
		return name
	}
	return []byte(text(quoted))
}

// plain reports whether a string stands there as it is.
func plain(inner []byte) bool { return bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) }

// Elements returns the elements of a part of what [ReadMembers] has read, and whether it is an array at all.
func Elements(raw json.RawMessage) (all []json.RawMessage, isArray bool) {
	if !IsKind(raw, '[') {
		return nil, false
	}
	return elements(raw), true
}

// elements reads the elements of what is known to be a valid array.
func elements(raw []byte) []json.RawMessage {
	var few [16]json.RawMessage // most arrays have no more, and those are counted before they take memory
	all := few[:0]
	WalkArray(raw, 0, func(i int) int {
		end := End(raw, i)
		all = append(all, raw[i:end:end])
		return end
	})
	return append(make([]json.RawMessage, 0, len(all)), all...)
}

// space returns the place of the first character from i on that is no white space, or the end.
func space(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\r' || raw[i] == '\t') {
		i++
	}
	return i
}

// End returns the end of the value that begins at i in what [ReadMembers] has read.
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

// quoted returns the end of the string that begins at i.
func quoted(raw []byte, i int) int {
	for i = stop(raw, i+1); raw[i] != '"'; i = stop(raw, i+2) { // a backslash: what it escapes may be a quotation mark
	}
	return i + 1
}

// TextOf returns the text of a part of what [ReadMembers] has read, and whether it is a string at all.
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

// text returns the text of what is known to be a valid string.
func text(raw []byte) string {
	switch string(raw[1 : len(raw)-1]) { // words of every message take no memory of their own
	case "user":
		return "user"
	case "assistant":
		return "assistant"
	case "system":
		return "system"
	case "tool":
		return "tool"
	case "function":
		return "function"
	case "text":
		return "text"
	}
	inner := textBytes(raw)
	return unsafe.String(unsafe.SliceData(inner), len(inner)) // without a copy: see [Members]
}

// textBytes is text as bytes, which are a part of the string where they stand there as they are.
func textBytes(raw []byte) []byte {
	inner := raw[1 : len(raw)-1 : len(raw)-1]
	if plain(inner) {
		return inner
	}
	if utf8.Valid(inner) && !bytes.Contains(inner, []byte(`\u`)) {
		return unescaped(inner)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // it is valid
	return []byte(s)
}

// unescaped undoes escapes of one character.
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

// AppendText appends the text as JSON, as [Marshal] writes it.
func AppendText[T string | []byte](out []byte, text T) []byte {
	out = append(out, '"')
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(text[i:min(len(text), i+utf8.UTFMax)]))
			if r != utf8.RuneError && r != '\u2028' && r != '\u2029' || r == utf8.RuneError && size > 1 {
				i += size
				continue
			}
			out = append(out, text[start:i]...)
			if r == utf8.RuneError {
				out = append(out, `\ufffd`...)
			} else {
				out = append(out, `\u202`...)
				out = append(out, hex[r&0xf])
			}
			i += size
			start = i
			continue
		}
		out = append(out, text[start:i]...)
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, `\b`...)
		case '\f':
			out = append(out, `\f`...)
		case '\n':
			out = append(out, `\n`...)
		case '\r':
			out = append(out, `\r`...)
		case '\t':
			out = append(out, `\t`...)
		default:
			out = append(out, `\u00`...)
			out = append(out, hex[c>>4], hex[c&0xf])
		}
		i++
		start = i
	}
	return append(append(out, text[start:]...), '"')
}
