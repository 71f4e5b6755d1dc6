package cassettes

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/secrets"
)

// restated are the members in which clients repeat what a model said, sometimes in the pieces in which it came. Other
// members, such as names of tools and parameters, do not form one text.
var restated = []string{"content", "text", "thinking"}

func (c *scrubber) request(body string) string { return edited(body, c.inRequest(body)) }

// inRequest returns the edits that remove the secrets of a request body, including those repeated in pieces.
func (c *scrubber) inRequest(body string) []edit {
	return c.inLeaves(body, slices.DeleteFunc(leavesOf(body), func(l leaf) bool {
		return !slices.Contains(restated, l.name)
	}), false)
}

// inBody returns the edits that remove the secrets of an answer, including those that arrive in pieces: a model's
// words and arguments come a few letters per event. The first piece of a secret is replaced and the others are
// emptied, so that a client which joins them gets the same text as from a whole secret. If cut, the answer may end
// within a secret.
func (c *scrubber) inBody(body string, cut bool) []edit { return c.inLeaves(body, leavesOf(body), cut) }

// inLeaves is inBody for the given leaves.
func (c *scrubber) inLeaves(body string, leaves []leaf, cut bool) []edit {
	t := &removal{scrubber: c, cut: cut}
	for grouping := range groupings {
		t.removeFrom(joinLeaves(body, leaves, grouping, t.edits))
	}
	whole := &joined{}
	whole.add(body, span{From: 0, To: len(body)}, t.edits)
	t.removeFrom([]*joined{whole})
	return t.edits
}

type removal struct {
	*scrubber
	cut   bool
	edits []edit // sorted
}

func (t *removal) removeFrom(texts []*joined) {
	var more []edit
	for _, s := range texts {
		if s.leaves > 1 && !s.varied {
			continue // such as the model's name in each event
		}
		secret := t.find(s.text.String())
		if t.cut {
			secret = secrets.Merged(append(secret, t.begun(s.text.String())...))
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
	sort.Slice(t.edits, func(i, j int) bool { return t.edits[i].From < t.edits[j].From })
}

// begun returns the end of a text that is the beginning of a known secret.
func (c *scrubber) begun(text string) []span {
	var found []span
	for _, known := range c.known {
		for n := min(len(known)-1, len(text)); n >= minSecret; n-- {
			if strings.HasSuffix(text, known[:n]) {
				found = append(found, span{From: len(text) - n, To: len(text)})
				break
			}
		}
	}
	return found
}

type joined struct {
	text   strings.Builder
	pieces []piece
	leaves int
	first  string // leaf
	varied bool   // another leaf differs from the first
}

type piece struct {
	at int // in the text
	span
}

// gap replaces what was removed, so that its two sides are not read as one text.
const gap = "\x00"

// joinLeaves returns the texts that leaves form in one grouping, without what was removed before.
func joinLeaves(body string, leaves []leaf, grouping int, removed []edit) []*joined {
	byKey := map[uint64]*joined{}
	var all []*joined
	for _, l := range leaves {
		s := byKey[l.keys[grouping]]
		if s == nil {
			s = &joined{}
			byKey[l.keys[grouping]] = s
			all = append(all, s)
		}
		s.add(body, l.span, removed)
	}
	return all
}

// add appends a part of a body, without what was removed before.
func (s *joined) add(body string, part span, removed []edit) {
	text := body[part.From:part.To]
	if s.leaves++; s.leaves == 1 {
		s.first = text
	}
	s.varied = s.varied || text != s.first
	i, _ := slices.BinarySearchFunc(removed, part.From, func(e edit, from int) int { return cmp.Compare(e.To, from+1) })
	for ; i < len(removed) && removed[i].From < part.To; i++ {
		s.piece(body, span{From: part.From, To: max(part.From, removed[i].From)})
		s.text.WriteString(gap)
		part.From = min(part.To, removed[i].To)
	}
	s.piece(body, part)
}

func (s *joined) piece(body string, part span) {
	if part.From < part.To {
		s.pieces = append(s.pieces, piece{s.text.Len(), part})
		s.text.WriteString(body[part.From:part.To])
	}
}

// parts returns the spans of the body that form a span of the text.
func (s *joined) parts(of span) []span {
	var parts []span
	i, found := slices.BinarySearchFunc(s.pieces, of.From, func(p piece, at int) int { return cmp.Compare(p.at, at) })
	if !found {
		i--
	}
	for ; i < len(s.pieces) && s.pieces[i].at < of.To; i++ {
		p := s.pieces[i]
		part := span{From: p.From + max(0, of.From-p.at), To: p.From + min(p.To-p.From, of.To-p.at)}
		if part.From < part.To {
			parts = append(parts, part)
		}
	}
	return parts
}
