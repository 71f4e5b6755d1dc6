package tap

import (
	"bytes"
	"errors"
	"io"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// maxLine is the length of the longest line that is recorded whole, in bytes.
const maxLine = 64 << 20

// Lines records the lines of one direction of a connection. It is not safe for concurrent use.
type Lines struct {
	frames     *Frames
	dir        trace.Direction
	connection string
	line       []byte
}

// Lines returns a recorder of what one side writes. Connection names the connection in the trace.
func (f *Frames) Lines(dir trace.Direction, connection string) *Lines {
	return &Lines{frames: f, dir: dir, connection: connection}
}

// Add records the lines that a piece completes.
func (l *Lines) Add(piece []byte) {
	for {
		head, rest, ended := bytes.Cut(piece, []byte("\n"))
		if len(l.line)+len(head) <= maxLine {
			l.line = append(l.line, head...)
		}
		if !ended {
			return
		}
		l.take(len(l.line) >= maxLine)
		piece = rest
	}
}

// End records what has no line end as partial.
func (l *Lines) End() { l.take(true) }

func (l *Lines) take(partial bool) {
	if raw := bytes.TrimSuffix(l.line, []byte("\r")); len(raw) > 0 {
		l.frames.record(trace.Frame{Dir: l.dir, Raw: bytes.Clone(raw), Session: l.connection, Partial: partial})
	}
	l.line = l.line[:0]
}

// Copy passes on what one side of a connection writes, and records its lines. It returns when the source ends or the
// destination fails. It also records that the client has ended the connection.
func (f *Frames) Copy(to io.Writer, from io.Reader, dir trace.Direction, connection string) error {
	lines := f.Lines(dir, connection)
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		lines.Add(buffer[:n])
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				return failed
			}
		}
		if err == nil {
			continue
		}
		lines.End()
		if dir == trace.FromClient {
			f.record(trace.Frame{Dir: dir, Session: connection, Closed: true})
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
}
