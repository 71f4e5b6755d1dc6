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

// compare returns the differences of two trees, a member or element that is not there counting as one.
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
	}
	if canonical(want) != canonical(got) {
		d.add(path, want, true, got, true)
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
