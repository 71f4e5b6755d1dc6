package cassettes

import "strings"

// edit is a part of a text, and what stands there in its place.
type edit struct {
	span
	with string
}

// edited returns a text with what the edits, which are in order, put into it.
func edited(text string, edits []edit) string {
	if len(edits) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.from])
		b.WriteString(e.with)
		at = e.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// mover tells where places of a text are after edits. It is asked for them in their order.
type mover struct {
	edits []edit
	moved int // by those that are past
}

// to returns where a place is. One within what was replaced is behind what stands there now.
func (m *mover) to(place int) int {
	for len(m.edits) > 0 && m.edits[0].to <= place {
		m.past()
	}
	if len(m.edits) > 0 && m.edits[0].from < place {
		return m.edits[0].from + m.moved + len(m.edits[0].with)
	}
	return place + m.moved
}

func (m *mover) past() {
	m.moved += len(m.edits[0].with) - (m.edits[0].to - m.edits[0].from)
	m.edits = m.edits[1:]
}
