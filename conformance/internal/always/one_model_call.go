package always

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
)

var oneModelCall = check.Check{
	ID:         "one-model-call",
	Rule:       "One sampling request costs one completed model call",
	Levels:     check.Robust,
	ServerLoop: true,
	Cause: "the client continues a truncated answer by itself, asks a second model to check the first, or asks again " +
		"with tools",
	Fix: "Call the model once for each sampling request. Leave it to the server to ask for more.",
	Judge: func(e *evidence.Case) check.Verdict {
		asked, all := 0, 0
		for _, r := range e.Rounds {
			calls := wholeCalls(r)
			all += len(calls)
			if len(calls) > 0 {
				asked++
			}
			if len(calls) > 1 && alone(e, r) {
				return tooManyCalls(r, 1, calls)
			}
		}
		switch {
		case asked == 0:
			return check.NotApplicable("the client never called the model")
		case all > len(e.Rounds): // Of concurrent requests, the wire may not tell which one a call is for.
			var calls []*evidence.Exchange
			for _, r := range e.Rounds {
				calls = append(calls, wholeCalls(r)...)
			}
			return tooManyCalls(e.Rounds[0], len(e.Rounds), calls)
		}
		return check.Pass("each sampling request cost one model call")
	},
}

// wholeCalls returns the calls of a round whose response arrived whole. A call after a failure is a retry, and some
// clients hang up before the end of a stream.
func wholeCalls(r *evidence.Round) []*evidence.Exchange {
	var whole []*evidence.Exchange
	for _, x := range r.CompletedCalls() {
		if llm.ArrivesWhole(x.End.Fault) {
			whole = append(whole, x)
		}
	}
	return whole
}

// alone reports whether no other sampling request of the case was open at the same time.
func alone(e *evidence.Case, r *evidence.Round) bool {
	s := e.Session
	for _, other := range e.Rounds {
		before := s.AnsweredAt(other) < s.Order[r.Asked.Ref]
		after := s.Order[other.Asked.Ref] > s.AnsweredAt(r)
		if other != r && !before && !after {
			return false
		}
	}
	return true
}

func tooManyCalls(r *evidence.Round, expected int, calls []*evidence.Exchange) check.Verdict {
	v := check.Fail("expected completed model calls: %d, one for each sampling request; found %d", expected,
		len(calls)).At(r.Asked)
	for _, x := range calls {
		if x.Request != nil {
			v = v.ShowJSON(x.Place, x.Request.Body)
		}
	}
	return v
}
