package always

import (
	"regexp"
	"strings"
)

// framing says what may be around the texts that the server sent.
type framing int

// Nothing; a frame such as tags or a preface; a label of a result; anything.
const (
	bare framing = iota
	framed
	labelled
	anything
)

// texts are the texts of a run that the model was given, one after the other.
type texts struct {
	all     string
	ends    []int // of each text
	starts  []int
	budget  int
	matches []int // where each wanted text begins
}

// mostMatches limits the search for short texts that occur often.
const mostMatches = 10000

func join(parts []string, separator string) *texts {
	t := &texts{budget: mostMatches}
	for i, part := range parts {
		if i > 0 {
			t.all += separator
		}
		t.starts = append(t.starts, len(t.all))
		t.all += part
		t.ends = append(t.ends, len(t.all))
	}
	return t
}

// matchTexts finds the wanted texts in order in those that the model was given, and reports which of those it used. A
// text may be split, neighbours may be merged, and around them may be what the framing allows.
func matchTexts(want, got []string, f framing) (used []bool, ok bool) {
	for _, separator := range []string{"", "\n"} {
		t := join(got, separator)
		if t.find(want, 0, f) {
			used = make([]bool, len(got))
			for i, begin := range t.matches {
				for j := range got {
					used[j] = used[j] || t.starts[j] < begin+len(want[i]) && begin < t.ends[j]
				}
			}
			return used, true
		}
	}
	return nil, false
}

// find finds the wanted texts from an offset on.
func (t *texts) find(want []string, from int, f framing) bool {
	n := len(t.matches)
	if n == len(want) {
		return t.mayEnd(want, from, f)
	}
	for at := from; t.budget > 0; t.budget-- {
		i := strings.Index(t.all[at:], want[n])
		if i < 0 {
			return false
		}
		at += i
		if t.mayPrecede(want, from, at, f) {
			t.matches = append(t.matches, at)
			if t.find(want, at+len(want[n]), f) {
				return true
			}
			t.matches = t.matches[:n]
		}
		at++
	}
	return false
}

// mayPrecede reports whether the bytes before the next wanted text may be there.
func (t *texts) mayPrecede(want []string, from, at int, f framing) bool {
	gap, n := t.all[from:at], len(t.matches)
	isBlank := strings.TrimSpace(gap) == ""
	switch {
	case gap == "", f == anything, isBlank && (n > 0 || contains(t.starts, at)):
		return true
	case f == bare, repeats(gap, want[n]), n > 0 && !t.opens(gap, from):
		return false
	case f == labelled:
		return n > 0 || contains(t.starts, at) || label.MatchString(gap)
	}
	return contains(t.starts, at) || strings.TrimRight(gap, " \t\r\n>") != gap
}

// mayEnd reports whether the bytes behind the last wanted text may be there. A label has something behind the text only
// if there is something before it, as with tags.
func (t *texts) mayEnd(want []string, from int, f framing) bool {
	gap := t.all[from:]
	switch {
	case gap == "", f == anything, len(want) == 0, contains(t.ends, from) && strings.TrimSpace(gap) == "":
		return true
	case f == bare, repeats(gap, want[len(want)-1]), f == labelled && t.matches[0] == 0:
		return false
	}
	return t.opens(gap, from)
}

func (t *texts) opens(gap string, from int) bool {
	return contains(t.ends, from) || strings.HasPrefix(gap, "\n") || strings.HasPrefix(gap, "\r\n") ||
		strings.HasPrefix(gap, "<") || strings.HasPrefix(gap, " (") || strings.HasPrefix(gap, " [")
}

// label matches what ends like a label or a tag.
var label = regexp.MustCompile(`([:>\])=]\s*|\n)$`)

func repeats(gap, text string) bool {
	const short = 8
	return strings.TrimSpace(gap) == strings.TrimSpace(text) || len(text) >= short && strings.Contains(gap, text)
}

func contains(offsets []int, at int) bool {
	for _, o := range offsets {
		if o == at {
			return true
		}
	}
	return false
}
