package cassettes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// readJSON decodes one JSON value, in which equal numbers have one notation. It returns false for an invalid body.
func readJSON(body []byte) (any, bool) {
	if !json.Valid(body) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var tree any
	err := dec.Decode(&tree)
	return withPlainNumbers(tree), err == nil
}

func withPlainNumbers(tree any) any {
	switch v := tree.(type) {
	case map[string]any:
		for name := range v {
			v[name] = withPlainNumbers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = withPlainNumbers(v[i])
		}
	case json.Number:
		return json.Number(canonicalNumber(string(v)))
	}
	return tree
}

// canonical returns the form that is the same for all equal trees.
func canonical(tree any) string {
	switch v := tree.(type) {
	case absent:
		return "nothing"
	case opaque: // never equal to JSON
		return string(v)
	}
	raw, err := json.Marshal(tree) // it sorts members
	if err != nil {
		panic(fmt.Sprintf("cassettes: a JSON tree holds a %T", tree))
	}
	return string(raw)
}

// canonicalNumber returns one notation for equal numbers and keeps every digit: 1, 1.0 and 10e-1 are equal, while
// 9007199254740993 differs from 9007199254740992 (as float64 they are equal).
func canonicalNumber(s string) string {
	digits, negative := strings.CutPrefix(s, "-")
	exponent := 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(digits[i+1:]); err != nil || exponent > 1<<30 || exponent < -1<<30 {
			return s // too large to matter
		}
		digits = digits[:i]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	short := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(short)
	switch {
	case short == "":
		return "0"
	case exponent >= 0 && exponent <= 20:
		short += strings.Repeat("0", exponent)
	default:
		short += "e" + strconv.Itoa(exponent)
	}
	if negative {
		return "-" + short
	}
	return short
}
