package cassettes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

type differences struct {
	count int
	// first describes the first difference; "" for none.
	first string
	// unlike sums up, over the different values, the share of the words that are not in both.
	unlike float64
}

// distance is 0 of equal trees, and of others grows with each difference and each word.
func (d differences) distance(used bool) float64 {
	if d.count == 0 {
		return 0
	}
	distance := float64(d.count) + d.unlike
	if used { // the next request is more likely another one
		distance++
	}
	return distance
}

// compare compares two trees. A missing member or element is one difference. A removed secret equals any secret.
func compare(want, got any) differences {
	var d differences
	d.walk("", want, got)
	return d
}

func (d *differences) walk(path string, want, got any) {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			d.objects(path, w, g)
			return
		}
	case []any:
		if g, ok := got.([]any); ok {
			d.arrays(path, w, g)
			return
		}
	case string:
		if g, ok := got.(string); ok && sameButSecrets(w, g) {
			return
		}
	case opaque:
		if g, ok := got.(opaque); ok && sameButSecrets(string(w), string(g)) {
			return
		}
	}
	if !jsonvalue.Equal(want, got) {
		d.add(path, want, got)
	}
}

// sameButSecrets reports whether two texts are equal except for secrets removed from one of them. A secret on the
// recording machine may be unknown on the replaying one, and a test key may be an ordinary word.
func sameButSecrets(a, b string) bool { return fills(a, b) || fills(b, a) }

// fills reports whether text equals pattern with a secret in place of each removed one.
func fills(pattern, text string) bool {
	begin, rest, found := strings.Cut(pattern, redacted)
	if !found || !strings.HasPrefix(text, begin) {
		return false
	}
	text = text[len(begin):]
	for {
		if len(text) < minSecret {
			return false
		}
		next, more, found := strings.Cut(rest, redacted)
		if !found {
			return strings.HasSuffix(text[minSecret:], rest)
		}
		at := strings.Index(text[minSecret:], next)
		if at < 0 {
			return false
		}
		text, rest = text[minSecret+at+len(next):], more
	}
}

func (d *differences) objects(path string, want, got map[string]any) {
	names := slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		below := path + fmt.Sprintf("[%q]", name)
		if isWord(name) {
			below = strings.TrimPrefix(path+"."+name, ".")
		}
		d.walk(below, jsonvalue.MemberOf(want, name), jsonvalue.MemberOf(got, name))
	}
}

func (d *differences) arrays(path string, want, got []any) {
	for i := range max(len(want), len(got)) {
		d.walk(jsonvalue.At(path, i), jsonvalue.ItemOf(want, i), jsonvalue.ItemOf(got, i))
	}
}

func (d *differences) add(path string, want, got any) {
	w, g := show(want), show(got)
	d.unlike += unlike(w, g)
	if d.count++; d.count == 1 {
		w, g := fromDifference(w, g)
		d.first = fmt.Sprintf("at %s expected %s, found %s", cmp.Or(path, "the body"), clip(w), clip(g))
	}
}

// unlike returns the share of the words of two texts that are in one only.
func unlike(a, b string) float64 {
	count, words := map[string]int{}, 1
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for word := range strings.FieldsFuncSeq(a, other) {
		count[word]++
		words++
	}
	for word := range strings.FieldsFuncSeq(b, other) {
		count[word]--
		words++
	}
	n := 0
	for _, more := range count {
		n += max(more, -more)
	}
	return float64(n) / float64(words)
}

func show(v any) string {
	if text, ok := v.(opaque); ok {
		return strconv.Quote(string(text))
	}
	return jsonvalue.Canonical(v)
}

// isWord reports whether a member name needs no quotes in a path.
func isWord(name string) bool {
	other := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return name != "" && strings.IndexFunc(name, other) < 0
}

// fromDifference shortens a long common beginning of two values.
func fromDifference(a, b string) (string, string) {
	const context = 24
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	if same <= 2*context {
		return a, b
	}
	cut := same - context
	for !utf8.RuneStart(a[cut]) {
		cut--
	}
	return "…" + a[cut:], "…" + b[cut:]
}
