package evidence

import (
	"github.com/mcp-conform/mcp-conform/harness"
)

// Unsettled says why nothing follows from what was not seen after an event; "" where it can be said that it did not happen: a later
// sample was answered, or, where none may be asked because the client declares no sampling or its person declines, a later call was
// served, and the session ended in order. [harness.Case.Barrier] sees to it that there is something later. A ping proves nothing: a client can
// answer it on another goroutine.
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

// later reports whether a call after the place was served to the end, or a sample that was asked after it answered.
func (s *Session) ServedLater(place int) bool {
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			unasked := ev.Withheld != "" || c.ID == harness.BarrierID && len(ev.Rounds) == 0
			if unasked && ev.Over && s.Order[ev.FirstCall] > place {
				return true
			}
			for _, r := range ev.Rounds {
				if len(r.Answers) > 0 && s.Order[r.Asked.Ref] > place {
					return true
				}
			}
		}
	}
	return false
}
