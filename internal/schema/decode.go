package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxDepth bounds nesting, as encoding/json does, which finds what is deeper not valid: decoding recurses.
	maxDepth = 10_000
	// maxValues bounds how many values there are in all. The validator keeps some 6 KB for each block that fits nowhere, so
	// that a flood of them, sent in a few megabytes, would end us and not the client.
	maxValues = 50_000
	// maxDigits bounds a number's text. Arithmetic on it takes time that grows with the square of its length.
	maxDigits = 10_000
)

// decode reads the one JSON value in raw, numbers as json.Number. It is stricter than encoding/json, which takes the last
// of two properties with one name and mends what is not UTF-8: a peer may see another message than we then.
func decode(raw []byte) (any, error) {
	if !utf8.Valid(raw) {
		return nil, &Error{Message: "not JSON: the text is not valid UTF-8"}
	}
	if !json.Valid(raw) {
		return nil, notJSON(raw)
	}
	d := decoder{raw: raw}
	return d.value(nil)
}

// decoder reads a text that is known to be JSON, and so never looks whether there is more.
type decoder struct {
	raw    []byte
	i      int // how far it is read
	values int // so far
}

// space skips white space.
func (d *decoder) space() {
	for d.i < len(d.raw) && (d.raw[d.i] == ' ' || d.raw[d.i] == '\n' || d.raw[d.i] == '\r' || d.raw[d.i] == '\t') {
		d.i++
	}
}

// more reports whether another member or element follows, behind a comma or at the beginning. If not, it skips the bracket.
func (d *decoder) more() bool {
	if d.space(); d.raw[d.i] == ',' {
		d.i++
		d.space()
	}
	if c := d.raw[d.i]; c != '}' && c != ']' {
		return true
	}
	d.i++
	return false
}

// value reads the value at a path.
func (d *decoder) value(at location) (any, error) {
	d.space()
	if d.values++; d.values > maxValues {
		return nil, &Error{Message: fmt.Sprintf("too much to judge: want at most %d values in one message", maxValues)}
	}
	switch d.raw[d.i] {
	case '{':
		return d.object(at)
	case '[':
		return d.array(at)
	case '"':
		return d.text(), nil
	case 't':
		d.i += len("true")
		return true, nil
	case 'f':
		d.i += len("false")
		return false, nil
	case 'n':
		d.i += len("null")
		return nil, nil
	}
	return d.number()
}

func (d *decoder) object(at location) (any, error) {
	object := map[string]any{}
	for d.i++; d.more(); {
		name := d.text()
		_, twice := object[name]
		d.space()
		d.i++ // the colon
		value, err := d.value(append(at, step{name: name}))
		if err != nil {
			return nil, err
		}
		if twice {
			return nil, &Error{Path: at.String(), Message: fmt.Sprintf("property %s appears twice", quote(name))}
		}
		object[name] = value
	}
	return object, nil
}

func (d *decoder) array(at location) (any, error) {
	array := []any{}
	for d.i++; d.more(); {
		value, err := d.value(append(at, step{index: len(array), item: true}))
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	return array, nil
}

// text reads a string.
func (d *decoder) text() string {
	begin, escapes := d.i, false
	for d.i++; d.raw[d.i] != '"'; d.i++ {
		if d.raw[d.i] == '\\' {
			escapes = true
			d.i++
		}
	}
	d.i++
	if !escapes {
		return string(d.raw[begin+1 : d.i-1])
	}
	var text string
	_ = json.Unmarshal(d.raw[begin:d.i], &text) // it is known to be one
	return text
}

func (d *decoder) number() (any, error) {
	begin := d.i
	for d.i < len(d.raw) && strings.IndexByte("+-.0123456789eE", d.raw[d.i]) >= 0 {
		d.i++
	}
	number := json.Number(d.raw[begin:d.i])
	if len(number) > maxDigits {
		return nil, &Error{Message: fmt.Sprintf("a number has %d characters: want at most %d", len(number), maxDigits)}
	}
	return tame(number), nil
}

// notJSON says why a text is none, or not one.
func notJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	for depth := 0; ; {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return &Error{Message: "not JSON: the text ends too early"}
		case err != nil:
			return &Error{Message: "not JSON: " + err.Error()}
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		switch {
		case depth > maxDepth:
			return &Error{Message: fmt.Sprintf("nested too deeply: want at most %d levels", maxDepth)}
		case depth == 0:
			return &Error{Message: "not one JSON value: there is more after its end"}
		}
	}
}

// tame brings an exponent into a range in which a number can be worked with: 1e999999999 would take for ever, or
// crash the validator. It stays what it was to any schema of ours: whole or not, and on the same side of small bounds.
func tame(n json.Number) json.Number {
	mantissa, exponent, found := strings.Cut(strings.ToLower(string(n)), "e")
	if !found {
		return n
	}
	limit := len(mantissa) + 1000
	e, err := strconv.Atoi(exponent)
	switch {
	case err == nil && -limit <= e && e <= limit:
		return n
	case strings.HasPrefix(exponent, "-"):
		return json.Number(fmt.Sprintf("%se-%d", mantissa, limit))
	default:
		return json.Number(fmt.Sprintf("%se%d", mantissa, limit))
	}
}
