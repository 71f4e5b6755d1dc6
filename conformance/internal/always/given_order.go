package always

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// orMoved returns the difference, or that in the order if its block is elsewhere in the model request.
func (c *comparison) orMoved(d *difference) *difference {
	if !slices.Contains([]*kind{lostText, changedText, extraText, lostMedia, changedMedia, lostUse, changedUse,
		changedInput}, d.kind) {
		return d
	}
	sent, given := itemsIn(turnsOf(c.sent.Messages, false)), itemsIn(turnsOf(c.given.Messages, true))
	placeOf := func(w *item) int { // of the only block that equals the only such one of the server
		equals := func(b item) bool { return c.sameBlock(w, &b) }
		i := slices.IndexFunc(given, equals)
		if i < 0 || slices.ContainsFunc(given[i+1:], equals) || 1 < len(slices.DeleteFunc(slices.Clone(sent),
			func(b item) bool { return !equals(b) })) {
			return -1
		}
		return i
	}
	at := slices.IndexFunc(sent, func(b item) bool {
		i := placeOf(&b)
		return b.Path == d.sent || d.sent == "" && i >= 0 && given[i].Path == d.given
	})
	if at < 0 {
		return d
	}
	w, place := &sent[at], placeOf(&sent[at])
	for i := range sent {
		other := placeOf(&sent[i])
		if place < 0 || other < 0 || i == at || (i < at) == (other < place) {
			continue
		}
		wanted, found := "before", "behind"
		if i < at {
			wanted, found = found, wanted
		}
		return changedOrder.found(describe(w)+" "+wanted+" "+describe(&sent[i]), "it "+found+" that").
			at(w.Path, given[place].Path)
	}
	return d
}

func itemsIn(turns []turn) []item {
	var all []item
	for _, t := range turns {
		all = append(all, t.items...)
	}
	return all
}

// sameBlock reports whether a block is a text, a medium or a tool use of the server, unchanged.
func (c *comparison) sameBlock(w, g *item) bool {
	switch {
	case w.role != g.role || w.Type != g.Type:
		return false
	case w.Type == dialect.ToolUse:
		return w.ID == g.ID && jsonvalue.Same(w.Input, g.Input)
	case isMedium(w.Block):
		return c.sameMedium(&w.Block, &g.Block)
	}
	return w.Type == dialect.Text && w.Text == g.Text
}
