package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// line is the text between two line feeds of a connection. A carriage return is part of it: JSON skips it.
type line struct {
	raw     []byte
	partial bool // the line is longer than the limit, or the connection ended within it
	tooLong bool
}

type lineReader struct {
	r     *bufio.Reader
	limit int64 // of a line, in bytes
}

func newLineReader(r io.Reader, limit int64) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, 32<<10), limit}
}

// keptOfLong is the number of bytes that are kept of a line over the limit.
const keptOfLong = 1 << 10

// next returns the next line, which the caller may keep. A partial line comes before the error; an end between two
// lines is io.EOF.
func (l *lineReader) next() (line, error) {
	var got line
	for {
		part, err := l.r.ReadSlice('\n')
		ended := err == nil
		if ended {
			part = part[:len(part)-1]
		}
		switch {
		case got.tooLong:
		case int64(len(got.raw)+len(part)) > l.limit:
			got.raw = append(got.raw, part...)
			got = line{bytes.Clone(got.raw[:min(len(got.raw), keptOfLong)]), true, true}
		default:
			got.raw = append(got.raw, part...)
		}
		switch {
		case ended:
			return got, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(got.raw) > 0:
			got.partial = true
			return got, nil // the next call gets the error again
		default:
			return got, err
		}
	}
}
