package check

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// undecided returns nil where it can be said of something that was not seen after an event that it did not happen, and the verdict for where
// that cannot be said. A client that ended in order has done nothing wrong: it only does not call the tools in their order.
func UnsettledAfter(s *evidence.Session, after evidence.Place, what string) *Verdict {
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

// noModelCall judges that a round cost no completed call of the model: a provider's refusal costs nothing. Asked says what is wrong where
// it did.
func NoModelCall(ev *evidence.Case, r *evidence.Round, asked string) Verdict {
	if completed := r.CompletedCalls(); len(completed) > 0 {
		return Fail("%s", asked).Show(r.Asked, "").Show(completed[0].Place, "%s", evidence.Compact(completed[0].Request.Body))
	}
	if strays := ev.Session.Unmarked; len(strays) > 0 {
		return NotObserved("the model was asked something that has the mark of no conversation, so that it may have been this").Show(strays[0], "")
	}
	if v := Unsettled(ev, r); v != nil {
		return *v
	}
	return Pass("the model was not asked")
}

// alive judges that the client went on after a round. Stopped says what is wrong where it did not.
func Alive(ev *evidence.Case, r *evidence.Round, stopped string) Verdict {
	s := ev.Session
	switch after := s.Order[r.Asked.Ref]; {
	case s.ServedLater(after):
		return Pass("the client went on")
	case s.Ended != nil && s.Ended.Clean():
		return *Unsettled(ev, r)
	}
	return ShowOutput(s, Fail("%s: %s", stopped, s.Ending()).Show(r.Asked, "%s", evidence.Compact(r.Raw)))
}

// unsettled returns nil where it is settled that nothing more came of a round, and the verdict for where it is not.
func Unsettled(ev *evidence.Case, r *evidence.Round) *Verdict {
	v := UnsettledAfter(ev.Session, r.Asked, "no answer came, and it is not settled that none would have")
	if v != nil {
		*v = v.Show(r.Asked, "")
	}
	return v
}
