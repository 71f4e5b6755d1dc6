package reference

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"
)

// reading is how far a stream has been read. The zero value is its beginning.
type reading struct {
	// id is that of the last whole event that had one; "" where the stream cannot be resumed.
	id string
	// retry is how long to wait before coming back; 0 where the server has not said.
	retry time.Duration

	broken transportFaults
}

// events calls take with the data of each event of a stream, until take returns false or the stream ends.
func events(body io.Reader, take func(data []byte) bool) error {
	return (&reading{}).events(body, take)
}

// events is the same for a stream whose reading goes on elsewhere: an event that is cut off by the end does not count
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
func (at *reading) events(body io.Reader, take func(data []byte) bool) error {
	lines := lineReader{r: bufio.NewReader(body), onlyLF: at.broken.linesEndInLF}
	var data []byte // nil until there is some
	id, begun := at.id, at.broken.keepsMark
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
		if len(line) == 0 {
			if at.id == "" || !at.broken.fromTheStart {
				at.id = id
			}
			if data != nil && !take(data) {
				return nil
			}
			data = nil
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value, spaced := bytes.CutPrefix(value, []byte(" "))
		switch field := string(name); {
		case field == "data" && at.broken.oneDataLine:
			data = append([]byte{}, value...)
		case field == "data" && (spaced || !at.broken.wantsSpaces):
			if data != nil {
				data = append(data, '\n')
			}
			data = append(slices.Grow(data, max(len(value), 1)), value...) // not nil for no data
		case field == "id" && bytes.IndexByte(value, 0) < 0:
			id = string(value)
		case field == "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				at.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// lineReader reads lines that end in LF, CR or both. It waits for nothing behind the end of a line.
type lineReader struct {
	r      *bufio.Reader
	line   []byte // the latest
	skipLF bool   // for the line before ended in CR
	onlyLF bool   // broken on purpose
}

// next returns the next line, which is good until the one after it is read.
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
		if !l.onlyLF {
			if cr := bytes.IndexByte(here[:max(end, 0)], '\r'); cr >= 0 {
				end = cr
			} else if end < 0 {
				end = bytes.IndexByte(here, '\r')
			}
		}
		if end < 0 {
			l.line = append(l.line, here...)
			_, _ = l.r.Discard(len(here))
			continue
		}
		l.line = append(l.line, here[:end]...)
		l.skipLF = here[end] == '\r'
		_, _ = l.r.Discard(end + 1)
		if l.onlyLF {
			return bytes.TrimSuffix(l.line, []byte("\r")), nil
		}
		return l.line, nil
	}
}
