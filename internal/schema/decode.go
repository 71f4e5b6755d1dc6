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

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
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
	n, err := jsonvalue.ParseAtMost(raw, maxValues)
	switch {
	case errors.Is(err, jsonvalue.ErrTooMany):
		return nil, &Error{Message: fmt.Sprintf("too many values: expected at most %d in one message", maxValues)}
	case err != nil:
		return nil, notJSON(raw)
	}
	return valueOf(n, nil)
}

// valueOf returns the value of the node at a path.
func valueOf(n *jsonvalue.Node, at location) (any, error) {
	switch n.Type() {
	case "object":
		object := make(map[string]any, len(n.Items))
		for i, name := range n.Names {
			value, err := valueOf(n.Items[i], append(at, step{name: name}))
			if err != nil {
				return nil, err
			}
			if _, twice := object[name]; twice {
				return nil, &Error{Path: at.String(), Message: fmt.Sprintf("property %s appears twice", quote(name))}
			}
			object[name] = value
		}
		return object, nil
	case "array":
		array := make([]any, len(n.Items))
		for i, item := range n.Items {
			value, err := valueOf(item, append(at, step{index: i, item: true}))
			if err != nil {
				return nil, err
			}
			array[i] = value
		}
		return array, nil
	case "string":
		text, _ := jsonvalue.TextOf([]byte(n.Text))
		return text, nil
	case "number":
		if len(n.Text) > maxDigits {
			return nil, &Error{Message: fmt.Sprintf("a number has %d characters: expected at most %d", len(n.Text), maxDigits)}
		}
		return clampExponent(json.Number(n.Text)), nil
	case "null":
		return nil, nil
	}
	return n.Text == "true", nil
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
