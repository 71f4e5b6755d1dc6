package cassettes

import "strings"

type edit struct {
	span
	with string
}

func edited(text string, edits []edit) string {
	if len(edits) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.From])
		b.WriteString(e.with)
		at = e.To
	}
	b.WriteString(text[at:])
	return b.String()
}

// mover maps places of a text to places after the edits. Call to with ascending places.
type mover struct {
	edits []edit
	moved int // by the edits already passed
}

// to maps one place. A place inside a replaced span maps to the end of the replacement.
func (m *mover) to(place int) int {
	for len(m.edits) > 0 && m.edits[0].To <= place {
		m.past()
	}
	if len(m.edits) > 0 && m.edits[0].From < place {
		return m.edits[0].From + m.moved + len(m.edits[0].with)
	}
	return place + m.moved
}

func (m *mover) past() {
	m.moved += len(m.edits[0].with) - (m.edits[0].To - m.edits[0].From)
	m.edits = m.edits[1:]
}
