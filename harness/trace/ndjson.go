package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Version is the version of the file format. [Read] refuses every other version.
const Version = 1

// ErrTruncated says that a file ends before its footer. A part of a run must never pass for a shorter run.
var ErrTruncated = errors.New("trace is truncated: the footer is missing")

// ErrNotTrace says that the first line of a file is not that of a trace.
var ErrNotTrace = errors.New("not a trace")

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
	Cut     bool  `json:"cut,omitempty"`
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
	if err := enc.Encode(footerLine{&footer{len(t.Events), t.Whole, t.Dropped, t.Cut}}); err != nil {
		return fmt.Errorf("writing the trace's footer: %w", err)
	}
	return buffered.Flush()
}

// Read reads what [Trace.Write] wrote. Its errors name the line. A file that lacks even its last byte is
// [ErrTruncated]. Text after the footer is an error, too: two concatenated files are not one trace.
func Read(r io.Reader) (*Trace, error) {
	var t Trace
	err := Scan(r, func(part *Trace) error {
		t.Header, t.Whole, t.Dropped, t.Cut = part.Header, part.Whole, part.Dropped, part.Cut
		t.Events = append(t.Events, part.Events...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &t, nil
}

// Scan reads a trace part by part, and keeps none in memory: it calls f with the header alone, then with each event
// alone, and at last with what the footer says. Its errors are those of [Read], and that of f, which ends it.
func Scan(r io.Reader, f func(part *Trace) error) error {
	var t Trace
	events := 0
	in, ended := bufio.NewReader(r), false
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		cut := errors.Is(err, io.EOF)
		if cut && len(line) == 0 {
			return complete(n-1, ended)
		}
		switch {
		case err != nil && !cut:
			return fmt.Errorf("trace line %d: %w", n, err)
		case ended:
			return fmt.Errorf("trace line %d: unexpected text after the footer", n)
		case cut && (n > 1 || jsonPrefix(line)):
			return fmt.Errorf("%w (it ends in the middle of line %d)", ErrTruncated, n)
		case !utf8.Valid(line):
			return fmt.Errorf("trace line %d: invalid UTF-8: the file is damaged, or not a trace", n)
		}
		t.Events = nil
		if n == 1 {
			err = t.readHeader(line)
		} else {
			ended, err = t.readLine(line, events)
		}
		if err != nil {
			return fmt.Errorf("trace line %d: %w", n, err)
		}
		events += len(t.Events)
		if err := f(&t); err != nil {
			return err
		}
	}
}

// complete returns nil for a file of so many lines that has its footer.
func complete(lines int, ended bool) error {
	switch {
	case ended:
		return nil
	case lines == 0:
		return fmt.Errorf("%w (the file is empty)", ErrTruncated)
	}
	return fmt.Errorf("%w (it ends after line %d)", ErrTruncated, lines)
}

// jsonPrefix reports whether a line is JSON as far as it goes.
func jsonPrefix(line []byte) bool {
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&headerLine{})
	return err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

func (t *Trace) readHeader(line []byte) error {
	var first headerLine
	if err := json.Unmarshal(line, &first); err != nil {
		return fmt.Errorf("%w: %w", ErrNotTrace, jsonvalue.Plain(err))
	}
	if first.Trace == nil || first.Header == nil {
		return fmt.Errorf(`%w: expected {"mcpConformTrace":…,"header":{…}}`, ErrNotTrace)
	}
	if *first.Trace != Version {
		return fmt.Errorf("format version %d, but this program reads version %d", *first.Trace, Version)
	}
	t.Header = *first.Header
	if len(t.Header.Declare) > 0 {
		var compact bytes.Buffer // as Write leaves it
		_ = json.Compact(&compact, t.Header.Declare)
		t.Header.Declare = compact.Bytes()
	}
	return nil
}

// readLine reads an event or the footer, after so many events, and reports whether it was the footer.
func (t *Trace) readLine(line []byte, events int) (ended bool, err error) {
	if bytes.HasPrefix(line, []byte(`{"footer":`)) {
		var last footerLine
		if err := json.Unmarshal(line, &last); err != nil {
			return false, fmt.Errorf("invalid footer: %w", jsonvalue.Plain(err))
		}
		if last.Footer == nil {
			return false, errors.New("the footer is null")
		}
		if last.Footer.Events != events {
			return false, fmt.Errorf("the footer counts %d events, the file has %d: lines were lost or added",
				last.Footer.Events, events)
		}
		t.Whole, t.Dropped, t.Cut = last.Footer.Whole, last.Footer.Dropped, last.Footer.Cut
		return true, nil
	}
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return false, fmt.Errorf("invalid event: %w", jsonvalue.Plain(err))
	}
	if n := e.payloads(); n != 1 {
		return false, fmt.Errorf("expected an event with 1 payload, found %d", n)
	}
	t.Events = []Event{e}
	return false, nil
}
