package timing

import (
	"fmt"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The model is silent before its answer, is silent in the middle of it, and sends it a few letters at a time: within
// the client's limit, and beyond it. Each case expects what its verdicts say of the model.
var (
	stallHeaders = delayed("time/stall-headers", harness.Beyond, "the model is silent",
		func(l harness.Limits) llm.Fault { return llm.PauseBefore(l.ModelDelay) })
	stallMidstream = delayed("time/stall-midstream", harness.Beyond, "the model is silent in the middle of its answer",
		func(l harness.Limits) llm.Fault { return llm.PauseAfter(4, l.ModelDelay) })
	slow = delayed("time/slow", harness.Within, "the model is slow",
		func(l harness.Limits) llm.Fault { return llm.Spread(l.ModelDelay) })
	drip = delayed("time/drip", harness.Beyond, "the model sends a few letters at a time, without an end",
		func(l harness.Limits) llm.Fault { return llm.Spread(l.ModelDelay) })
)

const (
	// Answer is the model's answer in all of these cases. Its ending identifies a whole answer.
	Answer = "Stone by stone, each of which had to be found, cut, and carried up the hill. " +
		"That took them many years. " + ending
	ending = "And then it burned."
	// forever is longer than any client waits for a model, even one that declares no limit.
	forever = 10 * time.Minute
)

func delayed(id string, timed harness.Timing, expect string, fault func(harness.Limits) llm.Fault) harness.Case {
	return harness.Case{ID: id, Timed: timed, Barrier: true, Expect: expect, Make: func(l harness.Limits) harness.Stage {
		return harness.Stage{
			Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("How was Rome built?")) },
			Rules:   []*llm.Rule{llm.When().Reply(llm.Text(Answer)).Fault(fault(l))},
		}
	}}
}

var modelStalls = timingOut(check.Check{
	ID: "model-stalls", Cases: []string{"stall-headers"},
	Rule:  "The client times out on a model that sends nothing, and returns an error to the server",
	Cause: "the HTTP client has no timeout, or one of many minutes",
	Fix:   "Set a timeout for each model request that covers the whole answer. When it expires, respond with an error.",
})

// streamStalls is a check of its own: a client may pass only one of the two, and if its limit is unknown, only one may
// tell.
var streamStalls = timingOut(check.Check{
	ID: "stream-stalls", Cases: []string{"stall-midstream"},
	Rule:  "The client times out on a model that stops in the middle of its answer, and returns an error to the server",
	Cause: "the HTTP client has a timeout only for the header, and none for the stream after it",
	Fix:   "Let the timeout of a model request last until the end of its answer. When it expires, respond with an error.",
})

var totalLimit = timingOut(check.Check{
	ID: "total-limit", Cases: []string{"drip"},
	Rule:  "The client times out on a stream that does not end, and returns an error to the server",
	Cause: "the timeout starts again with each piece, so that a model that sends a letter now and then is never too late",
	Fix:   "Set a timeout for the whole answer, in addition to one for silence.",
})

// timingOut completes a check that the client times out on a model that stalls.
func timingOut(c check.Check) check.Check {
	c.Levels = check.Robust
	c.Requests, c.Needs, c.Judge = 1, []check.Need{modelAsked}, timesOut
	return c
}

var modelSlow = check.Check{
	ID: "model-slow", Cases: []string{"slow"},
	Rule:     "The client returns the whole answer of a model that is slow but ends within the client's limit",
	Levels:   check.Robust,
	Requests: 1, Needs: []check.Need{modelAsked},
	Cause: "a short default timeout of the HTTP library or a proxy, counted from the beginning of the answer",
	Fix:   "Let a stream that sends data continue until the client's own limit.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if r.Result() != nil {
			return wholeAnswer(e, r)
		}
		if len(r.Answers) == 0 {
			if v := check.UnsettledAfter(e.Session, r.Asked, "the outcome of a slow stream is unknown"); v != nil {
				return *v
			}
		}
		at, hungUp := timedOutAt(e)
		limit, waited := e.Session.Trace.Header.ClientTimeout, at-e.TimeOf(r.Asked.Ref)
		last := waitedFor(e)[len(waitedFor(e))-1].Place
		switch {
		case !hungUp:
			return check.Fail("expected the whole answer of a slow model, found none%s", e.WhyNoResult(1)).
				At(r.Asked, last)
		case !e.Session.Trace.Header.TimeoutDeclared:
			return check.Unsupported("the client timed out on a slow stream: if its limit is below the %s that it was told, "+
				"declare the limit (%s)", limit, check.LimitOption)
		case waited >= limit:
			return check.Unsupported("the machine is too busy for a slow stream to end within the client's %s: "+
				"declare a longer limit", limit)
		}
		return check.Fail("expected the client to wait %s for a slow stream, found that it timed out before", limit).
			At(r.Asked).Show(last, "timed out after %s", waited.Round(time.Millisecond))
	},
}

