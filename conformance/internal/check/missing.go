package check

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// unreadable returns the verdict for an answer whose content cannot be read, nil for any other: other checks
// say what is wrong with it.
func UnreadableContent(a *evidence.Answer) *Verdict {
	if a.Blocks() != nil {
		return nil
	}
	v := NotObserved("the answer's content cannot be read (see basic/has-content)").Show(a.At("content"), "%s", OrMissing(a.Member("content")))
	return &v
}

// readable returns the answer to a round, or else the verdict that there is none whose content can be read.
func ReadableResult(ev *evidence.Case, r *evidence.Round) (*evidence.Answer, *Verdict) {
	a := r.Result()
	if a == nil {
		v := NotObserved("sampling request %d was not answered%s", r.N, ev.WhyNoResult(r.N))
		return nil, &v
	}
	return a, UnreadableContent(a)
}

// declined says how the client declined to answer a round, "" when it did not. In the first era it sends an error. In the second a
// client that declines sends nothing at all, which counts where the client is one that answers and lived on: it answered a later
// sample, or it answered another one and ended well. A client that answers nothing at all has no quarrel with this round in particular.
func Refusal(ev *evidence.Case, r *evidence.Round) string {
	if r.CassetteMiss() != "" || !ev.Session.Answers(func(*evidence.Round) bool { return true }) { // after a miss the error that follows is our doing
		return ""
	}
	if len(r.Answers) > 0 && r.Answers[0].Err != nil {
		return fmt.Sprintf("%q (code %d)", evidence.Clip(r.Answers[0].Err.Message), r.Answers[0].Err.Code)
	}
	if ev.Revision.Modern() && len(r.Answers) == 0 && ev.Session.WentOn(r.Asked.Ref) {
		return "it did not fulfil the input request"
	}
	return ""
}

// declinedHere is declined for a client that answers another request with tools: one that answers none has no quarrel with what is
// particular to this one.
func RefusalWithTools(ev *evidence.Case, r *evidence.Round) string {
	if !ev.Session.Answers(func(other *evidence.Round) bool { return other.Params != nil && len(other.Params.Tools) > 0 }) {
		return ""
	}
	return Refusal(ev, r)
}

// theModel returns the request of the model that the round's answer rests on, or the verdict for there being none that can be read.
func ModelRequest(r *evidence.Round) (*evidence.Exchange, *Verdict) {
	x := r.LastExchange()
	switch {
	case r.Params == nil || len(r.Params.LastUserTurn()) == 0:
		v := NotObserved("what sampling request %d asks for cannot be read", r.N).Show(r.Asked, "%s", evidence.Compact(r.Raw))
		return nil, &v
	case x == nil:
		v := NotObserved("the model was never asked for sampling request %d: nothing reached the fake model under the case's mark", r.N)
		return nil, &v
	case x.Request == nil:
		why := x.Unreadable.Error()
		if x.End.Refused != "" {
			why = x.End.Refused
		}
		v := Fail("the model could not read the request: %s", why).Show(x.Place, "")
		return nil, &v
	}
	return x, nil
}

func OrMissing(raw json.RawMessage) string {
	if raw == nil {
		return "it is missing"
	}
	return evidence.Compact(raw)
}

// sentWithout returns the verdict where a call was sent again and lacks an answer that it was asked for; nil where none was.
func RetriedWithoutKey(ev *evidence.Case, format string, args ...any) *Verdict {
	for _, r := range ev.Rounds {
		if at := ev.RetryWithoutKey(r); at != nil {
			v := Fail(format, args...).Show(r.Asked, "").Show(at.At("inputResponses"), "← there is no answer under %q", r.Key)
			return &v
		}
	}
	return nil
}

// noProgress is the verdict where a client reports none.
func NoProgress() Verdict {
	return NotApplicable("the client reports no progress, which is its choice")
}
