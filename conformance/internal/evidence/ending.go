package evidence

import (
	"fmt"
	"regexp"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// spokeAnother reports whether the client came with another revision and went away again.
func (s *Session) SpokeOtherRevision() bool { return s.Foreign && !s.Connected }

func AllSpokeOtherRevision(sessions []*Session) bool {
	for _, s := range sessions {
		if !s.SpokeOtherRevision() {
			return false
		}
	}
	return true
}

// ending says in words how the client ended.
func (s *Session) Ending() string {
	p := s.Ended
	switch {
	case p == nil:
		return "the trace does not say how it ended"
	case p.Interrupted:
		return "the run was interrupted"
	case p.Deadline:
		return fmt.Sprintf("it was still running after %s and was ended", s.Trace.Header.Timeout)
	case p.Outside:
		return Clip(p.Err)
	case p.Panic != "":
		return "it panicked: " + Clip(p.Panic)
	case p.Signal != "":
		return "it was ended by the signal " + p.Signal
	case p.Leak != "":
		return p.Leak
	case p.Err != "":
		return "it returned the error: " + Clip(p.Err)
	case p.ExitCode != 0:
		return fmt.Sprintf("it exited with status %d", p.ExitCode)
	}
	return "it ended with success"
}

// endedByItself reports whether a client came to its end by itself, if not with success: it neither hung nor was it ended by a fault.
func EndedByItself(p *trace.Process) bool {
	return p != nil && !p.Deadline && !p.Interrupted && !p.Outside && p.Signal == "" && p.Panic == "" && p.Leak == "" && CrashNote(p.Stderr) == ""
}

// crashNote is the line by which a runtime says that nobody has caught an error of its program, which then ended with a status that says no more than that
// it failed; "" where there is none.
func CrashNote(stderr string) string { return crashLine.FindString(stderr) }

// crashLine is such a line, of Go, Rust, Node, .NET.
var crashLine = regexp.MustCompile(`(?m)^(goroutine \d+ \[running\]|thread '.*' panicked|.*Unhandled 'error' event|Unhandled exception\.).*$`)

// crash says how a client came to a bad end.
func (s *Session) Crash() string {
	if note := CrashNote(s.Ended.Stderr); note != "" {
		return fmt.Sprintf("%s (%s)", s.Ending(), Clip(note))
	}
	return s.Ending()
}
