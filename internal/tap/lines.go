package tap

import (
	"bytes"
	"io"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// maxLine is the length of the longest line that is recorded whole, in bytes.
const maxLine = 64 << 20

// Copy passes on what one side of a connection writes, and records its lines. It returns when the source ends or the
// destination fails; a line without an end is recorded as partial. Connection names the connection in the trace.
func (f *Frames) Copy(to io.Writer, from io.Reader, dir trace.Direction, connection string) error {
	var line []byte
	take := func(raw []byte, partial bool) {
		if raw = bytes.TrimSuffix(raw, []byte("\r")); len(raw) > 0 {
			f.record(trace.Frame{Dir: dir, Raw: bytes.Clone(raw), Session: connection, Partial: partial})
		}
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		piece := buffer[:n]
		for {
			head, rest, ended := bytes.Cut(piece, []byte("\n"))
			if len(line)+len(head) <= maxLine {
				line = append(line, head...)
			}
			if !ended {
				break
			}
			take(line, len(line) >= maxLine)
			line, piece = line[:0], rest
		}
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				return failed
			}
		}
		if err != nil {
			take(line, true)
			if dir == trace.FromClient {
				f.record(trace.Frame{Dir: dir, Session: connection, Closed: true})
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}
