package check

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// UnreadableContent returns the verdict for a result whose content cannot be decoded; nil for any other. Other checks
// judge the content.
func UnreadableContent(a *evidence.Answer) *Verdict {
	if a.Blocks() != nil {
		return nil
	}
	return Instead(NotObserved("the content of the result cannot be decoded %s", evidence.See("always/valid-result")).
		ShowMembers(a, "content"))
}

// NoResult is the verdict for a round that needs a result and has none.
func NoResult(ev *evidence.Case, r *evidence.Round) Verdict {
	return NotObserved("no result for sampling request %d%s", r.N, ev.WhyNoResult(r.N))
}

// AnswersNothing is the verdict for a client that returns no result at all, with the reason for the nth request.
func AnswersNothing(ev *evidence.Case, n int) Verdict {
	return NotObserved("the client returns no result for any sampling request%s", ev.WhyNoResult(n))
}

// ReadableResult returns the result of a round, or the verdict for a round without one whose content can be decoded.
func ReadableResult(ev *evidence.Case, r *evidence.Round) (*evidence.Answer, *Verdict) {
	a := r.Result()
	if a == nil {
		return nil, Instead(NoResult(ev, r))
	}
	return a, UnreadableContent(a)
}

// ModelRequest returns the request to the model that the round's result rests on, or the verdict for a round without
// one that can be decoded.
func ModelRequest(r *evidence.Round) (*evidence.Exchange, *Verdict) {
	x := r.LastExchange()
	switch {
	case r.Params == nil || len(r.Params.LastUserTurn()) == 0:
		return nil, Instead(NotObserved("the params of sampling request %d cannot be decoded", r.N).
			ShowJSON(r.Asked, r.Raw))
	case x == nil:
		return nil, Instead(Unasked("the model received no request for sampling request %d: none had the "+
			"mark of the case", r.N))
	case x.Request == nil:
		why := x.Unreadable.Error()
		if x.End.Refused != "" {
			why = x.End.Refused
		}
		return nil, Instead(Fail("expected a valid request to the model, it refused: %s", why).At(x.Place))
	}
	return x, nil
}

// OrMissing returns the JSON in short; "nothing" if it is missing.
func OrMissing(raw json.RawMessage) string {
	if raw == nil {
		return "nothing"
	}
	return evidence.Compact(raw)
}
