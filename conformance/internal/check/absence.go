package check

import "github.com/mcp-conform/mcp-conform/conformance/internal/evidence"

// UnsettledAfter returns nil if the trace settles that nothing more followed an event, and otherwise the verdict,
// which begins with what. A client that ended cleanly did nothing wrong: it only calls the tools in another order.
func UnsettledAfter(s *evidence.Session, after evidence.Place, what string) *Verdict {
	why := s.Unsettled(after)
	if why == "" {
		return nil
	}
	if s.Ended != nil && s.Ended.Clean() && s.Trace.Whole {
		return Instead(Unsupported("%s: the client must call the tools in the order of tools/list and answer the "+
			"last sampling request: %s", what, why))
	}
	return Instead(NotObserved("%s: %s", what, why))
}

// UnsettledSince is [UnsettledAfter] for answers of any kind.
func UnsettledSince(ev *evidence.Case, after evidence.Place) *Verdict {
	v := UnsettledAfter(ev.Session, after, "no response came, but one could still have come"+ev.WhySilent(after.Ref).Text)
	if v != nil {
		*v = v.At(after)
	}
	return v
}

// Unmarked returns the verdict for a round that a request to the model without a mark may be for; nil without one. A
// host may have such requests of its own.
func Unmarked(ev *evidence.Case, r *evidence.Round) *Verdict {
	unmarked := ev.Session.UnmarkedSince(r.Asked)
	switch {
	case len(unmarked) == 0:
		return nil
	case ev.Session.Host():
		return Instead(Unsupported("the model received a request that belongs to no sample, which may be for this one: " +
			"turn off what the host asks its model beside the task, such as titles and summaries").At(unmarked[0]))
	}
	return Instead(NotObserved("the model received an unmarked request, which may be for this one").At(unmarked[0]))
}

// Survived returns nil if the client went on after a place, the failure if it ended there, and otherwise the verdict
// that neither was seen. A client that hung after it called another tool hung for another reason.
func Survived(ev *evidence.Case, after evidence.Place, fault string) *Verdict {
	s := ev.Session
	switch at := s.Order[after.Ref]; {
	case s.ServedLater(at):
		return nil
	case s.Ended == nil || s.Ended.Clean() || s.Ended.Deadline && s.CalledAfter(at):
		return UnsettledSince(ev, after)
	}
	return Instead(Fail("%s: %s", fault, s.Ending()).At(after).ShowOutput(s))
}
