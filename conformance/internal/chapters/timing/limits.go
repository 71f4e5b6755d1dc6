package timing

import (
	"fmt"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// forEver is for how long nobody waits for a model, whatever they declare or leave open.
const forEver = 10 * time.Minute

var modelStalls = check.Check{
	ID: "model-stalls", Rule: "a model that says nothing is given up on, and the server is told so", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"stall-headers"},
	Cause: "the HTTP client has no timeout, or one of many minutes",
	Fix:   "give each request to the model a limit that covers its whole answer, and answer with an error when it has passed",
	Judge: func(e *evidence.Case) check.Verdict { return givesUp(e, "the model fell silent") },
}

// streamStalls is apart from modelStalls: a client may well keep the one and not the other, and where its limit is not known only one of them says so.
var streamStalls = check.Check{
	ID: "stream-stalls", Rule: "a model that falls silent in the middle of its answer is given up on, and the server is told so", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"stall-midstream"},
	Cause: "the HTTP client has a timeout for the header only, and nothing watches over the stream behind it",
	Fix:   "have the limit of a request to the model last until the end of its answer, and answer with an error when it has passed",
	Judge: func(e *evidence.Case) check.Verdict {
		return givesUp(e, "the model fell silent in the middle of its answer")
	},
}

var totalLimit = check.Check{
	ID: "total-limit", Rule: "a stream that drips for ever is ended at the limit, and the server is told so", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"drip"},
	Cause: "the limit begins anew with each piece that arrives, so that a model that says a letter now and then is waited for without end",
	Fix:   "limit the answer as a whole, beside any limit on silence",
	Judge: func(e *evidence.Case) check.Verdict {
		return givesUp(e, "the model spoke a few letters at a time without coming to an end")
	},
}

var modelSlow = check.Check{
	ID: "model-slow", Rule: "a stream that is slow, but comes to its end within the limit, arrives whole", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"slow"},
	Cause: "a short timeout of the HTTP library or of a proxy is left as it is, and counts from the beginning of the answer",
	Fix:   "let a stream that is alive go on to the client's own limit",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		model := waitedFor(e, r)
		if len(model) == 0 {
			_, missing := check.ModelRequest(r)
			return *missing
		}
		if r.Result() != nil {
			a, unread := check.ReadableResult(e, r)
			switch {
			case unread != nil:
				return *unread
			case evidence.Holds(a.Blocks(), ending):
				return check.Pass("the whole of a slow stream arrived").Show(r.Asked, "")
			}
			return check.Fail("the model was slow, and a part of its answer was passed off as the whole").
				ShowAs("model said", model[len(model)-1].Place, "…%s", ending).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
		}
		if len(r.Answers) == 0 {
			if v := check.UnsettledAfter(e.Session, r.Asked, "what became of a slow stream cannot be said"); v != nil {
				return *v
			}
		}
		at, hungUp := gaveUpAt(e, r)
		switch header := e.Session.Trace.Header; {
		case !hungUp:
			return check.Fail("the model was slow, and its whole answer came to nothing%s", e.WhyNoResult(1)).Show(r.Asked, "").Show(model[len(model)-1].Place, "")
		case !header.TimeoutDeclared:
			return check.Unsupported("the client gave up on a stream that was slow and alive: where its limit is below the %s that it was told, declare it (%s)",
				header.ClientTimeout, check.LimitOption)
		case at-e.TimeOf(r.Asked.Ref) >= header.ClientTimeout:
			return check.Unsupported("the machine was too busy for a slow stream to come to its end within the client's %s: declare a longer limit", header.ClientTimeout)
		default:
			return check.Fail("the client gave up on a stream that was slow and alive before the %s had passed that it waits", header.ClientTimeout).
				Show(r.Asked, "").Show(model[len(model)-1].Place, "given up after %s", (at - e.TimeOf(r.Asked.Ref)).Round(time.Millisecond))
		}
	},
}

// waitedFor are the model's requests for a round that keeps the client waiting. Where none is known to be of the round, they are all of the
// case: of a client that calls the tool twice at once, and gives up on both, nothing says which was for which.
func waitedFor(ev *evidence.Case, r *evidence.Round) []*evidence.Exchange {
	if len(r.Model) == 0 {
		return ev.Session.Exchanges[ev.Case.ID]
	}
	return r.Model
}

// gaveUpAt is when the client first hung up on the model, and whether it did. It had begun to wait after it was asked: so it waited no longer
// than from there to here, however busy the machine was.
func gaveUpAt(ev *evidence.Case, r *evidence.Round) (time.Duration, bool) {
	for _, x := range waitedFor(ev, r) {
		if x.End.HungUp {
			return ev.ModelEndTime(x), true
		}
	}
	return 0, false
}

