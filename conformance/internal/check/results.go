package check

import (
	"encoding/json"
	"fmt"
	"regexp"

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

// Refusal returns how the client refused a round; "" if it did not. In the first era a client refuses with an error
// response. In 2026-07-28 it sends nothing, which counts only if the client answers other requests and went on: it
// answered a later one, or ended cleanly.
func Refusal(ev *evidence.Case, r *evidence.Round) string {
	anything := func(*evidence.Round) bool { return true }
	if r.CassetteMiss() != "" || !ev.Session.Answers(anything) { // after a miss, the error that follows is our doing
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

// tooMany matches the words by which a client says that it handles only so many requests at once.
var tooMany = regexp.MustCompile(
	`(?i)busy|concurren|parallel|in (progress|flight)|already|another|at a time|many|limit`)

// RefusedBeside returns how the client refused a request because of another one that was open; "" if it did not. A
// client may limit how many it handles at once (2025-11-25, client/sampling#security-considerations).
func RefusedBeside(ev *evidence.Case, r *evidence.Round) string {
	if len(r.Answers) == 0 || r.Answers[0].Err == nil || !tooMany.MatchString(r.Answers[0].Err.Message) {
		return ""
	}
	s := ev.Session
	for _, other := range ev.Rounds {
		if s.Order[other.Asked.Ref] < s.Order[r.Asked.Ref] && s.Order[r.Asked.Ref] < s.AnsweredAt(other) {
			return Refusal(ev, r)
		}
	}
	return ""
}

// RefusalWithTools is [Refusal] for a client that answers some other request with tools. A client that answers none
// refuses all tools, not this request.
func RefusalWithTools(ev *evidence.Case, r *evidence.Round) string {
	withTools := func(other *evidence.Round) bool { return other.Params != nil && len(other.Params.Tools) > 0 }
	if !ev.Session.Answers(withTools) {
		return ""
	}
	return Refusal(ev, r)
}

// RetriedWithoutKey returns the failure for a retry that lacks the response to an input request; nil if there is no
// such retry.
func RetriedWithoutKey(ev *evidence.Case, format string, args ...any) *Verdict {
	for _, r := range ev.Rounds {
		if at := ev.RetryWithoutKey(r); at != nil {
			return Instead(Fail(format, args...).At(r.Asked).
				Show(at.At("inputResponses"), "← no response under the key %q", r.Key))
		}
	}
	return nil
}

// OrMissing returns the JSON in short; "nothing" if it is missing.
func OrMissing(raw json.RawMessage) string {
	if raw == nil {
		return "nothing"
	}
	return evidence.Compact(raw)
}
