package secrets

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape undoes the escapes of JSON and of addresses anywhere in a text. Invalid escapes stay.
func unescape(escaped string) string {
	var b strings.Builder
	for rest := escaped; rest != ""; {
		plain, r, length := nextEscape(rest)
		b.WriteString(rest[:plain])
		if length > 0 {
			b.WriteRune(r)
		}
		rest = rest[plain+length:]
	}
	return b.String()
}

// sources maps parts of an unescaped text (sorted, disjoint) to the escaped text. An escape is mapped as a whole.
func sources(escaped string, parts []Span) []Span {
	all := make([]Span, len(parts))
	begun, ended := 0, 0               // parts whose beginning, and whose end, is known
	at, source := 0, 0                 // in the unescaped text and in the escaped one
	pass := func(plain, escaped int) { // lengths of the next section; they differ for an escape
		exact := func(place int) int { return source + place - at }
		for ; begun < len(parts) && parts[begun].From < at+plain; begun++ {
			all[begun].From = source
			if plain == escaped {
				all[begun].From = exact(parts[begun].From)
			}
		}
		for ; ended < begun && parts[ended].To <= at+plain; ended++ {
			all[ended].To = source + escaped
			if plain == escaped {
				all[ended].To = exact(parts[ended].To)
			}
		}
		at, source = at+plain, source+escaped
	}
	for ended < len(parts) {
		plain, r, length := nextEscape(escaped[source:])
		pass(plain, plain)
		if length > 0 {
			pass(utf8.RuneLen(encodable(r)), length)
		}
	}
	return all
}

// encodable returns what is written for half a surrogate pair.
func encodable(r rune) rune {
	if utf16.IsSurrogate(r) {
		return utf8.RuneError
	}
	return r
}

// nextEscape returns the length of the text before the next escape, the escaped rune, and the escape's length (0:
// none).
func nextEscape(text string) (plain int, r rune, length int) {
	for {
		i := strings.IndexAny(text[plain:], `\%`)
		if i < 0 {
			return len(text), 0, 0
		}
		plain += i
		if r, length = readEscape(text[plain:]); length > 0 {
			return plain, r, length
		}
		plain++
	}
}

// simpleEscapes are the escapes of one letter; simpleMeaning are the characters they stand for.
const (
	simpleEscapes = `"\/bfnrt`
	simpleMeaning = "\"\\/\b\f\n\r\t"
)

// readEscape reads an escape at the beginning of a text and returns its length (0: none). A surrogate pair is one
// escape.
func readEscape(text string) (rune, int) {
	if len(text) < 2 {
		return 0, 0
	}
	if text[0] == '%' {
		return readPercent(text)
	}
	if i := strings.IndexByte(simpleEscapes, text[1]); i >= 0 {
		return rune(simpleMeaning[i]), 2
	}
	r, ok := readUnicode(text)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if second, ok := readUnicode(text[6:]); ok {
			if whole := utf16.DecodeRune(r, second); whole != utf8.RuneError {
				return whole, 12
			}
		}
	}
	return r, 6
}

func readUnicode(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	r, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(r), err == nil
}

// readPercent reads an escape of an address, such as %2F. Bytes beyond ASCII become other characters, which no secret
// has.
func readPercent(text string) (rune, int) {
	if len(text) < 3 {
		return 0, 0
	}
	b, err := strconv.ParseUint(text[1:3], 16, 8)
	if err != nil {
		return 0, 0
	}
	return rune(b), 3
}