// givesUp holds a client against a model that keeps it waiting: it has to end that by itself, and to say so. Nothing is held against its
// limit to the second, for a machine may be busy: who is still there when [harness.Limits.Patience] has passed, and the model has gone on,
// did not give up at all.
func givesUp(ev *evidence.Case, what string) check.Verdict {
	r := ev.Rounds[0]
	model := waitedFor(ev, r)
	if len(model) == 0 {
		_, missing := check.ModelRequest(r)
		return *missing
	}
	first := model[0]
	if a := r.Result(); a != nil {
		switch {
		case evidence.Holds(a.Blocks(), ending):
			return stillThere(ev, what).Show(a.Place, "")
		case len(first.Answer) == 0:
			return check.Fail("%s before it had said a word, and the client made up an answer", what).Show(first.Place, "").Show(a.Place, "%s", evidence.Compact(a.Result))
		}
		if reason, _ := a.Text("stopReason"); reason != "" && !slices.Contains([]string{"endTurn", "stopSequence", "toolUse"}, reason) {
			return check.Warn("%s, and the client answers with what had come by then, as %q, where an error is due", what, reason).Show(a.Place, "%s", evidence.Compact(a.Result))
		}
		return check.Fail("%s, and the client passes off what had come by then as the whole answer", what).Show(a.Place, "%s", evidence.Compact(a.Result))
	}
	whole := slices.IndexFunc(model, func(x *evidence.Exchange) bool { return x.End.Status == 200 && !x.End.HungUp && !x.End.Closed })
	waited := func(until int) bool { return whole >= 0 && model[whole].Behind < until }
	switch s := ev.Session; {
	case len(r.Answers) > 0 && waited(s.Order[r.Answers[0].Ref]):
		return stillThere(ev, what)
	case s.Trace.Header.TimeoutDeclared && len(model) > 1 && askedFor(ev, r) >= s.Trace.Header.Patience:
		return again(ev, check.Fail("%s, and after %s the client asked the model again, although it is to give up after %s", what, s.Trace.Header.Patience, s.Trace.Header.ClientTimeout))
	case len(r.Answers) > 0:
		return check.Pass("%s, and the client gave up and said so", what).Show(r.Asked, "")
	case s.Ended != nil && s.Ended.Deadline && !s.CalledAfter(s.Order[r.Asked.Ref]):
		switch {
		case !gaveUpInTime(ev, r):
			return stillThere(ev, what)
		case len(model) > harness.MostAttempts:
			return again(ev, check.Fail("%s, and the client gave up and asked it again, and again, without an end", what))
		case !ev.Revision.Modern():
			return wordless(ev, what)
		}
	}
	if v := check.UnsettledAfter(ev.Session, r.Asked, "that the client gave up cannot be said"); v != nil {
		return *v
	}
	if _, hungUp := gaveUpAt(ev, r); !hungUp && waited(next(ev.Session, r.Asked)) {
		return stillThere(ev, what)
	}
	if ev.Revision.Modern() {
		return check.Pass("%s, and the client gave up and did not fulfil the request", what).Show(r.Asked, "")
	}
	if cancelled := cancelled(ev.Session); cancelled != nil {
		return check.Unsupported("%s, and the client gave up its own call, to which the request belonged: let it wait longer for that than for the model", what).Show(*cancelled, "")
	}
	return wordless(ev, what)
}

// wordless is the verdict on a client that gave up and did not say so.
func wordless(ev *evidence.Case, what string) check.Verdict {
	return check.Fail("%s, and the client gave up without a word, so that the server waits for ever", what).
		Show(ev.Rounds[0].Asked, "").Show(waitedFor(ev, ev.Rounds[0])[0].Place, "hung up on")
}

// askedFor is for how long the client asked the model for a round, from its first request to the last time that it hung up; 0 where it never did.
func askedFor(ev *evidence.Case, r *evidence.Round) time.Duration {
	model, last := waitedFor(ev, r), time.Duration(0)
	for _, x := range model {
		if x.End.HungUp {
			last = max(last, ev.ModelEndTime(x)-ev.TimeOf(model[0].Ref))
		}
	}
	return last
}

// again adds to a verdict the first time that the client asked the model for the round, and the second.
func again(ev *evidence.Case, v check.Verdict) check.Verdict {
	r := ev.Rounds[0]
	v = v.Show(r.Asked, "")
	for i, x := range waitedFor(ev, r) {
		if i < 2 {
			v = v.Show(x.Place, "hung up on")
		}
	}
	return v
}

// gaveUpInTime reports whether the client hung up on the model each time that it was kept waiting, before that was over. One that is ended
// hangs up, too, but later.
func gaveUpInTime(ev *evidence.Case, r *evidence.Round) bool {
	for _, x := range waitedFor(ev, r) {
		if !x.End.HungUp || ev.ModelEndTime(x)-ev.TimeOf(x.Ref) >= ev.Session.Trace.Header.Patience {
			return false
		}
	}
	return true
}

// stillThere is the verdict on a client that did not give up while it was kept waiting. One of which nobody knows how long it waits has only
// done wrong when that was longer than anybody should.
func stillThere(ev *evidence.Case, what string) check.Verdict {
	r, header := ev.Rounds[0], ev.Session.Trace.Header
	if !header.TimeoutDeclared && header.Patience < forEver {
		return check.Unsupported("%s, and after %s the client was still waiting: declare how long it does (%s), or have it heed the limit that it is told", what, header.Patience, check.LimitOption)
	}
	limit := ""
	if header.TimeoutDeclared {
		limit = fmt.Sprintf(", although it is to give up after %s", header.ClientTimeout)
	}
	return check.Fail("%s, and after %s the client was still waiting%s", what, header.Patience, limit).Show(r.Asked, "").Show(waitedFor(ev, r)[0].Place, "")
}

// next is the place of the client's next call after an event, or the end of the trace.
func next(s *evidence.Session, after evidence.Place) int {
	for _, r := range s.Requests {
		if s.Order[r.Ref] > s.Order[after.Ref] && r.Method == "tools/call" && r.Ref.Case != after.Ref.Case {
			return s.Order[r.Ref]
		}
	}
	return len(s.Trace.Events)
}

// cancelled is where the client first cancelled a call of its own; nil where it did not.
func cancelled(s *evidence.Session) *evidence.Place {
	for e, m := range s.FromClient() {
		if m.Method == evidence.MethodCancelled {
			return &evidence.Place{Ref: e.Ref(), Label: "the client cancelled"}
		}
	}
	return nil
}
