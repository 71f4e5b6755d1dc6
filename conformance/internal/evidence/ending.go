package evidence

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// SpokeOtherRevision reports whether the client tried only another revision.
func (s *Session) SpokeOtherRevision() bool { return s.Foreign && !s.Connected }

// AllSpokeOtherRevision reports whether [Session.SpokeOtherRevision] holds for all sessions.
func AllSpokeOtherRevision(sessions []*Session) bool {
	return !slices.ContainsFunc(sessions, func(s *Session) bool { return !s.SpokeOtherRevision() })
}

// Interrupted reports whether the harness ended the client because the run was interrupted.
func (s *Session) Interrupted() bool { return s.Ended != nil && s.Ended.Interrupted }

// Ending describes how the client ended.
func (s *Session) Ending() string {
	p := s.Ended
	switch {
	case p == nil:
		return "the trace does not say how it ended"
	case p.Interrupted:
		return "the run was interrupted"
	case p.Deadline:
		return fmt.Sprintf("it was still running after %s and was ended", s.Trace.Header.Timeout)
	case p.OutsideBubble:
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

// Crash describes how a client crashed, with the line from its standard error that says why.
func (s *Session) Crash() string {
	if note := CrashNote(s.Ended.Stderr); note != "" {
		return fmt.Sprintf("%s (%s)", s.Ending(), Clip(note))
	}
	return s.Ending()
}

// EndedByItself reports whether a client ended without a crash, a hang or an interrupt, if not with success.
func EndedByItself(p *trace.Process) bool {
	return p != nil && !p.Deadline && !p.Interrupted && !p.OutsideBubble &&
		p.Signal == "" && p.Panic == "" && p.Leak == "" && CrashNote(p.Stderr) == ""
}

// CrashNote returns the line in which a runtime reports an uncaught error; "" for none. The exit status alone does not
// tell a crash from a failure.
func CrashNote(stderr string) string { return crashLine.FindString(stderr) }

// crashLine matches such a line of Go, Rust, Node and .NET.
var crashLine = regexp.MustCompile(
	`(?m)^(goroutine \d+ \[running\]|thread '.*' panicked|.*Unhandled 'error' event|Unhandled exception\.).*$`)

// Died returns "; " and how the client ended, if it crashed before the case was over; else "". A client that hung
// still waits for something, which the verdict is about.
func (ev *Case) Died() string {
	s := ev.Session
	if ev.Over || s.Ended == nil || s.Ended.Clean() || s.Ended.Deadline || s.Ended.Leak != "" {
		return ""
	}
	return "; " + s.Ending()
}

// WhyNoResult returns ": " and why the nth round (from 1) did not lead to another; "" if there is no such round.
func (ev *Case) WhyNoResult(n int) string {
	if n < 1 || n > len(ev.Rounds) {
		return ""
	}
	r := ev.Rounds[n-1]
	why := fmt.Sprintf(": the handler could not continue from the response to request %d", n)
	if len(r.Answers) == 0 {
		why = fmt.Sprintf(": no response to request %d%s", n, ev.Died())
	} else if a := r.Answers[0]; a.Err != nil {
		why = fmt.Sprintf(": error response to request %d: %q (code %d)", n, Clip(a.Err.Message), a.Err.Code)
	}
	if x := r.LastExchange(); x != nil && x.End.Refused+x.End.Unmatched != "" {
		why += fmt.Sprintf("; the model refused its request: %s", Clip(x.End.Refused+x.End.Unmatched))
	}
	return why
}

// Unsettled returns why something unseen may still have followed an event; "" if it did not follow: the session ended
// cleanly, and the server served the client later ([Session.ServedLater]). [harness.Case.Barrier] provides a later
// request. A ping proves nothing: a client can answer it on another goroutine.
func (s *Session) Unsettled(after Place) string {
	switch {
	case !s.Trace.Whole:
		return "the trace is incomplete"
	case s.Ended == nil || !s.Ended.Clean():
		return "the session did not end cleanly: " + s.Ending()
	case !s.ServedLater(s.Order[after.Ref]):
		return "no later sampling request was answered, so it could still come"
	}
	return ""
}

// ServedLater reports whether the client answered a sampling request sent after the index. If the server must not send
// one, because the client does not declare sampling or the user declines, a completed call counts.
func (s *Session) ServedLater(index int) bool {
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			withoutRequest := ev.Withheld != "" || c.ID == harness.BarrierID && len(ev.Rounds) == 0
			if withoutRequest && ev.Over && s.Order[ev.FirstCall] > index {
				return true
			}
			answered := func(r *Round) bool { return len(r.Answers) > 0 && s.Order[r.Asked.Ref] > index }
			if slices.ContainsFunc(ev.Rounds, answered) {
				return true
			}
		}
	}
	return false
}

// WentOn reports whether the client returned a result after an event, or returned any and ended cleanly.
func (s *Session) WentOn(after trace.Ref) bool {
	clean := s.Ended != nil && s.Ended.Clean()
	return s.Answers(func(r *Round) bool { return clean || s.Order[after] < s.Order[r.Result().Ref] })
}
