package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Version is the version of the file format. A reader refuses any other.
const Version = 1

// ErrTruncated is returned for a file that ends before its footer does, wherever it was cut: half a run must never pass
// for a shorter one.
var ErrTruncated = errors.New("trace is truncated: the footer is missing")

// maxLine bounds a line of a trace file, in bytes. JSON may need six bytes for one of a payload, so this is far beyond
// [DefaultLimit].
const maxLine = 1<<31 - 1

// A trace file is NDJSON: the header's line, a line for each event, the footer's line.
type headerLine struct {
	Trace  *int    `json:"mcpConformTrace"`
	Header *Header `json:"header"`
}

type footerLine struct {
	Footer *footer `json:"footer"`
}

type footer struct {
	Events  int   `json:"events"`
	Whole   bool  `json:"whole"`
	Dropped int64 `json:"dropped,omitempty"`
}

// Write writes the trace as NDJSON: a line with version and header, a line for each event, and a footer without which
// [Read] refuses the file.
func (t *Trace) Write(w io.Writer) error {
	buffered := bufio.NewWriter(w)
	enc := json.NewEncoder(buffered)
	enc.SetEscapeHTML(false)
	version := Version
	if err := enc.Encode(headerLine{Trace: &version, Header: &t.Header}); err != nil {
		return fmt.Errorf("writing the trace's header: %w", err)
	}
	for i := range t.Events {
		if n := t.Events[i].payloads(); n != 1 {
			return fmt.Errorf("writing event %d of the trace: it has %d payloads, want 1", i+1, n)
		}
		if err := enc.Encode(&t.Events[i]); err != nil {
			return fmt.Errorf("writing event %d of the trace: %w", i+1, err)
		}
	}
	if err := enc.Encode(footerLine{&footer{len(t.Events), t.Whole, t.Dropped}}); err != nil {
		return fmt.Errorf("writing the trace's footer: %w", err)
	}
	return buffered.Flush()
}

// Read reads what [Trace.Write] wrote. Its errors name the line. A file that was cut, even by its last byte, is
// [ErrTruncated], and whatever follows the footer is an error too: two files run together are not one trace.
func Read(r io.Reader) (*Trace, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	cut := false
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i], nil
		}
		if atEOF && len(data) > 0 {
			cut = true // each line ends in a newline, the last one too
			return len(data), data, nil
		}
		return 0, nil, nil
	})
	t, n, ended := &Trace{}, 0, false
	for lines.Scan() {
		n++
		line := lines.Bytes()
		switch {
		case ended:
			return nil, fmt.Errorf("trace line %d: there is more after the footer", n)
		case cut && (n > 1 || begins(line)):
			return nil, fmt.Errorf("%w (it ends in the middle of line %d)", ErrTruncated, n)
		case !utf8.Valid(line):
			return nil, fmt.Errorf("trace line %d: not valid UTF-8: the file is damaged, or no trace", n)
		case n == 1:
			if err := t.readHeader(line); err != nil {
				return nil, err
			}
		default:
			end, err := t.readLine(line)
			if err != nil {
				return nil, fmt.Errorf("trace line %d: %w", n, err)
			}
			ended = end
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("trace line %d: %w", n+1, err)
	}
	if n == 0 {
		return nil, fmt.Errorf("%w (the file is empty)", ErrTruncated)
	}
	if !ended {
		return nil, fmt.Errorf("%w (it ends after line %d)", ErrTruncated, n)
	}
	return t, nil
}

// begins reports whether a line is JSON as far as it goes.
func begins(line []byte) bool {
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&headerLine{})
	return err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

func (t *Trace) readHeader(line []byte) error {
	var first headerLine
	if err := json.Unmarshal(line, &first); err != nil {
		return fmt.Errorf("trace line 1: not a trace: %w", err)
	}
	if first.Trace == nil || first.Header == nil {
		return errors.New(`trace line 1: not a trace: want {"mcpConformTrace":…,"header":{…}}`)
	}
	if *first.Trace != Version {
		return fmt.Errorf("trace line 1: format version %d, this program reads version %d", *first.Trace, Version)
	}
	t.Header = *first.Header
	if len(t.Header.Declare) > 0 {
		var compact bytes.Buffer // as Write leaves it
		_ = json.Compact(&compact, t.Header.Declare)
		t.Header.Declare = compact.Bytes()
	}
	return nil
}

// readLine reads an event or the footer, and reports whether it was the footer.
func (t *Trace) readLine(line []byte) (bool, error) {
	if bytes.HasPrefix(line, []byte(`{"footer":`)) {
		var last footerLine
		if err := json.Unmarshal(line, &last); err != nil {
			return false, fmt.Errorf("unreadable footer: %w", err)
		}
		if last.Footer == nil {
			return false, errors.New("the footer is null")
		}
		if last.Footer.Events != len(t.Events) {
			return false, fmt.Errorf("the footer counts %d events, the file has %d: lines were lost or added", last.Footer.Events, len(t.Events))
		}
		t.Whole, t.Dropped = last.Footer.Whole, last.Footer.Dropped
		return true, nil
	}
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return false, fmt.Errorf("unreadable event: %w", err)
	}
	if n := e.payloads(); n != 1 {
		return false, fmt.Errorf("an event has exactly one payload, this one has %d", n)
	}
	t.Events = append(t.Events, e)
	return false, nil
}