// wholeAnswer judges a result for the slow model's answer.
func wholeAnswer(e *evidence.Case, r *evidence.Round) check.Verdict {
	a, unreadable := check.ReadableResult(e, r)
	switch {
	case unreadable != nil:
		return *unreadable
	case evidence.Holds(a.Blocks(), ending):
		return check.Pass("the whole answer of the slow model arrived").At(r.Asked)
	}
	return check.Fail("expected the whole answer of a slow model, found a part of it as if it were the whole").
		ShowAs("model said", waitedFor(e)[len(waitedFor(e))-1].Place, "…%s", ending).
		ShowMembers(a, "content")
}

// modelAsked needs a model request that the client waits for.
func modelAsked(e *evidence.Case) *check.Verdict {
	if len(waitedFor(e)) > 0 {
		return nil
	}
	_, missing := check.ModelRequest(e.Rounds[0])
	return missing
}

// waitedFor returns the model requests of the first round, or of the case if none is known to be of the round: if a
// client calls the tool twice at once and times out on both, nothing shows which was for which.
func waitedFor(e *evidence.Case) []*evidence.Exchange {
	if len(e.Rounds[0].Model) == 0 {
		return e.Session.Exchanges[e.Case.ID]
	}
	return e.Rounds[0].Model
}

// timedOutAt returns when the client first hung up on the model, and whether it did. It waited no longer than from the
// server's request until then, however busy the machine was.
func timedOutAt(e *evidence.Case) (time.Duration, bool) {
	for _, x := range waitedFor(e) {
		if x.End.HungUp {
			return e.ModelEndTime(x), true
		}
	}
	return 0, false
}

// timesOut judges that the client ends its wait for the model by itself, and says so. It allows for a busy machine:
// only a client that still waits after [harness.Limits.Patience], when the model has gone on, did not time out.
func timesOut(e *evidence.Case) check.Verdict {
	r, s, model := e.Rounds[0], e.Session, waitedFor(e)
	if r.Result() != nil {
		return resultOfStall(e)
	}
	header := s.Trace.Header
	switch {
	case len(r.Answers) > 0 && gotWholeBefore(e, s.Order[r.Answers[0].Ref]):
		return stillWaiting(e)
	case header.TimeoutDeclared && len(model) > 1 && askedFor(e) >= header.ModelDelay:
		return showRetries(e, check.Fail("%s: expected the client to time out after %s, found that it still retries after %s",
			stall(e), header.ClientTimeout, header.ModelDelay))
	case len(r.Answers) > 0:
		return check.Pass("%s: the client timed out and returned an error", stall(e)).At(r.Asked)
	case s.Ended != nil && s.Ended.Deadline && !s.CalledAfter(s.Order[r.Asked.Ref]):
		switch {
		case !timedOutEachTime(e):
			return stillWaiting(e)
		case len(model) > harness.MostAttempts:
			return showRetries(e, check.Fail("%s: expected the client to time out, found that it retries without an end",
				stall(e)))
		case !e.Revision.Modern():
			return silentTimeout(e)
		}
	}
	return noResponse(e)
}

// stall is what the case says of the model.
func stall(e *evidence.Case) string { return check.Expected[string](e) }

// resultOfStall is the verdict for a result although the model stalled.
func resultOfStall(e *evidence.Case) check.Verdict {
	a := e.Rounds[0].Result()
	if evidence.Holds(a.Blocks(), ending) {
		return stillWaiting(e).At(a.Place)
	}
	if first := waitedFor(e)[0]; len(first.Answer) == 0 {
		return check.Fail("%s before its first word: expected an error, found an answer that the client made up", stall(e)).
			At(first.Place).ShowResult(a)
	}
	reason, _ := a.Text("stopReason")
	if reason != "" && !slices.Contains([]string{"endTurn", "stopSequence", "toolUse"}, reason) {
		return check.Warn("%s: expected an error, found what had come by then, with the stop reason %q", stall(e), reason).
			ShowResult(a)
	}
	return check.Fail("%s: expected an error, found what had come by then as if it were the whole answer", stall(e)).
		ShowResult(a)
}

