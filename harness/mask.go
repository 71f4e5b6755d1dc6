package harness

import (
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// masked removes the secrets of our environment from an event, on whatever wire they were. The planted ones are not in
// our environment, and stay.
func masked(m *leak.Mask, e trace.Event) trace.Event {
	header := func(h map[string]string) {
		for name, value := range h {
			h[name] = m.Text(value)
		}
	}
	frame := func(f *trace.Frame) {
		f.Raw = m.Bytes(f.Raw)
		if f.HTTP != nil {
			header(f.HTTP.Header)
			f.HTTP.Address = m.Text(f.HTTP.Address)
		}
	}
	switch {
	case m == nil:
	case e.Frame != nil:
		frame(e.Frame)
	case e.Front != nil:
		frame(e.Front)
	case e.Request != nil:
		e.Request.Path, e.Request.Body = m.Text(e.Request.Path), m.Bytes(e.Request.Body)
		header(e.Request.Header)
	case e.Chunk != nil:
		e.Chunk.Data = m.Bytes(e.Chunk.Data)
	case e.End != nil:
		e.End.Unmatched, e.End.Refused = m.Text(e.End.Unmatched), m.Text(e.End.Refused)
	case e.Mark != nil:
		e.Mark.Text = m.Text(e.Mark.Text)
	case e.Process != nil:
		e.Process.Err, e.Process.Panic = m.Text(e.Process.Err), m.Text(e.Process.Panic)
	}
	return e
}
