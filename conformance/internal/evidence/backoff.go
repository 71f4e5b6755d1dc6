package evidence

import (
	"net/http"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const (
	// minAttempts is how often the model must have failed before the waits between the attempts show a rule.
	minAttempts = 3
	// growth is how many times the first wait a later one is if the client backs off, and mostGrowth how many times the
	// last one the next may be. Waits usually double, with a random part.
	growth, mostGrowth = 2, 4
)

// BacksOff reports whether the harness ended a client that was about to ask a failing model again, after waits that
// grow. Such a client returns an error at some time, often after minutes. One that asks at a steady pace may do so for
// ever.
func (s *Session) BacksOff() bool {
	if s.Ended == nil || !s.Ended.Deadline {
		return false
	}
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			if ev.Called && !ev.Over && slices.ContainsFunc(ev.Rounds, s.waitsLonger) {
				return true
			}
		}
	}
	return false
}

// waitsLonger reports whether the waits between the failing requests of an unanswered round grow. The last wait ends
// when the harness ends the client.
func (s *Session) waitsLonger(r *Round) bool {
	failed := func(x *Exchange) bool { return x.End.Status != http.StatusOK || x.End.Fault != "" }
	for _, x := range r.Model {
		if !failed(x) {
			return false
		}
	}
	if len(r.Answers) > 0 || len(r.Model) < minAttempts {
		return false
	}
	at := func(i int) time.Duration { return s.Trace.Events[r.Model[i].Began].At }
	last := len(r.Model) - 1
	before, now := at(last)-at(last-1), s.endedAt()-at(last)
	return max(before, now) >= growth*(at(1)-at(0)) && now <= mostGrowth*before
}

// endedAt is when the harness ended the client.
func (s *Session) endedAt() time.Duration {
	for i := range s.Trace.Events {
		if e := &s.Trace.Events[i]; e.Mark != nil && e.Mark.Name == trace.MarkEnding {
			return e.At
		}
	}
	return s.Trace.Events[len(s.Trace.Events)-1].At
}
