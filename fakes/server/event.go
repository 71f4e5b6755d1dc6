package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// event is an event of a stream.
type event struct {
	of      scope
	raw     []byte // the message; empty for an event that has none
	hostile bool
	id      string        // after which the stream can be resumed; "" where it cannot be
	retry   time.Duration // how long the client is to wait before it comes back; 0 where the event does not say
	again   bool          // it was sent before
	closes  bool          // the connection ends behind it
}

// Style is how the events of a stream are written. Whatever it says, a reader makes the same messages of them
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation). The zero value is the plainest: lines that end in
// a line feed, and a space behind each colon.
type Style struct {
	// BOM begins the stream with a byte order mark. It means nothing once something was written.
	BOM bool
	// LineEnd is what ends a line: "\n", also when "", "\r\n" or "\r".
	LineEnd string
	// Tight leaves out the space behind colons.
	Tight bool
	// Extra are lines before those of each event, such as ": a comment", "event: message" or "unknown: field"; an empty one ends an event of its
	// own. What they say is not checked.
	Extra []string
	// Folded writes a message that is JSON over several lines, wherever JSON allows that, each a data field of its own.
	Folded bool
	// Piece is how many bytes are sent at once, wherever that cuts an event or a character; 0 for whole events.
	Piece int
}

// Style sets how events of the call's stream are written from here on; over a connection, which has no events, it does nothing. It returns an error for
// a line end or an extra line that would not be legal.
func (s *Session) Style(style Style) error {
	if !slices.Contains([]string{"", "\n", "\r\n", "\r"}, style.LineEnd) {
		return fmt.Errorf("%w: an event stream has no line end %q", ErrInvalid, style.LineEnd)
	}
	for _, line := range style.Extra {
		if strings.ContainsAny(line, "\r\n") {
			return fmt.Errorf("%w: the line %q of an event stream holds a line end", ErrInvalid, line)
		}
	}
	s.carrier.style(style)
	return nil
}

// appendEvent appends an event as it goes out. A line end in the message, of whatever kind, begins another data line, which the reader joins
// again with "\n": after a bare CR it would take the rest for another field.
func (st *Style) appendEvent(b []byte, e event, first bool) []byte {
	if first && st.BOM {
		b = append(b, "\ufeff"...)
	}
	end := st.LineEnd
	if end == "" {
		end = "\n"
	}
	for _, line := range st.Extra {
		b = append(append(b, line...), end...)
	}
	field := func(name string, value []byte) {
		b = append(append(b, name...), ':')
		if !st.Tight || bytes.HasPrefix(value, []byte(" ")) {
			b = append(b, ' ')
		}
		b = append(append(b, value...), end...)
	}
	if e.id != "" {
		field("id", []byte(e.id))
	}
	if e.retry > 0 {
		field("retry", fmt.Appendf(nil, "%d", e.retry.Milliseconds()))
	}
	for line := range st.lines(e.raw) {
		field("data", line)
	}
	return append(b, end...)
}

// lines are those of a message, one at least.
func (st *Style) lines(raw []byte) iter.Seq[[]byte] {
	var folded bytes.Buffer
	if st.Folded && json.Indent(&folded, raw, "", "") == nil {
		raw = folded.Bytes()
	}
	return func(yield func([]byte) bool) {
		for {
			i := bytes.IndexAny(raw, "\r\n")
			if i < 0 {
				yield(raw)
				return
			}
			if !yield(raw[:i]) {
				return
			}
			if raw[i] == '\r' && i+1 < len(raw) && raw[i+1] == '\n' {
				i++
			}
			raw = raw[i+1:]
		}
	}
}

// pieces are what is sent at once.
func (st *Style) pieces(b []byte) iter.Seq[[]byte] {
	if st.Piece <= 0 {
		return slices.Values([][]byte{b})
	}
	return slices.Chunk(b, st.Piece)
}
