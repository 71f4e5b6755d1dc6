package cassettes

import (
	"cmp"
	"slices"
	"strings"
)

// restated are the members in which clients restate what a model said, some of them in the pieces in which it came. What has other names, such as
// tools and their parameters, is no text together.
var restated = []string{"content", "text", "thinking"}

// request returns a request's body without secrets.
func (c *cleaning) request(body string) string { return edited(body, c.inRequest(body)) }

// inRequest returns the edits that take secrets out of a request's body, also those that are restated in pieces.
func (c *cleaning) inRequest(body string) []edit {
	return c.inLeaves(body, slices.DeleteFunc(leavesOf(body), func(l leaf) bool { return !slices.Contains(restated, l.name) }), false)
}

// inBody returns the edits that take secrets out of an answer's body, also those that are said in pieces: a model's words, and the arguments of
// its calls, come a few letters at a time, each in an event of its own, and what they are together stands nowhere. A secret's first piece is
// replaced, and its others are left empty, so that whoever puts them together has the same text as where it stands whole. Of an answer that was cut
// short, it may be the beginning of a secret that is said last.
func (c *cleaning) inBody(body string, cut bool) []edit { return c.inLeaves(body, leavesOf(body), cut) }

// inLeaves is inBody, with the texts in the body that may be pieces of one.
func (c *cleaning) inLeaves(body string, leaves []leaf, cut bool) []edit {
	t := &taking{cleaning: c, cut: cut}
	for grouping := range groupings {
		t.takeFrom(strandsOf(body, leaves, grouping, t.edits))
	}
	whole := &strand{}
	whole.add(body, span{0, len(body)}, t.edits)
	t.takeFrom([]*strand{whole})
	return t.edits
}

// taking is what is taken out of a body.
type taking struct {
	*cleaning
	cut   bool
	edits []edit // in order
}

// takeFrom takes out what is secret in the strands.
func (t *taking) takeFrom(strands []*strand) {
	var more []edit
	for _, s := range strands {
		if s.leaves > 1 && !s.varied {
			continue // as the name of the model in each event, which is no text together
		}
		secret := t.find(s.text.String())
		if t.cut {
			secret = merged(append(secret, t.begun(s.text.String())...))
		}
		for _, found := range secret {
			with := redacted
			for _, part := range s.parts(found) {
				more = append(more, edit{part, with})
				with = ""
			}
		}
	}
	if more == nil {
		return
	}
	t.edits = append(t.edits, more...)
	slices.SortFunc(t.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
}

// begun returns the end of a text where a known secret begins there and does not end.
func (c *cleaning) begun(text string) []span {
	var found []span
	for _, known := range c.known {
		for n := min(len(known)-1, len(text)); n >= shortest; n-- {
			if strings.HasSuffix(text, known[:n]) {
				found = append(found, span{len(text) - n, len(text)})
				break
			}
		}
	}
	return found
}

// strand is a text that stands in pieces in a body.
type strand struct {
	text   strings.Builder
	pieces []strandPiece
	leaves int
	first  string // of the leaves
	varied bool   // whether another one differs
}

type strandPiece struct {
	at int // in the text
	span
}

// gap stands in a strand where something was taken out, so that what is on both sides of it is not read together.
const gap = "\x00"

// strandsOf returns the texts that the leaves of a body are together, in one of the groupings, without what was taken out.
func strandsOf(body string, leaves []leaf, grouping int, taken []edit) []*strand {
	byKey := map[uint64]*strand{}
	var all []*strand
	for _, l := range leaves {
		s := byKey[l.keys[grouping]]
		if s == nil {
			s = &strand{}
			byKey[l.keys[grouping]] = s
			all = append(all, s)
		}
		s.add(body, l.span, taken)
	}
	return all
}

// add adds a part of a body, without what was taken out of it.
func (s *strand) add(body string, part span, taken []edit) {
	text := body[part.from:part.to]
	if s.leaves++; s.leaves == 1 {
		s.first = text
	}
	s.varied = s.varied || text != s.first
	i, _ := slices.BinarySearchFunc(taken, part.from, func(e edit, from int) int { return cmp.Compare(e.to, from+1) })
	for ; i < len(taken) && taken[i].from < part.to; i++ {
		s.piece(body, span{part.from, max(part.from, taken[i].from)})
		s.text.WriteString(gap)
		part.from = min(part.to, taken[i].to)
	}
	s.piece(body, part)
}

func (s *strand) piece(body string, part span) {
	if part.from < part.to {
		s.pieces = append(s.pieces, strandPiece{s.text.Len(), part})
		s.text.WriteString(body[part.from:part.to])
	}
}

// parts returns where in the body a part of the text stands.
func (s *strand) parts(of span) []span {
	var parts []span
	i, found := slices.BinarySearchFunc(s.pieces, of.from, func(p strandPiece, at int) int { return cmp.Compare(p.at, at) })
	if !found {
		i--
	}
	for ; i < len(s.pieces) && s.pieces[i].at < of.to; i++ {
		p := s.pieces[i]
		part := span{p.from + max(0, of.from-p.at), p.from + min(p.to-p.from, of.to-p.at)}
		if part.from < part.to {
			parts = append(parts, part)
		}
	}
	return parts
}
