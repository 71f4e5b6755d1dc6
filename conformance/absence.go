package conformance

import "github.com/mcp-conform/mcp-conform/harness"

// Unsettled says why nothing follows from what was not seen after an event; "" where it can be said that it did not happen: a later
// sample was answered, or, where none may be asked because the client declares no sampling or its person declines, a later call was
// served, and the session ended in order. [harness.Case.Barrier] sees to it that there is something later. A ping proves nothing: a client can
// answer it on another goroutine.
func (s *Session) Unsettled(after Place) string {
	switch {
	case !s.Trace.Whole:
		return "the trace is not whole"
	case s.Ended == nil || !s.Ended.Clean():
		return "the session did not end in order: " + s.ending()
	case !s.later(s.order[after.Ref]):
		return "no later sample was answered, so that it may only not have come yet"
	}
	return ""
}

// undecided returns nil where it can be said of something that was not seen after an event that it did not happen, and the verdict for where
// that cannot be said. A client that ended in order has done nothing wrong: it only does not call the tools in their order.
func (s *Session) undecided(after Place, what string) *Verdict {
	why := s.Unsettled(after)
	if why == "" {
		return nil
	}
	v := NotObserved("%s: %s", what, why)
	if s.Ended != nil && s.Ended.Clean() && s.Trace.Whole {
		v = Unsupported("%s: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: %s", what, why)
	}
	return &v
}

// later reports whether a call after the place was served to the end, or a sample that was asked after it answered.
func (s *Session) later(place int) bool {
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.calls[c.ID] {
			unasked := ev.Withheld != "" || c.ID == harness.BarrierID && len(ev.Rounds) == 0
			if unasked && ev.Over && s.order[ev.calledAt] > place {
				return true
			}
			for _, r := range ev.Rounds {
				if len(r.Answers) > 0 && s.order[r.Asked.Ref] > place {
					return true
				}
			}
		}
	}
	return false
}

// noModelCall judges that a round cost no completed call of the model: a provider's refusal costs nothing. Asked says what is wrong where
// it did.
func (ev *Evidence) noModelCall(r *Round, asked string) Verdict {
	if completed := r.completed(); len(completed) > 0 {
		return Broken("%s", asked).See(r.Asked, "").See(completed[0].Place, "%s", compact(completed[0].Request.Body))
	}
	if strays := ev.Session.Unmarked; len(strays) > 0 {
		return NotObserved("the model was asked something that has the mark of no conversation, so that it may have been this").See(strays[0], "")
	}
	if v := ev.unsettled(r); v != nil {
		return *v
	}
	return Pass("the model was not asked")
}

// alive judges that the client went on after a round. Stopped says what is wrong where it did not.
func (ev *Evidence) alive(r *Round, stopped string) Verdict {
	s := ev.Session
	switch after := s.order[r.Asked.Ref]; {
	case s.later(after):
		return Pass("the client went on")
	case s.Ended != nil && s.Ended.Clean():
		return *ev.unsettled(r)
	}
	return s.seeOutput(Broken("%s: %s", stopped, s.ending()).See(r.Asked, "%s", compact(r.Raw)))
}
