// Package secrets finds texts that look like credentials: keys and tokens by their prefixes, private keys, passwords in
// addresses, and values whose names say what they are. It holds the only table of their formats. A secret that is known
// is better searched for by its value: package leak does this.
package secrets

import (
	"slices"
	"sort"
	"strings"
)

// Span is a range of bytes; To is exclusive.
type Span struct{ From, To int }

// maxEscapes is how often a text can be escaped, as JSON inside JSON and an address inside another are.
const maxEscapes = 4

// Find returns the secrets of a text, however often it is escaped, in order and without overlap. Besides what looks
// like a secret it finds the texts that are given.
func Find(text string, known ...string) []Span {
	found := findPlain(text, known)
	texts := []string{text} // by level
	for len(texts) <= maxEscapes {
		plain := unescape(text)
		if plain == text {
			break
		}
		text = plain
		deep := Merged(findPlain(plain, known))
		for _, escaped := range slices.Backward(texts) {
			if deep == nil {
				break
			}
			deep = Merged(sources(escaped, deep))
		}
		found = append(found, deep...)
		texts = append(texts, text)
	}
	return Merged(found)
}

// Replace returns a text with another in place of each secret.
func Replace(text, with string, known ...string) string {
	found := Find(text, known...)
	if found == nil {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range found {
		b.WriteString(text[at:s.From])
		b.WriteString(with)
		at = s.To
	}
	b.WriteString(text[at:])
	return b.String()
}

// Merged sorts spans and joins those that overlap.
func Merged(spans []Span) []Span {
	sort.Slice(spans, func(i, j int) bool { return spans[i].From < spans[j].From })
	var all []Span
	for _, s := range spans {
		if last := len(all) - 1; last >= 0 && s.From < all[last].To {
			all[last].To = max(all[last].To, s.To)
		} else {
			all = append(all, s)
		}
	}
	return all
}

// findPlain returns the secrets of an unescaped text, in any order.
func findPlain(text string, known []string) []Span {
	var found []Span
	for _, secret := range known {
		for at := 0; ; {
			i := strings.Index(text[at:], secret)
			if i < 0 {
				break
			}
			found = append(found, Span{at + i, at + i + len(secret)})
			at += i + len(secret)
		}
	}
	found = byPrefix(found, text)
	return byName(found, text)
}

// byPrefix adds the secrets that begin with a prefix of the table.
func byPrefix(found []Span, text string) []Span {
	by := begins()
	noToken := 0 // the end of a run without a JSON web token; it may be long and full of their beginnings
	for i := 0; i < len(text); i++ {
		for _, p := range by[text[i]] {
			if !strings.HasPrefix(text[i:], p.begin) || i > 0 && isWordByte(text[i-1]) && isWordByte(p.begin[0]) {
				continue
			}
			rest := i + len(p.begin)
			if p.begin == token && rest < noToken {
				continue
			}
			if hit := p.rest.FindStringIndex(text[rest:]); hit != nil && !inBase64(text[:i]) {
				found = append(found, Span{i, rest + hit[1]})
				i = rest + hit[1] - 1
				break
			}
			if p.begin == token {
				noToken = rest + len(tokenRun.FindString(text[rest:]))
			}
		}
	}
	return found
}

// inBase64 reports whether the text ends within base64, such as that of an image: there the beginning of a key occurs
// by chance. Some writers escape its slashes.
func inBase64(text string) bool {
	const enough = 100 // base64 characters in a row; a path before a key has fewer
	for i := range enough {
		at := len(text) - 1 - i
		if at < 0 || !isWordByte(text[at]) && strings.IndexByte(`+/-\`, text[at]) < 0 {
			return false
		}
	}
	return true
}

func isWordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}
