package mutants

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// stream returns an event stream of the server with its messages edited.
func (w *Wire) stream(body io.ReadCloser, post *Message) io.ReadCloser {
	reader, writer := io.Pipe()
	s := &stream{PipeReader: reader, from: body}
	s.forget = w.opened(s)
	from := io.Reader(body)
	if (w.edit.Line != nil || w.edit.OnlyLF) && w.always() {
		from = &lines{from: bufio.NewReader(body), onlyLF: w.edit.OnlyLF, edit: w.line, fire: w.Fire}
	}
	w.work.Go(func() {
		var at sse.Reader
		id, retry := "", time.Duration(0)
		events := func(all [][]byte) bool {
			var b bytes.Buffer
			if at.ID != id {
				id = at.ID
				fmt.Fprintf(&b, "id: %s\n", id)
			}
			if at.Retry != retry {
				retry = at.Retry
				fmt.Fprintf(&b, "retry: %d\n", retry.Milliseconds())
			}
			for _, data := range all {
				for line := range bytes.Lines(append(data, '\n')) {
					b.WriteString("data: ")
					b.Write(line)
				}
				b.WriteByte('\n')
			}
			if len(all) == 0 && b.Len() > 0 {
				b.WriteByte('\n')
			}
			_, err := writer.Write(b.Bytes())
			return err == nil
		}
		err := at.Events(from, func(data []byte) bool {
			if len(data) == 0 {
				return events([][]byte{{}})
			}
			return events(w.payload(data, post, true))
		})
		if err == nil && w.failure() == nil {
			events(nil)
		}
		if failed := w.failure(); failed != nil {
			err = failed
		}
		_ = writer.CloseWithError(err)
	})
	return s
}

// stream is the edited body.
type stream struct {
	*io.PipeReader
	from   io.Closer
	forget func()
}

func (s *stream) Close() error {
	s.forget()
	err := s.from.Close()
	_ = s.PipeReader.Close()
	return err
}

// lines edits the lines of an event stream as a client would that reads them wrongly. A line ends in LF, CR or both.
type lines struct {
	from   *bufio.Reader
	edit   func(line []byte) []byte
	onlyLF bool
	fire   func()
	ready  []byte
	skipLF bool // the line before ended in CR
}

func (l *lines) Read(b []byte) (int, error) {
	var line []byte
	for len(l.ready) == 0 {
		c, err := l.from.ReadByte()
		if err != nil {
			return 0, err
		}
		skip := l.skipLF
		l.skipLF = false
		switch {
		case c == '\n' && skip:
			l.ready = []byte("\n")
		case c == '\r' && l.onlyLF:
			line = append(line, ' ') // which JSON ignores, as it ignores CR
			l.fire()
		case c == '\n' || c == '\r':
			l.skipLF = c == '\r'
			l.ready = append(l.edit(line), c)
		default:
			line = append(line, c)
		}
	}
	n := copy(b, l.ready)
	l.ready = l.ready[n:]
	return n, nil
}

// line edits a line of an event stream of the server.
func (w *Wire) line(line []byte) []byte {
	if w.edit.Line == nil {
		return line
	}
	kept, ok := w.edit.Line(line)
	if !ok {
		kept = []byte(":") // a comment
	}
	if !bytes.Equal(kept, line) {
		w.Fire()
	}
	return kept
}

// replyLines edits each line of the model's replies.
func replyLines(edit func(*Wire, []byte) []byte) func(*Wire) Edit {
	return just(Edit{Model: func(w *Wire, next http.RoundTripper) http.RoundTripper {
		return replies(next, func(body io.ReadCloser) io.ReadCloser {
			edited := &lines{from: bufio.NewReader(body), edit: func(line []byte) []byte { return edit(w, line) }}
			return readCloser{edited, body}
		})
	}})
}
