package evidence

import (
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// overStdio reports whether there was a pipe in the place of HTTP.
func (s *Session) OverStdio() bool { return s.Trace.Header.Transport == trace.Stdio }

// takePipe takes note of what only a pipe shows: that the server was launched, and bytes on it that are no message.
func (s *Session) takePipe(e *trace.Event, m *Message) {
	if e.Mark != nil && e.Mark.Name == trace.MarkConnection {
		s.Connections++
	}
	f := e.Frame
	if f == nil || f.Dir != trace.FromClient || f.Raw.IsZero() {
		return
	}
	switch {
	case f.Partial:
		s.PartialLines = append(s.PartialLines, Place{e.Ref(), "", "not a whole line"})
	case m.Method == "" && !m.IsResponse():
		s.InvalidLines = append(s.InvalidLines, Place{e.Ref(), "", "no message"})
	case !utf8.Valid(f.Raw):
		s.InvalidLines = append(s.InvalidLines, Place{e.Ref(), "", "no UTF-8"})
	default:
		s.Messages++
	}
}
