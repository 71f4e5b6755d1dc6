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

// Version is the version of the file format. [Read] refuses every other version.
const Version = 1

// ErrTruncated says that a file ends before its footer. A part of a run must never pass for a shorter run.
var ErrTruncated = errors.New("trace is truncated: the footer is missing")

// maxLine bounds a line of a trace file, in bytes. JSON may need six bytes for one byte of a payload, so this is far
// beyond [DefaultLimit].
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

// Write writes the trace as NDJSON: a line with version and header, a line for each event, and a footer.
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
			return fmt.Errorf("writing event %d of the trace: expected 1 payload, found %d", i+1, n)
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

// Read reads what [Trace.Write] wrote. Its errors name the line. A file that lacks even its last byte is
// [ErrTruncated]. Text after the footer is an error, too: two concatenated files are not one trace.
func Read(r io.Reader) (*Trace, error) {
	in := reader{lines: bufio.NewScanner(r)}
	in.lines.Buffer(make([]byte, 64<<10), maxLine)
	in.lines.Split(in.split)
	for in.lines.Scan() {
		in.n++
		if err := in.line(in.lines.Bytes()); err != nil {
			return nil, err
		}
	}
	if err := in.lines.Err(); err != nil {
		return nil, fmt.Errorf("trace line %d: %w", in.n+1, err)
	}
	if in.n == 0 {
		return nil, fmt.Errorf("%w (the file is empty)", ErrTruncated)
	}
	if !in.ended {
		return nil, fmt.Errorf("%w (it ends after line %d)", ErrTruncated, in.n)
	}
	return &in.trace, nil
}

type reader struct {
	lines *bufio.Scanner
	trace Trace
	n     int  // lines so far
	cut   bool // the current line lacks its newline
	ended bool // the footer was read
}

// split is a [bufio.SplitFunc] that notes a missing last newline.
func (in *reader) split(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		in.cut = true
		return len(data), data, nil
	}
	return 0, nil, nil
}

func (in *reader) line(line []byte) error {
	switch {
	case in.ended:
		return fmt.Errorf("trace line %d: unexpected text after the footer", in.n)
	case in.cut && (in.n > 1 || jsonPrefix(line)):
		return fmt.Errorf("%w (it ends in the middle of line %d)", ErrTruncated, in.n)
	case !utf8.Valid(line):
		return fmt.Errorf("trace line %d: invalid UTF-8: the file is damaged, or not a trace", in.n)
	case in.n == 1:
		return in.trace.readHeader(line)
	}
	ended, err := in.trace.readLine(line)
	if err != nil {
		return fmt.Errorf("trace line %d: %w", in.n, err)
	}
	in.ended = ended
	return nil
}

// jsonPrefix reports whether a line is JSON as far as it goes.
func jsonPrefix(line []byte) bool {
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&headerLine{})
	return err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

func (t *Trace) readHeader(line []byte) error {
	var first headerLine
	if err := json.Unmarshal(line, &first); err != nil {
		return fmt.Errorf("trace line 1: not a trace: %w", err)
	}
	if first.Trace == nil || first.Header == nil {
		return errors.New(`trace line 1: not a trace: expected {"mcpConformTrace":…,"header":{…}}`)
	}
	if *first.Trace != Version {
		return fmt.Errorf("trace line 1: format version %d, but this program reads version %d", *first.Trace, Version)
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
func (t *Trace) readLine(line []byte) (ended bool, err error) {
	if bytes.HasPrefix(line, []byte(`{"footer":`)) {
		var last footerLine
		if err := json.Unmarshal(line, &last); err != nil {
			return false, fmt.Errorf("invalid footer: %w", err)
		}
		if last.Footer == nil {
			return false, errors.New("the footer is null")
		}
		if last.Footer.Events != len(t.Events) {
			return false, fmt.Errorf("the footer counts %d events, the file has %d: lines were lost or added",
				last.Footer.Events, len(t.Events))
		}
		t.Whole, t.Dropped = last.Footer.Whole, last.Footer.Dropped
		return true, nil
	}
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return false, fmt.Errorf("invalid event: %w", err)
	}
	if n := e.payloads(); n != 1 {
		return false, fmt.Errorf("expected an event with 1 payload, found %d", n)
	}
	t.Events = append(t.Events, e)
	return false, nil
}
