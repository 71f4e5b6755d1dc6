package provider

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var alive = check.Check{
	ID:     "alive",
	Rule:   "The client responds to the next request after the provider failed",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{modelCalled},
	Cause: "an uncaught exception ends the process or the session",
	Fix:   "Catch the provider's error in the sampling handler, and return it as the error of that one request.",
	Judge: func(e *evidence.Case) check.Verdict {
		s, asked, f := e.Session, failedRound(e).Asked, failureOf(e)
		result, refused := firstAnswerAfter(s, asked.Ref)
		if result != nil {
			return check.Pass("after %s the client responded to the next request", f).At(result.Place)
		}
		if v := timedOut(e); v != nil {
			return *v
		}
		switch ended := s.Ended; {
		case refused != nil && outOfOrder(s) && !barrierAfter(s, asked.Ref):
			return check.Unsupported("the next request is about another failure of the provider: " +
				"the client must call the tools in the order of tools/list")
		case refused != nil:
			if v := check.Pausing(refused.Err.Message); v != nil {
				return *v
			}
			return check.NotObserved("expected a result for the request after %s, found the error %q (code %d)",
				f, evidence.Clip(refused.Err.Message), refused.Err.Code).
				ShowJSON(refused.Place, refused.RawErr)
		case ended != nil && ended.Interrupted:
			return check.NotObserved("the run was interrupted before the next request")
		case ended != nil && !ended.Clean():
			return check.Missing("expected a response to the next request after %s, found none: %s", f, s.Ending()).
				At(asked).ShowOutput(s)
		case outOfOrder(s):
			return check.Unsupported("no request followed %s: the client must call the tools in the order of tools/list", f)
		}
		return check.NotObserved("the client called no other tool after %s", f)
	},
}

// firstAnswerAfter returns the first result, and an error response, to sampling requests sent after an event.
func firstAnswerAfter(s *evidence.Session, after trace.Ref) (result, refused *evidence.Answer) {
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			for _, r := range ev.Rounds {
				if s.Order[r.Asked.Ref] <= s.Order[after] || len(r.Answers) == 0 {
					continue
				}
				switch a := r.Result(); {
				case a == nil && refused == nil:
					refused = &r.Answers[0]
				case a != nil && (result == nil || s.Order[a.Ref] < s.Order[result.Ref]):
					result = a
				}
			}
		}
	}
	return result, refused
}

// outOfOrder reports whether a session ended cleanly and called its barrier. If no later request was answered, the
// client called the barrier, the last tool, too early.
func outOfOrder(s *evidence.Session) bool {
	barrier := s.Case(harness.BarrierID)
	return s.Trace.Whole && s.Ended != nil && s.Ended.Clean() && barrier != nil && barrier.Called
}

// barrierAfter reports whether the client called the barrier after an event.
func barrierAfter(s *evidence.Session, ref trace.Ref) bool {
	return s.Order[s.Case(harness.BarrierID).FirstCall] > s.Order[ref]
}
