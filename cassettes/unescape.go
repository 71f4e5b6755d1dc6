package cassettes

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescaped is a text without the escapes of JSON, once, and where in the escaped text it comes from.
type unescaped struct {
	text string
	runs []run
}

// run is a part of an unescaped text, up to the next one: where it begins there and in its source. What one escape stands for is a run of its own.
type run struct {
	at, source int
	escape     bool
}

// unescape undoes the escapes of JSON in a text, which need not be one string: what stands between them stays, as does what is no escape.
func unescape(escaped string) *unescaped {
	u := &unescaped{runs: []run{{}}}
	text := make([]byte, 0, len(escaped))
	for i := 0; i < len(escaped); {
		next := strings.IndexByte(escaped[i:], '\\')
		if next < 0 {
			text = append(text, escaped[i:]...)
			break
		}
		text = append(text, escaped[i:i+next]...)
		i += next
		r, length := readEscape(escaped[i:])
		if length == 0 {
			text = append(text, '\\')
			i++
			continue
		}
		u.runs = append(u.runs, run{len(text), i, true})
		text = utf8.AppendRune(text, r)
		i += length
		u.runs = append(u.runs, run{len(text), i, false})
	}
	u.text = string(text)
	return u
}

// simpleEscapes are those of one letter, and what they stand for.
const (
	simpleEscapes = `"\/bfnrt`
	simpleMeaning = "\"\\/\b\f\n\r\t"
)

// readEscape reads the escape at the beginning of a text, and how long it is: 0 for none. A surrogate with its other half is one escape.
func readEscape(text string) (rune, int) {
	if len(text) < 2 {
		return 0, 0
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

// readUnicode reads an escape such as \u00e9.
func readUnicode(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	r, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(r), err == nil
}

// source returns where a part of the text comes from. Of an escape it is the whole.
func (u *unescaped) source(s span) span {
	before := func(at int) int { // the run that a place is in
		i, found := slices.BinarySearchFunc(u.runs, at, func(r run, at int) int { return r.at - at })
		for found && i+1 < len(u.runs) && u.runs[i+1].at == at { // an empty run is of nothing
			i++
		}
		if !found {
			i--
		}
		return i
	}
	from, to := before(s.from), before(s.to-1)
	source := span{u.runs[from].source, 0}
	if !u.runs[from].escape {
		source.from += s.from - u.runs[from].at
	}
	if u.runs[to].escape {
		source.to = u.runs[to+1].source
	} else {
		source.to = u.runs[to].source + s.to - u.runs[to].at
	}
	return source
}
