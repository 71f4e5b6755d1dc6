package always

import (
	"cmp"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var oneModelCall = check.Check{
	ID:         "one-model-call",
	Rule:       "One sampling request costs one completed model call",
	Levels:     check.Robust,
	ServerLoop: true,
	Cause: "the client continues a truncated answer by itself, asks a second model to check the first, asks again with " +
		"tools, or answers from a cache that looks at the messages only",
	Fix: "Call the model once for each sampling request. Leave it to the server to ask for more.",
	Judge: func(e *evidence.Case) check.Verdict {
		if v := cmp.Or(uncalled(e), fromCache(e)); v != nil {
			return *v
		}
		// Of concurrent requests, the wire may not tell which one a call is for.
		rounds := slices.Concat(e.Rounds, e.RoundsBeside())
		var all []*evidence.Exchange
		for _, r := range rounds {
			calls := wholeCalls(r)
			all = append(all, calls...)
			if len(calls) > 1 && e.Alone(r) {
				return tooManyCalls(r, 1, calls)
			}
		}
		switch {
		case len(all) == 0:
			return check.NotApplicable("the client never called the model")
		case len(all) > len(rounds):
			return tooManyCalls(e.Rounds[0], len(rounds), all)
		}
		return check.Pass("each sampling request cost one model call")
	},
}

// uncalled returns the verdict for a result of a recorded session that rests on no answer of the model: each call for
// it failed, or none was seen although the client asked that model for others. In a run, a story asks for either.
func uncalled(e *evidence.Case) *check.Verdict {
	if !e.Session.Trace.Header.Tapped {
		return nil
	}
	for _, r := range e.Rounds {
		failed := len(r.Model) > 0 && !slices.ContainsFunc(r.Model, func(x *evidence.Exchange) bool {
			return x.End.Status < 400 || x.End.Status == 400
		})
		switch {
		case r.Result() == nil:
		case failed:
			return check.Instead(check.Fail("expected an error, as the model answered with HTTP %d, found a result",
				r.LastExchange().End.Status).At(r.Asked, r.LastExchange().Place).ShowResult(r.Result()))
		case len(r.Model) == 0 && asksForOthers(e.Session):
			return check.Instead(check.Warn("expected completed model calls: 1, one for each sampling request; found a " +
				"result without any, as from a cache or another model").At(r.Asked).ShowResult(r.Result()))
		}
	}
	return nil
}

// fromCache returns the verdict for a result without a call that is the one of another request, with another system
// prompt, other tools or another tool choice.
func fromCache(e *evidence.Case) *check.Verdict {
	for i, r := range e.Rounds {
		if r.Result() == nil || len(r.Model) > 0 || r.Params == nil || !e.Alone(r) {
			continue
		}
		for _, before := range e.Rounds[:i] {
			if before.Result() != nil && len(before.Model) > 0 && before.Params != nil &&
				jsonvalue.Same(before.Result().Result, r.Result().Result) && differ(before.Params, r.Params) {
				return check.Instead(check.Fail("sampling request %d: expected a model call, as it is not the same as request "+
					"%d; found none, and the result of that request", r.N, before.N).At(r.Asked).ShowResult(r.Result()))
			}
		}
	}
	return nil
}

func differ(a, b *dialect.Request) bool {
	return a.System != b.System || a.ToolChoice != b.ToolChoice || len(a.Tools) != len(b.Tools)
}

// asksForOthers reports whether the client asked the model for a sampling request.
func asksForOthers(s *evidence.Session) bool {
	for _, calls := range s.Calls {
		for _, e := range calls {
			if slices.ContainsFunc(e.Rounds, func(r *evidence.Round) bool { return len(r.Model) > 0 }) {
				return true
			}
		}
	}
	return false
}

// wholeCalls returns the calls of a round whose response arrived whole. A call after a failure is a retry, and some
// clients hang up before the end of a stream. A call after a mistake of the model replaces the one before.
func wholeCalls(r *evidence.Round) []*evidence.Exchange {
	var whole []*evidence.Exchange
	for _, x := range r.CompletedCalls() {
		if n := len(whole); n > 0 && isMistake(whole[n-1]) {
			whole = whole[:n-1]
		}
		if x.SentWhole() && !x.End.Closed {
			whole = append(whole, x)
		}
	}
	return whole
}

// isMistake reports whether the model used a tool as its request does not allow, or said nothing, so that a client may
// ask it again.
func isMistake(x *evidence.Exchange) bool {
	if x.Request == nil || x.Reply() == nil {
		return false
	}
	saysNothing := len(x.Calls()) == 0 && !hasText(x.Reply().Content)
	return saysNothing || misbehaves(x) || slices.ContainsFunc(x.Calls(), func(use dialect.Block) bool {
		return x.Request.ToolChoice == dialect.ChoiceNone || indexOf(x.Request.Tools, use.Name) < 0
	})
}

func followsMistake(r *evidence.Round, x *evidence.Exchange) bool {
	return slices.ContainsFunc(r.Model, func(before *evidence.Exchange) bool {
		return before.Behind < x.Began && isMistake(before)
	})
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
