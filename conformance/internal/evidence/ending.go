package evidence

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// SpokeOtherRevision reports whether the client tried only another revision.
func (s *Session) SpokeOtherRevision() bool { return s.Foreign && !s.Connected }

// AllSpokeOtherRevision reports whether [Session.SpokeOtherRevision] holds for all sessions.
func AllSpokeOtherRevision(sessions []*Session) bool {
	return !slices.ContainsFunc(sessions, func(s *Session) bool { return !s.SpokeOtherRevision() })
}

// Interrupted reports whether the harness ended the client because the run was interrupted.
func (s *Session) Interrupted() bool { return s.Ended != nil && s.Ended.Interrupted }

// EndedEarly reports whether the harness ended a client that did not hang: the client may still have done what is
// missing.
func (s *Session) EndedEarly() bool { return s.Interrupted() || s.Unfinished() }

// Unfinished reports whether the harness ended a client that was still making progress, because its time was up, or
// that backs off ([Session.BacksOff]).
func (s *Session) Unfinished() bool { return s.Ended != nil && s.Ended.Unfinished || s.BacksOff() }

// EndedInTime returns a copy of the evidence in which the client ended with success.
func (ev *Case) EndedInTime() *Case {
	one, s := *ev, *ev.Session
	s.Ended, one.Session = &trace.Process{State: trace.Ended}, &s
	return &one
}

// Ending describes how the client ended.
func (s *Session) Ending() Why {
	w := Why{Text: s.ending()}
	if p := s.Ended; p != nil && p.Deadline && !s.EndedEarly() {
		w.Reason = StillRunning
	}
	return w
}

func (s *Session) ending() string {
	p := s.Ended
	switch {
	case p == nil:
		return "the trace does not say how it ended"
	case p.Interrupted:
		return "the run was interrupted"
	case p.Unfinished:
		return fmt.Sprintf("it was still making progress after %s, when its time was up", s.Lasted())
	case s.BacksOff():
		return fmt.Sprintf("it was still asking the failing model again, after longer and longer waits, when its time was "+
			"up after %s", s.Trace.Header.Timeout)
	case p.Deadline:
		return fmt.Sprintf("it was still running after %s and was ended", s.Trace.Header.Timeout)
	case p.OutsideBubble:
		return Clip(p.Err)
	case p.Panic != "":
		return "it panicked: " + Clip(p.Panic)
	case p.Signal != "":
		return "it was ended by the signal " + p.Signal + ownError(p.Stderr)
	case p.Leak != "":
		return p.Leak
	case p.Err != "":
		return "it returned the error: " + Clip(p.Err)
	case p.ExitCode != 0:
		return fmt.Sprintf("it exited with status %d%s", p.ExitCode, ownError(p.Stderr))
	}
	return "it ended with success"
}

// Lasted returns how long the session lasted, in whole seconds if it is that long.
func (s *Session) Lasted() time.Duration {
	d := s.Trace.Events[len(s.Trace.Events)-1].At
	if d < time.Second {
		return d
	}
	return d.Round(time.Second)
}

// Crash describes how a client crashed, with the line from its standard error that says why.
func (s *Session) Crash() string {
	if note := CrashNote(s.Ended.Stderr); note != "" {
		return fmt.Sprintf("%s (%s)", s.ending(), Clip(note))
	}
	return s.ending()
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
	`(?m)^(goroutine \d+ \[running\]|thread '.*' (\(\d+\) )?panicked|.*Unhandled 'error' event|Unhandled exception\.).*$`)

// Died returns "; " and how the client ended, if it crashed before the case was over; else nothing. A client that hung
// still waits for something, which the verdict is about.
func (ev *Case) Died() Why {
	s := ev.Session
	if ev.Over || s.Ended == nil || s.Ended.Clean() || s.Ended.Deadline || s.Ended.Leak != "" {
		return Why{}
	}
	return Why{Text: "; "}.And(s.Ending())
}

// WhySilent returns what explains that a message of the client is missing after an event, each reason after "; ": a
// message that the server refused, the error that the client reported or wrote, and how it died.
func (ev *Case) WhySilent(after trace.Ref) Why {
	why := ev.refusedAfter(after)
	if o := ev.Outcome; o != nil && !ev.killed && o.Error != nil && !strings.Contains(why.Text, o.Error.Message) {
		why.Text += "; the client reports: " + Clip(o.Error.Message)
	}
	if p := ev.Session.Ended; p != nil && p.Deadline && !ev.Over && NamesError(OwnError(p.Stderr)) {
		why.Text += "; it wrote to standard error" + ownError(p.Stderr)
	}
	return why.And(ev.Died())
}

