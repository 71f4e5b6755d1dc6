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
	// maxDepth bounds nesting, as encoding/json does: decoding recurses.
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
	d := decoder{json: json.NewDecoder(bytes.NewReader(raw))}
	d.json.UseNumber()
	value, err := d.value(nil)
	if err != nil {
		return nil, err
	}
	if _, err := d.json.Token(); err != io.EOF {
		return nil, &Error{Message: "not one JSON value: there is more after its end"}
	}
	return value, nil
}

type decoder struct {
	json   *json.Decoder
	values int // so far
}

// value reads the value at a path.
func (d *decoder) value(at location) (any, error) {
	token, err := d.json.Token()
	if err != nil {
		return nil, notJSON(err)
	}
	if d.values++; d.values > maxValues {
		return nil, &Error{Message: fmt.Sprintf("too much to judge: want at most %d values in one message", maxValues)}
	}
	switch token := token.(type) {
	case json.Delim:
		if len(at) >= maxDepth {
			return nil, &Error{Message: fmt.Sprintf("nested too deeply: want at most %d levels", maxDepth)}
		}
		if token == '{' {
			return d.object(at)
		}
		return d.array(at)
	case json.Number:
		if len(token) > maxDigits {
			return nil, &Error{Message: fmt.Sprintf("a number has %d characters: want at most %d", len(token), maxDigits)}
		}
		return tame(token), nil
	default:
		return token, nil
	}
}

func (d *decoder) object(at location) (any, error) {
	object := map[string]any{}
	for d.json.More() {
		token, err := d.json.Token()
		if err != nil {
			return nil, notJSON(err)
		}
		name := token.(string)
		_, twice := object[name]
		value, err := d.value(append(at, step{name: name}))
		if err != nil {
			return nil, err
		}
		if twice {
			return nil, &Error{Path: at.String(), Message: fmt.Sprintf("property %s appears twice", quote(name))}
		}
		object[name] = value
	}
	return object, d.end()
}

func (d *decoder) array(at location) (any, error) {
	array := []any{}
	for d.json.More() {
		value, err := d.value(append(at, step{index: len(array), item: true}))
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	return array, d.end()
}

// end reads the bracket that closes an object or array.
func (d *decoder) end() error {
	if _, err := d.json.Token(); err != nil {
		return notJSON(err)
	}
	return nil
}

func notJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Message: "not JSON: the text ends too early"}
	}
	return &Error{Message: "not JSON: " + err.Error()}
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
