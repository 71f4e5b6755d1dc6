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
	// maxDepth limits nesting, because decoding recurses. It is the limit of encoding/json.
	maxDepth = 10_000
	// maxValues limits the values of a message. The validator keeps about 6 KB for each invalid block, so that a few
	// megabytes of them would exhaust our memory.
	maxValues = 50_000
	// maxDigits limits the text of a number: its arithmetic takes quadratic time.
	maxDigits = 10_000
)

// decode reads the only JSON value in raw, with numbers as json.Number. Unlike encoding/json, it rejects duplicate
// properties and invalid UTF-8, which a peer may read differently.
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

// decoder reads valid JSON, so that it needs no bounds checks.
type decoder struct {
	raw    []byte
	i      int // of the next byte
	values int // the number of values so far
}

func (d *decoder) space() {
	for d.i < len(d.raw) && (d.raw[d.i] == ' ' || d.raw[d.i] == '\n' || d.raw[d.i] == '\r' || d.raw[d.i] == '\t') {
		d.i++
	}
}

// more reports whether another member or element follows. If not, it skips the closing bracket.
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
		return nil, &Error{Message: fmt.Sprintf("too many values: expected at most %d in one message", maxValues)}
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
	_ = json.Unmarshal(d.raw[begin:d.i], &text) // valid JSON
	return text
}

func (d *decoder) number() (any, error) {
	begin := d.i
	for d.i < len(d.raw) && strings.IndexByte("+-.0123456789eE", d.raw[d.i]) >= 0 {
		d.i++
	}
	number := json.Number(d.raw[begin:d.i])
	if len(number) > maxDigits {
		return nil, &Error{Message: fmt.Sprintf("a number has %d characters: expected at most %d", len(number), maxDigits)}
	}
	return clampExponent(number), nil
}

// notJSON returns why a text is not exactly one JSON value.
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
			return &Error{Message: fmt.Sprintf("nested too deeply: expected at most %d levels", maxDepth)}
		case depth == 0:
			return &Error{Message: "not one JSON value: there is more after its end"}
		}
	}
}

// clampExponent limits an exponent: the arithmetic of the validator on 1e999999999 would crash or take forever. To our
// schemas the number stays equivalent: an integer or not, and on the same side of small bounds.
func clampExponent(n json.Number) json.Number {
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