// refusedAfter returns "; " and the first refusal of the server after an event, while the call was the client's latest.
// A refused message that the server could not read belongs to no case. That of a client of both eras which asks an
// older server for its revisions explains nothing, nor does one of another session of the client.
func (ev *Case) refusedAfter(after trace.Ref) Why {
	s := ev.Session
	asksRevisions := false
	for i := s.Order[after] + 1; i < len(s.Trace.Events); i++ {
		e := &s.Trace.Events[i]
		if e.Frame == nil || e.Case != "" && e.Case != ev.Case.ID {
			if e.Frame != nil && e.Frame.Dir == trace.FromClient && replay.Carriers[s.Message(e).Method] != "" {
				return Why{}
			}
			continue
		}
		switch how := s.Refusal(e); {
		case e.Frame.Dir == trace.FromClient:
			asksRevisions = s.Message(e).Method == "server/discover"
		case how != "" && !asksRevisions && s.InSessionOf(after, e.Frame):
			return serverRefused(how)
		}
	}
	return Why{}
}

// InSessionOf reports whether a frame can be of the same session of the client as an event. Not all name their session.
func (s *Session) InSessionOf(event trace.Ref, f *trace.Frame) bool {
	e := s.Trace.Find(event)
	return e == nil || e.Frame == nil || e.Frame.Session == "" || f.Session == "" || f.Session == e.Frame.Session
}

// Refusal returns the status and the error with which the server refused a message; "" for any other frame. The
// status 405 is the answer of a server without a stream or a session that can be deleted.
func (s *Session) Refusal(e *trace.Event) string {
	f, m := e.Frame, s.Message(e)
	how := ""
	switch {
	case f.Dir != trace.ToClient || f.Lost || f.Hostile:
		return ""
	case f.HTTP != nil && f.HTTP.Status >= 400 && f.HTTP.Status != http.StatusMethodNotAllowed:
		how = fmt.Sprintf("HTTP %d", f.HTTP.Status)
	case s.OverStdio() && m.Err != nil:
		how = fmt.Sprintf("error %d", m.Err.Code)
	default:
		return ""
	}
	if m.Err != nil {
		how += ": " + Clip(m.Err.Message)
	}
	return how
}

// WhyUnused returns what explains that the client did not use the server, each reason after "; ": the first message
// that the server refused, and a call of an unknown tool.
func (s *Session) WhyUnused() Why {
	var why Why
	if len(s.Refused) > 0 {
		why = serverRefused(s.Refusal(s.Trace.Find(s.Refused[0].Ref)))
	}
	if len(s.ForeignCalls) > 0 {
		why.Text += fmt.Sprintf("; it called the unknown tool %q", s.ForeignCalls[0].Tool)
	}
	return why
}

// WhyNoResult returns ": " and why the nth round (from 1) did not lead to another; nothing if there is no such round.
func (ev *Case) WhyNoResult(n int) Why {
	if n < 1 || n > len(ev.Rounds) {
		return Why{}
	}
	r := ev.Rounds[n-1]
	why := Why{Text: fmt.Sprintf(": the handler could not continue from the response to request %d", n)}
	if len(r.Answers) == 0 {
		why = Why{Text: fmt.Sprintf(": no response to request %d", n), Reason: NoResult}.And(ev.WhySilent(r.Asked.Ref))
	} else if a := r.Answers[0]; a.Err != nil {
		why = Why{Text: fmt.Sprintf(": error response to request %d: %q (code %d)", n, Clip(a.Err.Message), a.Err.Code),
			Reason: NoResult}
	}
	return why.And(ev.whyRefused(r))
}

// whyRefused returns "; " and why the model refused the client's request. Whose a request is that the model could not
// read shows only when it came.
func (ev *Case) whyRefused(r *Round) Why {
	refused := ""
	if x := r.LastExchange(); x != nil {
		refused = x.End.Refused + x.End.Unmatched
	} else {
		refused = ev.Session.unreadBetween(ev.Session.Order[r.Asked.Ref], ev.Session.AnsweredAt(r))
	}
	if refused == "" {
		return Why{}
	}
	return Why{Text: "; the model refused its request: " + Clip(refused), Reason: ModelRefused}
}

// unreadBetween returns why the model refused a request without a mark between two events; "" if it refused none.
func (s *Session) unreadBetween(from, to int) string {
	for i := from; i < min(to, len(s.Trace.Events)); i++ {
		e := &s.Trace.Events[i]
		if e.End != nil && e.Case == "" && !e.End.Host && e.End.Refused != "" {
			return e.End.Refused
		}
	}
	return ""
}

// WhyNoRetry returns "; " and why the model refused the client's last request, or [Case.WhySilent].
func (ev *Case) WhyNoRetry() Why {
	if n := len(ev.Rounds); n > 0 {
		if why := ev.whyRefused(ev.Rounds[n-1]); why.Text != "" {
			return why.And(Why{Reason: NoResult})
		}
	}
	return ev.WhySilent(ev.FirstCall)
}

// Unsettled returns why something unseen may still have followed an event; "" if it did not follow: the session ended
// cleanly, and the server served the client later ([Session.ServedLater]). [harness.Case.Barrier] provides a later
// request. A ping proves nothing: a client can answer it on another goroutine.
func (s *Session) Unsettled(after Place) string {
	switch {
	case !s.Trace.Whole:
		return "the trace is incomplete"
	case s.Ended == nil || !s.Ended.Clean():
		return "the session did not end cleanly: " + s.ending()
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
