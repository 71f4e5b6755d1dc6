package cancel

import (
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The server cancels a sampling request while the model thinks. The model answers only after the client has responded
// to a later request: by then the client has read the cancel. A client that ignored it then has an answer, and time to
// send it.
var inFlight = gated("cancel/in-flight", func(gate *story.Gate) server.Handler {
	return func(s *server.Session) (any, error) {
		asked, word, err := story.AskHeld(s, gate)
		defer gate.Open(word)
		if err != nil {
			return nil, err
		}
		select {
		case <-asked.Done():
			return asked.Wait() // there is nothing left to cancel
		default:
		}
		if err := asked.Cancel("the answer is not needed any more"); err != nil {
			return nil, err
		}
		later, err := s.Start(s.Ask("Name a fish."))
		if err != nil {
			return nil, err
		}
		story.WaitFor(story.CancelIgnoredAfter, later.Done(), nil)
		hungUp := story.WaitFor(story.CancelIgnoredAfter, gate.Ended(word), nil) // it takes a moment to see that
		gate.Open(word)
		if hungUp {
			gate.DelayBarrier(lateAnswer)
		} else {
			story.WaitFor(story.Reaction, asked.Done(), nil)
		}
		if _, err := later.Wait(); err != nil {
			return nil, err
		}
		return s.Sample(s.Ask("Name a tree."))
	}
})

// lateAnswer is how long the server waits for a response that should not come from a client that hung up on the model.
const lateAnswer = time.Second

// The statements on the receiver of a cancel did not change from revision to revision.
var cancelBehavior = []string{"cancellation/behavior", "cancellation/stops"}

// cancelledInFlight needs a first sampling request that the server cancelled.
func cancelledInFlight(e *evidence.Case) *check.Verdict {
	v := check.Unasked("the client responded before the server could cancel%s", e.WhyNoResult(1))
	return check.Unless(e.Cancelled(e.Rounds[0]) != nil, v.At(e.Rounds[0].Asked))
}

var stopsWork = check.Check{
	ID: "stops-work", Cases: []string{"in-flight"},
	Rule:       "The client SHOULD hang up on the model when the server cancels the sampling request",
	Levels:     check.InLegacy(report.Should),
	Statements: cancelBehavior, Requests: 1, Needs: []check.Need{cancelledInFlight},
	Cause: "the sampling handler has no signal for the cancel, or does not pass it to the model request",
	Fix:   "Pass the context or abort signal of the sampling request to the model request. End it when the cancel comes.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, cancel := e.Rounds[0], *e.Cancelled(e.Rounds[0])
		at := e.Session.Order[cancel.Ref]
		var open *evidence.Exchange
		for _, x := range r.Model {
			switch {
			case x.Began > at:
				return check.Fail("expected no model request after the cancel, found one").At(cancel, x.Place)
			case x.Behind > at && !x.End.HungUp && !x.End.Closed:
				return workedOn(e, x, cancel)
			case x.End.HungUp:
				open = x
			}
		}
		if open == nil {
			return check.NotObserved("no model request was open when the cancel came").At(cancel)
		}
		if v := check.ByItsLimit(e, r, open); v != nil {
			return *v
		}
		last, slack := lastSign(e, cancel, open)
		if e.TimeOf(last.Ref)+slack < e.ModelEndTime(open) {
			return tooLate("the cancel").At(cancel, open.Place, last, e.ModelEnd(open))
		}
		return settled(e, cancel, "the client hung up on the model")
	},
}

// workedOn is the verdict for a model request that the model answered after the cancel.
func workedOn(e *evidence.Case, x *evidence.Exchange, cancel evidence.Place) check.Verdict {
	if len(e.Rounds[0].Answers) == 0 && !readOn(e, x.Behind) {
		return check.NotObserved("the client shows no sign that it had read the cancel when the model answered").
			At(cancel, x.Place)
	}
	return check.Fail("expected the client to hang up on the model after the cancel, found that it waited for the answer").
		At(cancel, x.Place).Show(e.ModelEnd(x), "nobody had hung up")
}

// readOn reports whether the client handled a later sampling request before a position: it had read all messages
// before.
func readOn(e *evidence.Case, position int) bool {
	for _, r := range e.Rounds[1:] {
		if e.Session.AnsweredAt(r) < position || len(r.Model) > 0 && r.Model[0].Began < position {
			return true
		}
	}
	return false
}

// lastSign returns the last thing that the client did between the cancel and hanging up, and how long after that it
// may hang up because of the cancel. If the machine is so busy that a response takes long, that is longer.
func lastSign(e *evidence.Case, cancel evidence.Place, x *evidence.Exchange) (evidence.Place, time.Duration) {
	for _, r := range e.Rounds[1:] {
		if at := e.Session.AnsweredAt(r); at > e.Session.Order[cancel.Ref] && at < x.Behind {
			response := r.Answers[0].Place
			return response, prompt + 4*(e.TimeOf(response.Ref)-e.TimeOf(cancel.Ref))
		}
	}
	return cancel, prompt
}

var noAnswer = check.Check{
	ID: "no-answer", Cases: []string{"in-flight"},
	Rule:       "The client SHOULD NOT respond to a sampling request that the server cancelled",
	Levels:     check.InLegacy(report.Should),
	Statements: cancelBehavior, Requests: 1, Needs: []check.Need{cancelledInFlight},
	Cause: "the client sends the result or error of the handler without looking whether the request was cancelled",
	Fix:   "Remember which requests were cancelled, and send no response to them.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, cancel := e.Rounds[0], *e.Cancelled(e.Rounds[0])
		at := e.Session.Order[cancel.Ref]
		if len(r.Answers) > 0 {
			a := &r.Answers[0]
			if e.Session.Order[a.Ref] < at {
				return check.NotObserved("the client responded before the cancel").At(a.Place)
			}
			return check.Fail("expected no response to the cancelled request, found %s", a.Outcome()).
				At(cancel, a.Place)
		}
		for _, a := range e.Session.UnmatchedResponses { // which came after the call or the session was over
			if e.Session.Order[a.Ref] > at && evidence.SameID(r.RawID, a.ID) {
				return check.Fail("expected no response to the cancelled request, found %s after the call", a.Outcome()).
					At(cancel, a.Place)
			}
		}
		return settled(e, cancel, "no response came")
	},
}
