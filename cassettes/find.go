package cassettes

import (
	"slices"
	"strings"
)

func (c *scrubber) Replace(text string) string { return edited(text, c.inText(text)) }

func (c *scrubber) inText(text string) []edit {
	var edits []edit
	for _, s := range c.find(text) {
		edits = append(edits, edit{s, redacted})
	}
	return edits
}

// span is a range of bytes; to is exclusive.
type span struct{ from, to int }

const maxEscapes = 4

// find returns the secrets of a text, however often it is escaped, in order and without overlap.
func (c *scrubber) find(text string) []span {
	found := c.findPlain(text)
	texts := []string{text} // by level
	for len(texts) <= maxEscapes && strings.Contains(text, `\`) {
		text = unescape(text)
		deep := merged(c.findPlain(text))
		for _, escaped := range slices.Backward(texts) {
			if deep == nil {
				break
			}
			deep = merged(sources(escaped, deep))
		}
		found = append(found, deep...)
		texts = append(texts, text)
	}
	return merged(found)
}

// findPlain returns the secrets of an unescaped text, in any order.
func (c *scrubber) findPlain(text string) []span {
	var found []span
	each := func(begin string, end func(at int) int) { // end returns where the secret ends, or -1
		for at := 0; ; {
			i := strings.Index(text[at:], begin)
			if i < 0 {
				return
			}
			from := at + i
			at = from + len(begin)
			if to := end(at); to >= 0 {
				found, at = append(found, span{from, to}), to
			}
		}
	}
	for _, known := range c.known {
		each(known, func(at int) int { return at })
	}
	for _, p := range patterns {
		// noToken is the end of a run without a token. Such a run may be long and full of token beginnings.
		noToken := 0
		each(p.begin, func(at int) int {
			if before := at - len(p.begin) - 1; before >= 0 && isWordByte(text[before]) && isWordByte(p.begin[0]) {
				return -1
			}
			if at < noToken {
				return -1
			}
			if rest := p.rest.FindStringIndex(text[at:]); rest != nil {
				return at + rest[1]
			}
			if p.begin == token {
				noToken = at + len(tokenRun.FindString(text[at:]))
			}
			return -1
		})
	}
	return found
}

func isWordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}

// merged sorts spans and joins those that overlap.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var all []span
	for _, s := range spans {
		if last := len(all) - 1; last >= 0 && s.from < all[last].to {
			all[last].to = max(all[last].to, s.to)
		} else {
			all = append(all, s)
		}
	}
	return all
}
