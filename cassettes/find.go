package cassettes

import (
	"slices"
	"strings"
)

// Replace returns the text without secrets.
func (c *cleaning) Replace(text string) string { return edited(text, c.inText(text)) }

// inText returns the edits that take secrets out of a text.
func (c *cleaning) inText(text string) []edit {
	var edits []edit
	for _, s := range c.find(text) {
		edits = append(edits, edit{s, redacted})
	}
	return edits
}

// span is a part of a text, from a byte to the one behind its last.
type span struct{ from, to int }

// deepest is how often a text may be escaped: JSON in a text in JSON is escaped twice.
const deepest = 4

// find returns where secrets stand in a text, in their order and none within another, however often it is escaped.
func (c *cleaning) find(text string) []span {
	found := c.findPlain(text)
	texts := []string{text} // at each level
	for len(texts) <= deepest && strings.Contains(text, `\`) {
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

// findPlain returns where secrets stand in a text that is not escaped, in no order.
func (c *cleaning) findPlain(text string) []span {
	var found []span
	each := func(begin string, end func(at int) int) { // has end look behind each occurrence, which returns -1 for none
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
	for _, l := range looks {
		barren := 0 // up to where there is none: what follows a token's beginning may be as long as the text, and be full of beginnings
		each(l.begin, func(at int) int {
			if before := at - len(l.begin) - 1; before >= 0 && isWordByte(text[before]) && isWordByte(l.begin[0]) {
				return -1
			}
			if at < barren {
				return -1
			}
			if rest := l.rest.FindStringIndex(text[at:]); rest != nil {
				return at + rest[1]
			}
			if l.begin == token {
				barren = at + len(tokenRun.FindString(text[at:]))
			}
			return -1
		})
	}
	return found
}

func isWordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}

// merged puts spans in order, and those that overlap into one.
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
