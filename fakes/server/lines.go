package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// line is what a connection brings between two line feeds, without them. A carriage return is part of it: to JSON it is white space.
type line struct {
	raw []byte
	// partial is true for the first bytes of a line that is over the limit, and for what came before the connection ended.
	partial bool
	tooLong bool
}

// lineReader cuts what a connection brings into lines.
type lineReader struct {
	r     *bufio.Reader
	limit int64 // of a line, in bytes
}

func newLineReader(r io.Reader, limit int64) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, 32<<10), limit}
}

// keptOfLong is how much is kept of a line that is over the limit, in bytes.
const keptOfLong = 1 << 10

// next returns the next line, in memory of its own. What is there of a line when the connection ends comes before the error; an
// end between two lines is io.EOF.
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
			return got, nil // the next call finds the error again
		default:
			return got, err
		}
	}
}
