package words

import (
	"regexp"
	"strings"
)

// special matches what a POSIX shell may not take as it is.
var special = regexp.MustCompile(`^$|[^a-zA-Z0-9_./:=@%+,-]`)

// Quote joins words to a line that a POSIX shell splits into exactly these words. It quotes only where necessary.
func Quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if special.MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}

// TestPattern returns the value of -test.run for just the test, or the subtest of the names, whatever characters they
// hold. A slash separates levels.
func TestPattern(names ...string) string {
	levels := strings.Split(strings.Join(names, "/"), "/")
	for i, level := range levels {
		levels[i] = "^" + regexp.QuoteMeta(level) + "$"
	}
	return strings.Join(levels, "/")
}
