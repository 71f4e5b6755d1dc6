package reference

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
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
	var data []string
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
			line, begun = strings.TrimPrefix(line, "\ufeff"), true
		}
		if line == "" {
			if at.id == "" || !at.broken.fromTheStart {
				at.id = id
			}
			if data != nil && !take([]byte(strings.Join(data, "\n"))) {
				return nil
			}
			data = nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value, spaced := strings.CutPrefix(value, " ")
		switch {
		case field == "data" && at.broken.oneDataLine:
			data = []string{value}
		case field == "data" && (spaced || !at.broken.wantsSpaces):
			data = append(data, value)
		case field == "id" && !strings.Contains(value, "\x00"):
			id = value
		case field == "retry":
			if ms, err := strconv.ParseUint(value, 10, 31); err == nil {
				at.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// lineReader reads lines that end in LF, CR or both. It waits for nothing behind the end of a line.
type lineReader struct {
	r      *bufio.Reader
	skipLF bool // for the line before ended in CR
	onlyLF bool // broken on purpose
}

func (l *lineReader) next() (string, error) {
	var line []byte
	for {
		b, err := l.r.ReadByte()
		if err != nil {
			return "", err
		}
		skip := l.skipLF
		l.skipLF = b == '\r' && !l.onlyLF
		switch {
		case b == '\n' && skip:
		case l.onlyLF && b == '\n':
			return strings.TrimSuffix(string(line), "\r"), nil
		case b == '\n' || l.skipLF:
			return string(line), nil
		default:
			line = append(line, b)
		}
	}
}
