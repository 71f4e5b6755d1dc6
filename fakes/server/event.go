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

// event is an SSE event of a stream.
type event struct {
	of      scope
	raw     []byte // the message; empty without one
	hostile bool
	id      string        // for resuming the stream; "" when that is not possible
	retry   time.Duration // the client's wait before it reconnects; 0 leaves it out
	resent  bool          // an earlier connection has had it
	closes  bool          // the connection ends after it
}

// SSEStyle is how the events of a stream are written. A correct parser reads the same messages in every style
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation). The zero value is the
// plainest: lines end in a line feed, and a space follows each colon.
type SSEStyle struct {
	// BOM starts the stream with a byte order mark. It has no effect once something was written.
	BOM bool
	// LineEnd ends each line: "\n" (also ""), "\r\n" or "\r".
	LineEnd string
	// NoSpaceAfterColon leaves out the space after colons.
	NoSpaceAfterColon bool
	// ExtraLines precede those of each event, such as ": a comment", "event: message" or "unknown: field"; an empty
	// line ends an event of its own. Their content is not checked.
	ExtraLines []string
	// SplitData splits a JSON message into several data fields, at every place where JSON allows white space, with a
	// comment behind the first.
	SplitData bool
	// BytesPerWrite is the number of bytes per write, even within an event or a character; 0 writes whole events.
	BytesPerWrite int
}

// SetSSEStyle sets how later events of the call's stream are written. It has no effect on a connection, which has no
// events. It returns an error for an invalid line end or extra line.
func (t Transport) SetSSEStyle(style SSEStyle) error {
	if !slices.Contains([]string{"", "\n", "\r\n", "\r"}, style.LineEnd) {
		return fmt.Errorf("%w: %q is not a line end of event streams", ErrInvalid, style.LineEnd)
	}
	for _, line := range style.ExtraLines {
		if strings.ContainsAny(line, "\r\n") {
			return fmt.Errorf("%w: the extra line %q contains a line end", ErrInvalid, line)
		}
	}
	t.s.protocol.style(style)
	return nil
}

// appendEvent appends an event. Each line end in the message starts another data field, and the parser joins the fields
// with "\n"; after a bare CR it would take the rest for another field.
func (st *SSEStyle) appendEvent(b []byte, e event, first bool) []byte {
	if first && st.BOM {
		b = append(b, "\ufeff"...)
	}
	end := st.LineEnd
	if end == "" {
		end = "\n"
	}
	for _, line := range st.ExtraLines {
		b = append(append(b, line...), end...)
	}
	field := func(name string, value []byte) {
		b = append(append(b, name...), ':')
		if !st.NoSpaceAfterColon || bytes.HasPrefix(value, []byte(" ")) {
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
	fields := 0
	for line := range st.lines(e.raw) {
		if fields++; fields == 2 && st.SplitData {
			b = append(append(b, ": the message goes on"...), end...)
		}
		field("data", line)
	}
	return append(b, end...)
}

func (st *SSEStyle) lines(raw []byte) iter.Seq[[]byte] {
	var folded bytes.Buffer
	if st.SplitData && json.Indent(&folded, raw, "", "") == nil {
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

func (st *SSEStyle) pieces(b []byte) iter.Seq[[]byte] {
	if st.BytesPerWrite <= 0 {
		return slices.Values([][]byte{b})
	}
	return slices.Chunk(b, st.BytesPerWrite)
}
