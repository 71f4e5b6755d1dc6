// Package sse reads streams of server-sent events, of MCP servers and of model providers
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxEvent is the most that an event or a line has, in bytes: a sender that never ends one must not take all memory.
const MaxEvent = 64 << 20

// ErrTooLong says that an event or a line is longer than [MaxEvent].
var ErrTooLong = errors.New("an event of more than 64 MB")

// Reader reads one event stream, which may continue in another body after a disconnect. The zero value starts at the
// beginning.
type Reader struct {
	// ID is the id of the last complete event that had one; "" if the stream cannot be resumed.
	ID string
	// Type is the type of the event that take gets; "" for the default, which is message.
	Type string
	// Retry is how long to wait before the stream is resumed; 0 if the server has not said.
	Retry time.Duration
}

// IsStream reports whether a Content-Type is that of an event stream, in capitals or not, with or without parameters.
func IsStream(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// Events calls take with the data of each event, until take returns false or the body ends. An event that the end
// cuts off does not count. The error is that of the body, or [ErrTooLong].
func Events(body io.Reader, take func(data []byte) bool) error {
	return new(Reader).Events(body, take)
}

// Events is [Events] for a stream that may be resumed: it also updates ID, Type and Retry.
func (r *Reader) Events(body io.Reader, take func(data []byte) bool) error {
	lines := lineReader{r: bufio.NewReader(body)}
	e, begun := event{id: r.ID}, false
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !begun {
			line, begun = bytes.TrimPrefix(line, []byte("\ufeff")), true
		}
		if len(line) > 0 {
			if err := r.field(&e, line); err != nil {
				return err
			}
			continue
		}
		r.ID, r.Type = e.id, e.kind
		if e.data != nil && !take(e.data) {
			return nil
		}
		e.data, e.kind = nil, ""
	}
}

// event is what is read of an event.
type event struct {
	data     []byte // nil if it has none
	id, kind string
}

// field reads a line of an event.
func (r *Reader) field(e *event, line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if e.data != nil {
			e.data = append(e.data, '\n')
		}
		if len(e.data)+len(value) > MaxEvent {
			return ErrTooLong
		}
		e.data = append(slices.Grow(e.data, max(len(value), 1)), value...) // empty data is not nil
	case "event":
		if e.kind = string(value); e.kind == "message" {
			e.kind = ""
		}
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			e.id = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			r.Retry = time.Duration(ms) * time.Millisecond
		}
	}
	return nil
}

// lineReader reads lines that end in LF, CR or CRLF. It returns a line as soon as its end is read.
type lineReader struct {
	r      *bufio.Reader
	line   []byte
	skipLF bool // the line before ended in CR
}

// next returns the next line, which is valid until the next call.
func (l *lineReader) next() ([]byte, error) {
	l.line = l.line[:0]
	for {
		if _, err := l.r.Peek(1); err != nil {
			return nil, err
		}
		here, _ := l.r.Peek(l.r.Buffered())
		if l.skipLF {
			if l.skipLF = false; here[0] == '\n' {
				_, _ = l.r.Discard(1)
				continue
			}
		}
		end := bytes.IndexByte(here, '\n')
		if cr := bytes.IndexByte(here[:max(end, 0)], '\r'); cr >= 0 {
			end = cr
		} else if end < 0 {
			end = bytes.IndexByte(here, '\r')
		}
		if end < 0 {
			if len(l.line)+len(here) > MaxEvent {
				return nil, ErrTooLong
			}
			l.line = append(l.line, here...)
			_, _ = l.r.Discard(len(here))
			continue
		}
		l.line = append(l.line, here[:end]...)
		l.skipLF = here[end] == '\r'
		_, _ = l.r.Discard(end + 1)
		return l.line, nil
	}
}
