package cancel

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// The client abandons its call while the model thinks. Up to 2025-11-25 it cancels the call, and then the server
// cancels the sampling request. In 2026-07-28 nothing comes: the call had ended with the InputRequiredResult. A client
// whose driver abandons no calls sends no progress token.
var callWhileSampling = story.Gated(harness.Case{ID: "cancel/call-while-sampling", Abandon: true},
	func(gate *story.Gate) server.Handler {
		return func(s *server.Session) (any, error) {
			if s.Call().ProgressToken == nil {
				return s.Sample(s.Ask("Name a bird."))
			}
			done := func() {} // in 2026-07-28 a client that abandons the call leaves the handler parked
			if !s.Revision().Modern() {
				done = gate.BlockBarrier()
			}
			defer done()
			asked, word, err := story.AskHeld(s, gate)
			defer gate.Open(word)
			if err != nil {
				return nil, err
			}
			if s.Revision().Modern() {
				story.WaitFor(story.Reaction, gate.Ended(word), asked.Done())
			} else if story.WaitFor(story.Reaction, s.Context().Done(), nil) {
				_ = asked.Cancel("the call was given up") // fails if the client has closed the stream, and so knows
				story.WaitFor(story.Reaction, gate.Ended(word), nil)
			}
			gate.Open(word)
			done() // there may be nobody left to respond
			return asked.Wait()
		}
	})

func abandoned(e *evidence.Case) *check.Verdict {
	_, missing := check.Abandoned(e)
	return missing
}

// hasToken is for what happens while the model thinks: without a token in the call it answers at once.
func hasToken(e *evidence.Case) *check.Verdict {
	if evidence.TokenIn(e.Session.Message(e.Session.Trace.Find(e.FirstCall)).Params) != nil {
		return nil
	}
	return check.Instead(check.Unsupported("the model answered at once, because the call that the client abandoned has " +
		"no progress token: let its driver send one (Env.Abandon)").At(e.CallPlace()))
}

// abandonedAt returns what shows that the client abandoned its call, if [abandoned] holds.
func abandonedAt(e *evidence.Case) evidence.Place {
	at, _ := check.Abandoned(e)
	return at
}

var callerCancels = check.Check{
	ID: "caller-cancels", Cases: []string{"call-while-sampling"},
	Rule:       "A client that abandons its call while it samples for it SHOULD cancel the call",
	Levels:     check.InLegacy(report.Should),
	Statements: cancelsCall, Requests: 1, Needs: []check.Need{abandoned, hasToken},
	Cause: "the client closes the stream, which is no cancel, or only stops listening",
	Fix:   "Send notifications/cancelled with the id of the call when the caller abandons it.",
	Judge: cancelsItsCall,
}

var modelEnds = check.Check{
	ID: "model-ends", Cases: []string{"call-while-sampling"},
	Rule:     "The model request ends when the client abandons the call that it belongs to",
	Levels:   check.Robust,
	Requests: 1, Needs: []check.Need{abandoned, hasToken},
	Cause: "the sampling handler does not end with the abandoned call, so its model request continues at a cost",
	Fix:   "End the sampling request when the server cancels it, and when the call that it belongs to ends.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, x := range e.Rounds[0].Model {
			if v := goesOn(e, x); v != nil {
				return *v
			}
		}
		return settled(e, e.Rounds[0].Asked, "no model request goes on")
	},
}

// goesOn returns nil if a model request ended when the client abandoned the call, and otherwise the verdict.
func goesOn(e *evidence.Case, x *evidence.Exchange) *check.Verdict {
	r, shown := e.Rounds[0], abandonedAt(e)
	if v := check.ByItsLimit(e, r, x); v != nil {
		return v
	}
	from := shown
	if e.Session.Order[shown.Ref] > x.Behind {
		from = x.Place // the client reported it late: the header of the model's answer told it to abandon the call
	}
	cancels, _ := e.CallCancels()
	var v check.Verdict
	switch {
	case x.End.HungUp && e.TimeOf(from.Ref)+prompt < e.ModelEndTime(x):
		v = tooLate("the event at which it abandons its call").At(from, e.ModelEnd(x))
	case x.End.HungUp || x.End.Status != 200:
		return nil
	case x.End.Closed:
		v = check.NotObserved("the model request was still open at the end of the session").At(x.Place)
	case len(cancels) > 0 && x.Behind < e.Session.Order[cancels[0].Ref]:
		v = check.NotObserved("the model had answered before the client abandoned the call").
			At(x.Place, cancels[0])
	default:
		verdict := check.Fail
		if mayNotKnow(e, r) {
			verdict = check.Warn
		}
		v = verdict("expected the client to hang up on the model when it abandoned the call, found that it waited").
			At(shown, x.Place).Show(e.ModelEnd(x), "nobody had hung up")
	}
	return &v
}

// mayNotKnow reports whether the server may have been unable to cancel the sampling request: up to 2025-11-25, if the
// client had closed the stream for it, chance decides whether the cancel still came through.
func mayNotKnow(e *evidence.Case, r *evidence.Round) bool {
	if e.Revision.Modern() || e.StreamClosed() == nil {
		return false
	}
	stream := func(p evidence.Place) string { return e.Session.Trace.Find(p.Ref).Frame.Stream }
	cancel := e.Cancelled(r)
	return cancel == nil || stream(*cancel) == stream(r.Asked)
}

var endedCall = check.Check{
	ID: "ended-call", Cases: []string{"call-while-sampling"},
	Rule:       "The client MUST NOT cancel a call that ended with an InputRequiredResult",
	Levels:     check.InModern(report.Must),
	Statements: []string{"cancellation/11"}, Requests: 1, Needs: []check.Need{abandoned, hasToken},
	Cause: "abandoning a call cancels its latest request, even if the server has responded to it",
	Fix:   "Cancel only requests without a response. After an InputRequiredResult, just do not retry the call.",
	Judge: func(e *evidence.Case) check.Verdict {
		if cancels, id := e.CallCancels(); len(cancels) > 0 {
			return check.Fail("expected no cancel of a call that has ended with an InputRequiredResult, found one").
				At(e.Rounds[0].Asked).Show(cancels[0].At("requestId"), "%s", id)
		}
		return settled(e, e.Rounds[0].Asked, "nothing was cancelled")
	},
}

var noRetry = check.Check{
	ID: "no-retry", Cases: []string{"call-while-sampling"},
	Rule:     "The client does not retry a call that it has abandoned",
	Levels:   check.InModern(report.Robust),
	Requests: 1, Needs: []check.Need{abandoned, hasToken},
	Cause: "the loop that responds to input requests does not check whether anybody still wants the call",
	Fix:   "Check that the caller still waits before the client retries the call.",
	Judge: func(e *evidence.Case) check.Verdict {
		asked := e.Rounds[0].Asked
		var again *evidence.Place
		e.EachFrame(func(ev *trace.Event, m *evidence.Message) {
			isCall := ev.Frame.Dir == trace.FromClient && m.Method == "tools/call"
			if again == nil && isCall && e.Session.Order[ev.Ref()] > e.Session.Order[asked.Ref] {
				again = &evidence.Place{Ref: ev.Ref(), Path: "params", Label: "tools/call again"}
			}
		})
		if again != nil {
			return check.Fail("expected no retry of the abandoned call, found one").At(abandonedAt(e), *again)
		}
		return settled(e, asked, "the client did not retry the call")
	},
}
