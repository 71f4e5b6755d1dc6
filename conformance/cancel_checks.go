package conformance

import (
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// What the first era says about cancelling, which has not changed from revision to revision.
var (
	cancelBehaviour = []string{"2025-03-26/cancellation/behavior", "2025-06-18/cancellation/behavior", "2025-11-25/cancellation/04"}
	cancelTiming    = []string{"2025-03-26/cancellation/timing", "2025-06-18/cancellation/timing", "2025-11-25/cancellation/07"}
	cancelErrors    = []string{"2025-03-26/cancellation/errors", "2025-06-18/cancellation/errors", "2025-11-25/cancellation/10"}
)

// ponderedRound returns the round that was cancelled while the model thought about it, and where, or else the verdict that none was.
func ponderedRound(e *Evidence) (*Round, Place, *Verdict) {
	r := e.Rounds[0]
	at := e.cancelled(r)
	if at == nil {
		v := NotObserved("the request was over before it could be cancelled%s", e.why(1)).See(r.Asked, "")
		return r, Place{}, &v
	}
	return r, *at, nil
}

var stopsWork = Check{
	ID: "stops-work", Rule: "after a cancel the request of the model is hung up", Levels: inLegacy(report.Should), Asked: 1, Requirements: cancelBehaviour,
	Cases: []string{"in-flight"},
	Cause: "the handler of the sample is given no signal that ends with the cancel, or does not hand it on to the request of the model",
	Fix:   "tie the request of the model to the signal or context of the sample, and end that when the cancel comes",
	Judge: func(e *Evidence) Verdict {
		r, cancel, missing := ponderedRound(e)
		if missing != nil {
			return *missing
		}
		var open *Exchange
		for _, x := range r.Model {
			switch {
			case x.began > e.Session.order[cancel.Ref]:
				return Broken("the model was asked after the request had been cancelled").See(cancel, "").See(x.Place, "")
			case x.behind > e.Session.order[cancel.Ref] && !x.End.HungUp && !x.End.Closed:
				if len(r.Answers) == 0 && !e.readBy(x.behind) {
					return NotObserved("the client did nothing that shows it to have seen the cancel by the time the model answered").See(cancel, "").See(x.Place, "")
				}
				return Broken("the request was cancelled while the model thought about it, and the model's answer was waited for all the same").
					See(cancel, "").See(x.Place, "").See(e.end(x), "nobody had hung up")
			case x.End.HungUp:
				open = x
			}
		}
		if open == nil {
			return NotObserved("no request of the model was open when the cancel came").See(cancel, "")
		}
		if v := e.byItsLimit(r, open); v != nil {
			return *v
		}
		if after, slack := e.heeding(cancel, open); e.at(after.Ref)+slack < e.endOf(open) {
			return tooLate("the cancel").See(cancel, "").See(open.Place, "").See(after, "").See(e.end(open), "")
		}
		if v := e.goneOn(cancel); v != nil {
			return *v
		}
		return Pass("the client hung up on the model")
	},
}

// readBy reports whether the client had asked the model for, or answered, a round after the first by a place in the trace: it had read what came
// before that.
func (ev *Evidence) readBy(place int) bool {
	for _, r := range ev.Rounds[1:] {
		if ev.Session.answeredAt(r) < place || len(r.Model) > 0 && r.Model[0].began < place {
			return true
		}
	}
	return false
}

var cancelledUnanswered = Check{
	ID: "no-answer", Rule: "no response comes for a request that was cancelled", Levels: inLegacy(report.Should), Asked: 1, Requirements: cancelBehaviour,
	Cases: []string{"in-flight"},
	Cause: "what the end of the handler comes to, a result or an error, is sent whatever became of the request",
	Fix:   "note which requests were cancelled, and send nothing for those",
	Judge: func(e *Evidence) Verdict {
		r, cancel, missing := ponderedRound(e)
		if missing != nil {
			return *missing
		}
		if len(r.Answers) > 0 {
			a := r.Answers[0]
			if e.Session.order[a.Ref] < e.Session.order[cancel.Ref] {
				return NotObserved("the request was answered before it was cancelled").See(a.Place, "")
			}
			what := "a result"
			if a.Err != nil {
				what = "an error"
			}
			return Broken("the request was cancelled while the model thought about it, and %s came for it", what).See(cancel, "").See(a.Place, "")
		}
		for _, a := range e.Session.Strays { // which came when the call was over, or the session
			if e.Session.order[a.Ref] > e.Session.order[cancel.Ref] && sameID(r.rawID, a.ID) {
				return Broken("the request was cancelled while the model thought about it, and a response came for it when the call was over").See(cancel, "").See(a.Place, "")
			}
		}
		if v := e.goneOn(cancel); v != nil {
			return *v
		}
		return Pass("no response came")
	},
}

// byItsLimit is the verdict where a client hung up on the model when its own limit had passed, so that this was not for a cancel, or may not have
// been; nil where it hung up before.
func (ev *Evidence) byItsLimit(r *Round, x *Exchange) *Verdict {
	header := ev.Session.Trace.Header
	if !header.TimeoutDeclared || !x.End.HungUp || ev.endOf(x)-ev.at(r.Asked.Ref) < header.ClientTimeout {
		return nil
	}
	v := Unsupported("the client hung up on the model when the %s had passed that it waits, so that nothing else need have ended that: declare a longer limit (%s), of 10 seconds or more",
		header.ClientTimeout, declaring).See(r.Asked, "").See(x.Place, "")
	return &v
}

// heeding is what a client did last before it hung up on the model and after a cancel had come to it, and how long behind that it may hang up
// because of the cancel: on a machine that is so busy that an answer takes long, longer.
func (ev *Evidence) heeding(cancel Place, x *Exchange) (Place, time.Duration) {
	for _, r := range ev.Rounds[1:] {
		if a := ev.Session.answeredAt(r); a > ev.Session.order[cancel.Ref] && a < x.behind {
			return r.Answers[0].Place, prompt + 4*(ev.at(r.Answers[0].Ref)-ev.at(cancel.Ref))
		}
	}
	return cancel, prompt
}

// prompt is how long behind its cause a client may hang up on the model. One that does so later may have had another.
const prompt = time.Second

// end is where a request of the model ended.
func (ev *Evidence) end(x *Exchange) Place {
	return Place{ev.Session.Trace.Events[x.behind].Ref(), "", "end of " + x.Label}
}

// endOf is when a request of the model ended.
func (ev *Evidence) endOf(x *Exchange) time.Duration { return ev.Session.Trace.Events[x.behind].At }

// tooLate is the verdict on a client that hung up on the model long after what it should have hung up for.
func tooLate(cause string) Verdict {
	return Unsupported("the client hung up on the model so long after %s that a limit of its own may have ended that: let it wait longer for the model, 10 seconds or more", cause)
}

// ignoresCancel holds a client against cancels that name nothing that is running: what is asked after each is answered, and what is running goes
// on. Those are the rounds of the play after the first, by twos.
func ignoresCancel(e *Evidence) Verdict {
	cancels := e.inVain()
	if len(cancels) == 0 || len(e.Rounds) < 3 {
		return NotObserved("the play did not get as far as the cancel%s", e.why(len(e.Rounds)))
	}
	s := e.Session
	see := func(v Verdict, n int) Verdict {
		return v.See(cancels[n], "%s", s.Trace.Find(cancels[n].Ref).Frame.Raw)
	}
	for n := range cancels {
		if len(e.Rounds) < 2*n+3 {
			break // the client did not go on, which is judged below
		}
		running, later := e.Rounds[2*n+1], e.Rounds[2*n+2]
		switch {
		case later.Result() != nil:
		case later.missed() != "":
			return NotObserved("sampling request %d was not answered%s", later.N, e.why(later.N))
		default:
			return s.seeOutput(see(Broken("a request that came after a cancel of something else was not answered%s", e.why(later.N)), n).See(later.Asked, ""))
		}
		switch {
		case running.Result() != nil:
			continue
		case running.missed() != "":
			return NotObserved("sampling request %d was not answered%s", running.N, e.why(running.N))
		case len(running.Answers) == 0:
			if v := e.goneOn(running.Asked); v != nil {
				return *v
			}
		}
		for _, x := range running.Model {
			if v := e.byItsLimit(running, x); v != nil {
				return *v
			}
		}
		return see(Broken("a cancel of something else ended a request that was running%s", e.why(running.N)), n).See(running.Asked, "")
	}
	if v := e.livedThrough(e.Rounds[len(e.Rounds)-1].Asked, "the client did not go on after a cancel that names nothing that is running"); v != nil {
		return see(*v, len(cancels)-1)
	}
	return see(Pass("the cancel was ignored, and the client went on"), 0)
}

// responsesTo returns what came as a response to cancels: a second answer under the id of a request that is over, or one for no request at all.
func responsesTo(e *Evidence, cancels []Place) []Answer {
	s, first := e.Session, e.Session.order[cancels[0].Ref]
	var found []Answer
	for _, a := range e.Rounds[0].Answers {
		if s.order[a.Ref] > first {
			found = append(found, a)
		}
	}
	for _, a := range s.Strays {
		for _, c := range cancels {
			id, _ := cancelOf(s.message(s.Trace.Find(c.Ref)))
			if s.order[a.Ref] > s.order[c.Ref] && (len(a.ID) == 0 || string(a.ID) == "null" || sameID(id, a.ID)) {
				found = append(found, a)
				break
			}
		}
	}
	return found
}

var cancelIsNotAnswered = Check{
	ID: "cancel-not-answered", Rule: "no response comes for a cancel, whatever it names", Levels: inLegacy(report.Must), Answered: 1,
	Requirements: []string{"2025-03-26/basic/notifications", "2025-06-18/basic/notifications", "2025-11-25/basic/11"},
	Cases:        []string{"unknown-request", "finished-request", "not-well-formed"},
	Cause:        "what is not understood is answered with an error, without a look whether an answer is due; or a request is answered again when it is cancelled",
	Fix:          "answer requests only: what has no id of its own gets no response, and no error",
	Judge: func(e *Evidence) Verdict {
		cancels := e.inVain()
		if len(cancels) == 0 {
			return NotObserved("the play did not get as far as the cancel%s", e.why(len(e.Rounds)))
		}
		for _, a := range responsesTo(e, cancels) {
			return Broken("a notification is not answered, and a response came for a cancel").
				See(cancels[0], "%s", e.Session.Trace.Find(cancels[0].Ref).Frame.Raw).See(a.Place, "%s", e.Session.Trace.Find(a.Ref).Frame.Raw)
		}
		if v := e.goneOn(cancels[len(cancels)-1]); v != nil {
			return *v
		}
		return Pass("no response came")
	},
}

var unknownID = Check{
	ID: "unknown-id", Rule: "a cancel of a request that there never was is ignored", Levels: inLegacy(report.Should), Answered: 1, Requirements: cancelErrors,
	Cases: []string{"unknown-request"},
	Cause: "the request is looked up, and what is not found is taken for an error; or every cancel ends whatever is running",
	Fix:   "look for the request by its id, and do nothing where there is none",
	Judge: ignoresCancel,
}

var finishedID = Check{
	ID: "finished-id", Rule: "a cancel of a request that was answered is ignored", Levels: inLegacy(report.Should), Answered: 1, Requirements: cancelErrors,
	Cases: []string{"finished-request"},
	Cause: "requests are not forgotten when they are answered, and are answered again when they are cancelled",
	Fix:   "forget a request when its answer is sent, and do nothing where there is none",
	Judge: ignoresCancel,
}

var malformedCancel = Check{
	ID: "malformed-cancel", Rule: "a cancel that is not well-formed is ignored", Levels: inLegacy(report.Should), Answered: 1, Requirements: cancelErrors,
	Cases: []string{"not-well-formed"},
	Cause: "the params are read without a look at what they are, and what comes of that ends the connection, or whatever is running",
	Fix:   "look for a requestId that is a string or a number, and do nothing where there is none",
	Judge: ignoresCancel,
}

var race = Check{
	ID: "race", Rule: "a cancel that crosses the answer does no harm", Levels: inLegacy(report.Must), Answered: 1, Requirements: cancelTiming,
	Cases: []string{"crossing"},
	Cause: "a request is taken for running while its answer is sent, and what the cancel leaves behind meets the next request",
	Fix:   "decide once, under a lock, whether a request was answered or cancelled, and keep nothing of it after that",
	Judge: func(e *Evidence) Verdict {
		for _, r := range e.Rounds[1:] {
			cancel := e.cancelled(r)
			if cancel != nil {
				if len(r.Answers) > 1 {
					return Broken("a request that was cancelled was answered twice").See(*cancel, "").See(r.Answers[0].Place, "").See(r.Answers[1].Place, "")
				}
				continue
			}
			if r.missed() != "" {
				return NotObserved("sampling request %d was not answered%s", r.N, e.why(r.N))
			}
			a := r.Result()
			if a == nil {
				return e.Session.seeOutput(Broken("a request that came after a cancel of another one was not answered%s", e.why(r.N)).See(r.Asked, ""))
			}
			if of := anothers(a, r); of != "" {
				return Broken("the answer is that of another request, which was cancelled: it says %q", of).See(r.Asked, "").See(a.At("content"), "%s", compact(a.member("content")))
			}
		}
		if len(e.Rounds) < 5 {
			return NotObserved("the play did not get as far as sampling request %d%s", len(e.Rounds)+1, e.why(len(e.Rounds)))
		}
		if v := e.goneOn(e.Rounds[4].Asked); v != nil {
			return *v
		}
		return Pass("whatever became of the requests that were cancelled, those after them were answered")
	},
}

// anothers returns what an answer says that belongs to another question of the play; "" for nothing. A client may say more than its model did.
func anothers(a *Answer, r *Round) string {
	said, asked := dialect.PlainText(a.blocks()), string(r.Raw)
	for _, q := range quickly {
		if strings.Contains(asked, q.asked) {
			if strings.Contains(said, q.says) {
				return ""
			}
			continue
		}
		if strings.Contains(said, q.says) {
			return q.says
		}
	}
	if strings.Contains(said, wellConsidered) {
		return wellConsidered
	}
	return ""
}
