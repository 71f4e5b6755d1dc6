package cassettes

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// differences are what two bodies do not have in common.
type differences struct {
	count int
	// first is where they begin, in words; "" where there are none.
	first string
}

// compare returns the differences of two trees, a member or element that is not there counting as one, and what was taken out of one of them as
// none.
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
		if g, ok := got.(string); ok && mayBe(w, g) {
			return
		}
	case opaque:
		if g, ok := got.(opaque); ok && mayBe(string(w), string(g)) {
			return
		}
	}
	if canonical(want) != canonical(got) {
		d.add(path, want, true, got, true)
	}
}

// mayBe reports whether two texts may be the same but for secrets that were taken out of only one of them: what is a secret where a conversation is
// recorded need not be known as one where it is played, and a key for tests may be a word.
func mayBe(a, b string) bool { return fills(a, b) || fills(b, a) }

// fills reports whether a text is the pattern, with something in each place of what was taken out.
func fills(pattern, text string) bool {
	begin, rest, found := strings.Cut(pattern, redacted)
	if !found || !strings.HasPrefix(text, begin) {
		return false
	}
	text = text[len(begin):]
	for {
		if len(text) < shortest {
			return false
		}
		next, more, found := strings.Cut(rest, redacted)
		if !found {
			return strings.HasSuffix(text[shortest:], rest)
		}
		at := strings.Index(text[shortest:], next)
		if at < 0 {
			return false
		}
		text, rest = text[shortest+at+len(next):], more
	}
}

func (d *differences) objects(path string, want, got map[string]any) {
	names := slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		w, wanted := want[name]
		g, came := got[name]
		below := path + fmt.Sprintf("[%q]", name)
		if isWord(name) {
			below = strings.TrimPrefix(path+"."+name, ".")
		}
		if wanted && came {
			d.walk(below, w, g)
		} else {
			d.add(below, w, wanted, g, came)
		}
	}
}

func (d *differences) arrays(path string, want, got []any) {
	for i := range max(len(want), len(got)) {
		below := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i >= len(want):
			d.add(below, nil, false, got[i], true)
		case i >= len(got):
			d.add(below, want[i], true, nil, false)
		default:
			d.walk(below, want[i], got[i])
		}
	}
}

// add counts a difference and puts the first one into words.
func (d *differences) add(path string, want any, wanted bool, got any, came bool) {
	if d.count++; d.count > 1 {
		return
	}
	if path == "" {
		path = "the body"
	}
	w, g := "nothing", "nothing"
	if wanted {
		w = show(want)
	}
	if came {
		g = show(got)
	}
	if wanted && came {
		w, g = fromDifference(w, g)
	}
	d.first = fmt.Sprintf("at %s expected %s, came %s", path, clip(w), clip(g))
}

func show(v any) string {
	if text, ok := v.(opaque); ok {
		return strconv.Quote(string(text))
	}
	return canonical(v)
}

// isWord reports whether a member's name can stand in a path as it is.
func isWord(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0
}

// fromDifference shortens what two long values begin with in common, so that the difference is among what is shown of them.
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