// noResponse judges a client that sent no response to the sampling request.
func noResponse(e *evidence.Case) check.Verdict {
	r := e.Rounds[0]
	if v := check.UnsettledAfter(e.Session, r.Asked, "whether the client timed out is unknown"); v != nil {
		return *v
	}
	_, hungUp := timedOutAt(e)
	cancel := firstCancel(e.Session)
	switch {
	case !hungUp && gotWholeBefore(e, nextCall(e.Session, r.Asked)):
		return stillWaiting(e)
	case e.Revision.Modern():
		return check.Pass("%s: the client timed out and did not fulfil the input request", stall(e)).At(r.Asked)
	case cancel != nil:
		return check.Unsupported("%s: the client abandoned the call that the request belongs to: let it wait longer for its "+
			"call than for the model", stall(e)).At(*cancel)
	}
	return silentTimeout(e)
}

// silentTimeout is the verdict for a client that timed out and returned no error.
func silentTimeout(e *evidence.Case) check.Verdict {
	return check.Fail("%s: expected an error when the client timed out, found no response", stall(e)).
		For(evidence.NoResponse).At(e.Rounds[0].Asked).Show(waitedFor(e)[0].Place, "hung up on")
}

// stillWaiting is the verdict for a client that did not time out. If its limit is unknown, only [forever] is too long,
// or a wait that the client ends in another telling of the story.
func stillWaiting(e *evidence.Case) check.Verdict {
	header, limit := e.Session.Trace.Header, ""
	elsewhere := slices.IndexFunc(e.Session.KeptLimits, func(id string) bool {
		return id != e.Case.ID && story.Plain(id) == story.Plain(e.Case.ID)
	})
	switch {
	case header.TimeoutDeclared:
		limit = fmt.Sprintf(" after %s", header.ClientTimeout)
	case header.ModelDelay >= forever:
	case elsewhere >= 0:
		limit = fmt.Sprintf(" after %s, as in %s", header.ClientTimeout, e.Session.KeptLimits[elsewhere])
	default:
		return check.Unsupported("%s: the client still waits after %s: declare its limit (%s), or let it use the limit "+
			"that it is told", stall(e), header.ModelDelay, check.LimitOption)
	}
	return check.Fail("%s: expected the client to time out%s, found it waiting after %s",
		stall(e), limit, header.ModelDelay).
		At(e.Rounds[0].Asked, waitedFor(e)[0].Place)
}

// showRetries adds the first two model requests to a verdict.
func showRetries(e *evidence.Case, v check.Verdict) check.Verdict {
	v = v.At(e.Rounds[0].Asked)
	for _, x := range waitedFor(e)[:2] {
		v = v.Show(x.Place, "hung up on")
	}
	return v
}

// gotWholeBefore reports whether the model's whole answer had gone out before a position.
func gotWholeBefore(e *evidence.Case, position int) bool {
	model := waitedFor(e)
	i := slices.IndexFunc(model, func(x *evidence.Exchange) bool {
		return x.End.Status == 200 && !x.End.HungUp && !x.End.Closed
	})
	return i >= 0 && model[i].Behind < position
}

// askedFor returns the time from the first model request to the last time that the client hung up; 0 if it never did.
func askedFor(e *evidence.Case) time.Duration {
	model, last := waitedFor(e), time.Duration(0)
	for _, x := range model {
		if x.End.HungUp {
			last = max(last, e.ModelEndTime(x)-e.TimeOf(model[0].Ref))
		}
	}
	return last
}

// timedOutEachTime reports whether the client hung up on each model request before the model went on. A client that is
// killed hangs up, too, but later.
func timedOutEachTime(e *evidence.Case) bool {
	return !slices.ContainsFunc(waitedFor(e), func(x *evidence.Exchange) bool {
		return !x.End.HungUp || e.ModelEndTime(x)-e.TimeOf(x.Ref) >= e.Session.Trace.Header.ModelDelay
	})
}

// nextCall returns the position of the client's next call of another tool after a place, or the end of the trace.
func nextCall(s *evidence.Session, after evidence.Place) int {
	for _, r := range s.Requests {
		if s.Order[r.Ref] > s.Order[after.Ref] && r.Method == "tools/call" && r.Ref.Case != after.Ref.Case {
			return s.Order[r.Ref]
		}
	}
	return len(s.Trace.Events)
}

// firstCancel returns where the client first cancelled a call of its own; nil if it did not.
func firstCancel(s *evidence.Session) *evidence.Place {
	for e, m := range s.FromClient() {
		if m.Method == evidence.MethodCancelled {
			return &evidence.Place{Ref: e.Ref(), Label: "the client cancelled"}
		}
	}
	return nil
}
