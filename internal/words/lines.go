package words

import (
	"strings"
	"unicode/utf8"
)

// Lines breaks a text between words into lines that end before the width, if each begins in a column. A word that is
// too long has a line of its own.
func Lines(text string, begin, width int) []string {
	var lines []string
	at := begin
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		if i > 0 && at+1+n > width {
			lines, text, at = append(lines, strings.TrimRight(text, " ")), "", begin
		}
		if i == 0 || at == begin {
			text, at = word, at+n
		} else {
			text, at = text+" "+word, at+1+n
		}
	}
	return append(lines, text)
}
