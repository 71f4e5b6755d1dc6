package conformance

import (
	"fmt"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// overStdio reports whether there was a pipe in the place of HTTP.
func (s *Session) overStdio() bool { return s.Trace.Header.Transport == trace.Stdio }

// takePipe takes note of what only a pipe shows: that the server was launched, and bytes on it that are no message.
func (s *Session) takePipe(e *trace.Event, m *rpc) {
	if e.Mark != nil && e.Mark.Name == trace.MarkConnection {
		s.Connections++
	}
	f := e.Frame
	if f == nil || f.Dir != trace.FromClient || f.Raw.IsZero() {
		return
	}
	switch {
	case f.Partial:
		s.Cut = append(s.Cut, Place{e.Ref(), "", "not a whole line"})
	case m.method == "" && !m.isResponse():
		s.NoMessages = append(s.NoMessages, Place{e.Ref(), "", "no message"})
	case !utf8.Valid(f.Raw):
		s.NoMessages = append(s.NoMessages, Place{e.Ref(), "", "no UTF-8"})
	default:
		s.Messages++
	}
}

// neverUsed says how far a client came that was not served.
func (s *Session) neverUsed() string {
	if s.overStdio() && s.Connections == 0 {
		return "the client never launched the server"
	}
	if s.overStdio() {
		return "the client launched the server and never got as far as using it"
	}
	return "the client never got as far as using the server"
}

// mostStrays is how many of the strays are shown.
const mostStrays = 3

// onlyMessages wants nothing but messages on the pipe, each a line (2025-11-25, basic/transports#stdio; 2026-07-28,
// basic/transports/stdio). What a client that we ended, or whose server we ended, had not finished is not held against it.
func onlyMessages(sessions []*Session) Verdict {
	strays, messages := 0, 0
	v := Broken("the client wrote what is no JSON-RPC message")
	for _, s := range sessions {
		found := s.NoMessages
		if s.Ended == nil || !s.Ended.Deadline && !s.Ended.Interrupted && !s.lost {
			found = append(found[:len(found):len(found)], s.Cut...)
		}
		for _, p := range found {
			if strays++; strays <= mostStrays {
				v = v.See(p, "%s", clip(fmt.Sprintf("%q", s.Trace.Find(p.Ref).Frame.Raw)))
			}
		}
		messages += s.Messages
	}
	switch {
	case strays > 1:
		v.message = fmt.Sprintf("the client wrote %d lines that are no JSON-RPC messages", strays)
		return v
	case strays == 1:
		return v
	case messages == 0:
		return NotObserved("the client wrote nothing")
	}
	return Pass("every line was a message")
}
