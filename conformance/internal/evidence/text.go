package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Quote quotes a text; only its beginning if it is longer than a report shows.
func Quote(text string) string {
	const most = 500
	if len(text) > most {
		return fmt.Sprintf("%q… (%d bytes)", Around(text, 0), len(text))
	}
	return strconv.Quote(text)
}

// Around returns the text from about 20 bytes before an offset to 60 bytes behind it, in whole characters.
func Around(text string, at int) string {
	from, to := max(at-20, 0), min(at+60, len(text))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return text[from:to]
}

// Clip shortens a text to 400 characters.
func Clip(text string) string {
	const most = 400
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + fmt.Sprintf("… (%d characters)", len(runes))
	}
	return text
}

// Compact returns JSON without white space, shortened for a report; invalid JSON as it is.
func Compact(raw []byte) string {
	const most = 64 << 10 // Larger documents are not parsed.
	if len(raw) > most {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(string(raw[:400]), ""), len(raw))
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return Clip(string(raw))
	}
	return Clip(b.String())
}
