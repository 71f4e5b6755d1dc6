package leak

import (
	"bytes"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

type reading struct {
	text []byte
	how  string // the last escapes undone
}

// mostReadings bounds the work for a text that consists of escapes.
const mostReadings = 24

// readings returns the text and its unescaped forms, in any order of escapes, each with and without white space:
// encoders break long lines.
func readings(text []byte) []reading {
	all := []reading{{text: text}}
	for i := 0; i < len(all) && len(all) < mostReadings; i++ {
		for _, e := range escapes {
			if !bytes.Contains(all[i].text, []byte(e.sign)) {
				continue
			}
			if undone := e.undo(all[i].text); len(undone) < len(all[i].text) {
				all = append(all, reading{undone, e.how})
			}
		}
	}
	for _, r := range all {
		if tight := withoutSpace(r.text); len(tight) < len(r.text) {
			all = append(all, reading{tight, r.how})
		}
	}
	return all
}

func withoutSpace(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, c := range text {
		if c > ' ' {
			out = append(out, c)
		}
	}
	return out
}

var escapes = []struct {
	sign, how string
	undo      func([]byte) []byte
}{
	{`\`, "escaped", unescape},
	{"%", "URL-escaped", unpercent},
	{"&", "HTML-escaped", func(text []byte) []byte { return []byte(html.UnescapeString(string(text))) }},
}

// unescape undoes escapes of JSON and of programming languages, such as \xFF. Invalid escapes stay.
func unescape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		i++
		digits := 0
		switch c := text[i]; c {
		case 'n', 'r', 't':
			out = append(out, '\n')
		case 'u':
			digits = 4
		case 'x':
			digits = 2
		case '\\', '/', '"', '\'':
			out = append(out, c)
		default:
			out = append(out, '\\', c)
		}
		if digits == 0 {
			continue
		}
		value, ok := hexadecimal(text[i+1:], digits)
		switch {
		case !ok:
			out = append(out, '\\', text[i])
			continue
		case digits == 2:
			out = append(out, byte(value))
		default:
			out = utf8.AppendRune(out, rune(value))
		}
		i += digits
	}
	return out
}

// unpercent undoes the escapes of URLs. Invalid escapes stay.
func unpercent(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' {
			if value, ok := hexadecimal(text[i+1:], 2); ok {
				out = append(out, byte(value))
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}

// hexadecimal decodes digits at the beginning of a text.
func hexadecimal(text []byte, digits int) (value uint64, ok bool) {
	if len(text) < digits || strings.ContainsAny(string(text[:digits]), "+-_") {
		return 0, false
	}
	value, err := strconv.ParseUint(string(text[:digits]), 16, 32)
	return value, err == nil
}
