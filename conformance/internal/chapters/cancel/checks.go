package cancel

import (
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// What the first era says about cancelling, which has not changed from revision to revision.
var (
	cancelBehaviour = []string{"2025-03-26/cancellation/behavior", "2025-06-18/cancellation/behavior", "2025-11-25/cancellation/04"}
	cancelTiming    = []string{"2025-03-26/cancellation/timing", "2025-06-18/cancellation/timing", "2025-11-25/cancellation/07"}
	cancelErrors    = []string{"2025-03-26/cancellation/errors", "2025-06-18/cancellation/errors", "2025-11-25/cancellation/10"}
)

// ponderedRound returns the round that was cancelled while the model thought about it, and where, or else the verdict that none was.
func ponderedRound(e *evidence.Case) (*evidence.Round, evidence.Place, *check.Verdict) {
	r := e.Rounds[0]
	at := e.Cancelled(r)
	if at == nil {
		v := check.NotObserved("the request was over before it could be cancelled%s", e.WhyNoResult(1)).Show(r.Asked, "")
		return r, evidence.Place{}, &v
	}
	return r, *at, nil
}

var stopsWork = check.Check{
	ID: "stops-work", Rule: "after a cancel the request of the model is hung up", Levels: check.InLegacy(report.Should), Requests: 1, Statements: cancelBehaviour,
	Cases: []string{"in-flight"},
	Cause: "the handler of the sample is given no signal that ends with the cancel, or does not hand it on to the request of the model",
	Fix:   "tie the request of the model to the signal or context of the sample, and end that when the cancel comes",
	Judge: func(e *evidence.Case) check.Verdict {
		r, cancel, missing := ponderedRound(e)
		if missing != nil {
			return *missing
		}
		var open *evidence.Exchange
		for _, x := range r.Model {
			switch {
			case x.Began > e.Session.Order[cancel.Ref]:
				return check.Fail("the model was asked after the request had been cancelled").Show(cancel, "").Show(x.Place, "")
			case x.Behind > e.Session.Order[cancel.Ref] && !x.End.HungUp && !x.End.Closed:
				if len(r.Answers) == 0 && !readBy(e, x.Behind) {
					return check.NotObserved("the client did nothing that shows it to have seen the cancel by the time the model answered").Show(cancel, "").Show(x.Place, "")
				}
				return check.Fail("the request was cancelled while the model thought about it, and the model's answer was waited for all the same").
					Show(cancel, "").Show(x.Place, "").Show(e.ModelEnd(x), "nobody had hung up")
			case x.End.HungUp:
				open = x
			}
		}
		if open == nil {
			return check.NotObserved("no request of the model was open when the cancel came").Show(cancel, "")
		}
		if v := check.ByItsLimit(e, r, open); v != nil {
			return *v
		}
		if after, slack := heeding(e, cancel, open); e.TimeOf(after.Ref)+slack < e.ModelEndTime(open) {
			return tooLate("the cancel").Show(cancel, "").Show(open.Place, "").Show(after, "").Show(e.ModelEnd(open), "")
		}
		if v := check.UnsettledSince(e, cancel); v != nil {
			return *v
		}
		return check.Pass("the client hung up on the model")
	},
}

// readBy reports whether the client had asked the model for, or answered, a round after the first by a place in the trace: it had read what came
// before that.
func readBy(ev *evidence.Case, place int) bool {
	for _, r := range ev.Rounds[1:] {
		if ev.Session.AnsweredAt(r) < place || len(r.Model) > 0 && r.Model[0].Began < place {
			return true
		}
	}
	return false
}

var cancelledUnanswered = check.Check{
	ID: "no-answer", Rule: "no response comes for a request that was cancelled", Levels: check.InLegacy(report.Should), Requests: 1, Statements: cancelBehaviour,
	Cases: []string{"in-flight"},
	Cause: "what the end of the handler comes to, a result or an error, is sent whatever became of the request",
	Fix:   "note which requests were cancelled, and send nothing for those",
	Judge: func(e *evidence.Case) check.Verdict {
		r, cancel, missing := ponderedRound(e)
		if missing != nil {
			return *missing
		}
		if len(r.Answers) > 0 {
			a := r.Answers[0]
			if e.Session.Order[a.Ref] < e.Session.Order[cancel.Ref] {
				return check.NotObserved("the request was answered before it was cancelled").Show(a.Place, "")
			}
			what := "a result"
			if a.Err != nil {
				what = "an error"
			}
			return check.Fail("the request was cancelled while the model thought about it, and %s came for it", what).Show(cancel, "").Show(a.Place, "")
		}
		for _, a := range e.Session.UnmatchedResponses { // which came when the call was over, or the session
			if e.Session.Order[a.Ref] > e.Session.Order[cancel.Ref] && evidence.SameID(r.RawID, a.ID) {
				return check.Fail("the request was cancelled while the model thought about it, and a response came for it when the call was over").Show(cancel, "").Show(a.Place, "")
			}
		}
		if v := check.UnsettledSince(e, cancel); v != nil {
			return *v
		}
		return check.Pass("no response came")
	},
}

// heeding is what a client did last before it hung up on the model and after a cancel had come to it, and how long behind that it may hang up
// because of the cancel: on a machine that is so busy that an answer takes long, longer.
func heeding(ev *evidence.Case, cancel evidence.Place, x *evidence.Exchange) (evidence.Place, time.Duration) {
	for _, r := range ev.Rounds[1:] {
		if a := ev.Session.AnsweredAt(r); a > ev.Session.Order[cancel.Ref] && a < x.Behind {
			return r.Answers[0].Place, prompt + 4*(ev.TimeOf(r.Answers[0].Ref)-ev.TimeOf(cancel.Ref))
		}
	}
	return cancel, prompt
}

// prompt is how long behind its cause a client may hang up on the model. One that does so later may have had another.
const prompt = time.Second

// tooLate is the verdict on a client that hung up on the model long after what it should have hung up for.
func tooLate(cause string) check.Verdict {
	return check.Unsupported("the client hung up on the model so long after %s that a limit of its own may have ended that: let it wait longer for the model, 10 seconds or more", cause)
}

// ignoresCancel holds a client against cancels that name nothing that is running: what is asked after each is answered, and what is running goes
// on. Those are the rounds of the play after the first, by twos.
func ignoresCancel(e *evidence.Case) check.Verdict {
	cancels := e.UselessCancels()
	if len(cancels) == 0 || len(e.Rounds) < 3 {
		return check.NotObserved("the play did not get as far as the cancel%s", e.WhyNoResult(len(e.Rounds)))
	}
	s := e.Session
	see := func(v check.Verdict, n int) check.Verdict {
		return v.Show(cancels[n], "%s", s.Trace.Find(cancels[n].Ref).Frame.Raw)
	}
	for n := range cancels {
		if len(e.Rounds) < 2*n+3 {
			break // the client did not go on, which is judged below
		}
		running, later := e.Rounds[2*n+1], e.Rounds[2*n+2]
		switch {
		case later.Result() != nil:
		case later.CassetteMiss() != "":
			return check.NotObserved("sampling request %d was not answered%s", later.N, e.WhyNoResult(later.N))
		default:
			return check.ShowOutput(s, see(check.Fail("a request that came after a cancel of something else was not answered%s", e.WhyNoResult(later.N)), n).Show(later.Asked, ""))
		}
		switch {
		case running.Result() != nil:
			continue
		case running.CassetteMiss() != "":
			return check.NotObserved("sampling request %d was not answered%s", running.N, e.WhyNoResult(running.N))
		case len(running.Answers) == 0:
			if v := check.UnsettledSince(e, running.Asked); v != nil {
				return *v
			}
		}
		for _, x := range running.Model {
			if v := check.ByItsLimit(e, running, x); v != nil {
				return *v
			}
		}
		return see(check.Fail("a cancel of something else ended a request that was running%s", e.WhyNoResult(running.N)), n).Show(running.Asked, "")
	}
	if v := check.Survived(e, e.Rounds[len(e.Rounds)-1].Asked, "the client did not go on after a cancel that names nothing that is running"); v != nil {
		return see(*v, len(cancels)-1)
	}
	return see(check.Pass("the cancel was ignored, and the client went on"), 0)
}

// responsesTo returns what came as a response to cancels: a second answer under the id of a request that is over, or one for no request at all.
func responsesTo(e *evidence.Case, cancels []evidence.Place) []evidence.Answer {
	s, first := e.Session, e.Session.Order[cancels[0].Ref]
	var found []evidence.Answer
	for _, a := range e.Rounds[0].Answers {
		if s.Order[a.Ref] > first {
			found = append(found, a)
		}
	}
	for _, a := range s.UnmatchedResponses {
		for _, c := range cancels {
			id, _ := evidence.CancelOf(s.Message(s.Trace.Find(c.Ref)))
			if s.Order[a.Ref] > s.Order[c.Ref] && (len(a.ID) == 0 || string(a.ID) == "null" || evidence.SameID(id, a.ID)) {
				found = append(found, a)
				break
			}
		}
	}
	return found
}

var cancelIsNotAnswered = check.Check{
	ID: "cancel-not-answered", Rule: "no response comes for a cancel, whatever it names", Levels: check.InLegacy(report.Must), Results: 1,
	Statements: []string{"2025-03-26/basic/notifications", "2025-06-18/basic/notifications", "2025-11-25/basic/11"},
	Cases:      []string{"unknown-request", "finished-request", "not-well-formed"},
	Cause:      "what is not understood is answered with an error, without a look whether an answer is due; or a request is answered again when it is cancelled",
	Fix:        "answer requests only: what has no id of its own gets no response, and no error",
	Judge: func(e *evidence.Case) check.Verdict {
		cancels := e.UselessCancels()
		if len(cancels) == 0 {
			return check.NotObserved("the play did not get as far as the cancel%s", e.WhyNoResult(len(e.Rounds)))
		}
		for _, a := range responsesTo(e, cancels) {
			return check.Fail("a notification is not answered, and a response came for a cancel").
				Show(cancels[0], "%s", e.Session.Trace.Find(cancels[0].Ref).Frame.Raw).Show(a.Place, "%s", e.Session.Trace.Find(a.Ref).Frame.Raw)
		}
		if v := check.UnsettledSince(e, cancels[len(cancels)-1]); v != nil {
			return *v
		}
		return check.Pass("no response came")
	},
}

var unknownID = check.Check{
	ID: "unknown-id", Rule: "a cancel of a request that there never was is ignored", Levels: check.InLegacy(report.Should), Results: 1, Statements: cancelErrors,
	Cases: []string{"unknown-request"},
	Cause: "the request is looked up, and what is not found is taken for an error; or every cancel ends whatever is running",
	Fix:   "look for the request by its id, and do nothing where there is none",
	Judge: ignoresCancel,
}

var finishedID = check.Check{
	ID: "finished-id", Rule: "a cancel of a request that was answered is ignored", Levels: check.InLegacy(report.Should), Results: 1, Statements: cancelErrors,
	Cases: []string{"finished-request"},
	Cause: "requests are not forgotten when they are answered, and are answered again when they are cancelled",
	Fix:   "forget a request when its answer is sent, and do nothing where there is none",
	Judge: ignoresCancel,
}

var malformedCancel = check.Check{
	ID: "malformed-cancel", Rule: "a cancel that is not well-formed is ignored", Levels: check.InLegacy(report.Should), Results: 1, Statements: cancelErrors,
	Cases: []string{"not-well-formed"},
	Cause: "the params are read without a look at what they are, and what comes of that ends the connection, or whatever is running",
	Fix:   "look for a requestId that is a string or a number, and do nothing where there is none",
	Judge: ignoresCancel,
}

var race = check.Check{
	ID: "race", Rule: "a cancel that crosses the answer does no harm", Levels: check.InLegacy(report.Must), Results: 1, Statements: cancelTiming,
	Cases: []string{"crossing"},
	Cause: "a request is taken for running while its answer is sent, and what the cancel leaves behind meets the next request",
	Fix:   "decide once, under a lock, whether a request was answered or cancelled, and keep nothing of it after that",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds[1:] {
			cancel := e.Cancelled(r)
			if cancel != nil {
				if len(r.Answers) > 1 {
					return check.Fail("a request that was cancelled was answered twice").Show(*cancel, "").Show(r.Answers[0].Place, "").Show(r.Answers[1].Place, "")
				}
				continue
			}
			if r.CassetteMiss() != "" {
				return check.NotObserved("sampling request %d was not answered%s", r.N, e.WhyNoResult(r.N))
			}
			a := r.Result()
			if a == nil {
				return check.ShowOutput(e.Session, check.Fail("a request that came after a cancel of another one was not answered%s", e.WhyNoResult(r.N)).Show(r.Asked, ""))
			}
			if of := story.Others(a, r); of != "" {
				return check.Fail("the answer is that of another request, which was cancelled: it says %q", of).Show(r.Asked, "").Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
			}
		}
		if len(e.Rounds) < 5 {
			return check.NotObserved("the play did not get as far as sampling request %d%s", len(e.Rounds)+1, e.WhyNoResult(len(e.Rounds)))
		}
		if v := check.UnsettledSince(e, e.Rounds[4].Asked); v != nil {
			return *v
		}
		return check.Pass("whatever became of the requests that were cancelled, those after them were answered")
	},
}
