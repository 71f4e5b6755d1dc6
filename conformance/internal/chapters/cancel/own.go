package cancel

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// ownCancel are the statements about how a client gives up a request.
var ownCancel = []string{"2025-03-26/transports/cancel", "2025-06-18/transports/cancel", "2025-11-25/transports/13", "2025-11-25/lifecycle/02",
	"2026-07-28/cancellation/05", "2026-07-28/stdio/06", "2026-07-28/cancellation/01", "2026-07-28/cancellation/07"}

// judgeOwnCancel holds a client that gave up its call against how it says so.
func judgeOwnCancel(e *evidence.Case) check.Verdict {
	shown, missing := check.Abandoned(e)
	if missing != nil {
		return *missing
	}
	cancels, id := e.CallCancels()
	closed := e.StreamClosed()
	switch {
	case e.Revision.Modern() && !e.Session.OverStdio() && closed != nil:
		return check.Pass("the client closed the stream of its call")
	case e.Revision.Modern() && !e.Session.OverStdio():
		return check.Warn("the client gave up its call and did not close the stream of it, so that the server goes on").Show(evidence.Place{Ref: e.FirstCall, Label: "the call"}, "").Show(shown, "")
	case len(cancels) > 0:
		return check.Pass("the client cancelled its call")
	}
	return check.Fail("the client gave up its call, and no %s named it", evidence.MethodCancelled).Show(evidence.Place{Ref: e.FirstCall, Label: "the call", Path: "id"}, "%s", id).Show(shown, "")
}

var callerCancels = check.Check{
	ID: "caller-cancels", Rule: "a client that gives up its call while it samples for it cancels the call", Levels: check.InLegacy(report.Should), Requests: 1,
	Statements: ownCancel, Cases: []string{"call-while-sampling"},
	Cause: "the call is given up by hanging up, which is no cancel, or by not listening any more",
	Fix:   "send notifications/cancelled with the id of the call when its caller gives it up",
	Judge: judgeOwnCancel,
}

var callCancelled = check.Check{
	ID: "call-cancelled", Rule: "a client that gives up its call while the server works cancels the call (2026-07-28: over HTTP by closing its stream)",
	Levels: check.Levels(report.Should, report.Must), Statements: ownCancel, Cases: []string{"call-while-working"},
	Cause: "the call is given up by not listening any more, or over HTTP by hanging up in a revision in which that is no cancel",
	Fix:   "send notifications/cancelled with the id of the call; in 2026-07-28 over HTTP close the stream of the call",
	Judge: judgeOwnCancel,
}

var modelEnds = check.Check{
	ID: "model-ends", Rule: "the request of the model ends with the call that it was made for", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"call-while-sampling"},
	Cause: "what gives up the call does not reach the handler of the sample, which goes on, and costs money, for nobody",
	Fix:   "have the sample end when the server cancels it, and when the call ends for which it was asked",
	Judge: func(e *evidence.Case) check.Verdict {
		shown, missing := check.Abandoned(e)
		if missing != nil {
			return *missing
		}
		r := e.Rounds[0]
		cancels, _ := e.CallCancels()
		for _, x := range r.Model {
			if v := check.ByItsLimit(e, r, x); v != nil {
				return *v
			}
			from := shown
			if e.Session.Order[shown.Ref] > x.Behind { // it has said so after that: what it was to give up the call for came with the header of the answer, at once
				from = x.Place
			}
			if x.End.HungUp && e.TimeOf(from.Ref)+prompt < e.ModelEndTime(x) {
				return tooLate("it was to give up its call").Show(from, "").Show(e.ModelEnd(x), "")
			}
			switch {
			case x.End.HungUp || x.End.Status != 200:
			case x.End.Closed:
				return check.NotObserved("the request of the model was still open when the session was over").Show(x.Place, "")
			case len(cancels) > 0 && x.Behind < e.Session.Order[cancels[0].Ref]:
				return check.NotObserved("the model had answered before the call was given up").Show(x.Place, "").Show(cancels[0], "")
			default:
				return untold(e, r, check.Fail, check.Warn)("the call was given up, and the model's answer to what was asked for it was waited for all the same").
					Show(shown, "").Show(x.Place, "").Show(e.ModelEnd(x), "nobody had hung up")
			}
		}
		if v := check.UnsettledSince(e, r.Asked); v != nil {
			return *v
		}
		return check.Pass("nothing was left of the request of the model")
	},
}

var namesOwn = check.Check{
	ID: "names-own", Rule: "what the client cancels is a request of its own, by the id that this has, and not initialize", Levels: check.Everywhere(report.Must),
	Statements: []string{"2025-03-26/cancellation/behavior", "2025-06-18/cancellation/behavior", "2025-11-25/cancellation/01", "2025-11-25/cancellation/02",
		"2025-11-25/basic/12", "2026-07-28/cancellation/11", "2026-07-28/basic/22"},
	Cases: []string{"call-while-sampling", "call-while-working"},
	Cause: "the id of the request is written as a string, or is that of another one, or the cancel has an id itself",
	Fix:   "send a notification, which has no id, and write requestId as the id was written in the request",
	Judge: func(e *evidence.Case) check.Verdict {
		_, missing := check.Abandoned(e)
		if missing != nil {
			return *missing
		}
		own, cancels := ownRequests(e)
		for _, c := range cancels {
			m, at := c.Message, c.Place
			id, isNotification := evidence.CancelOf(m)
			var named []string // the methods of the requests that it may mean: an id may have been given twice
			for _, r := range own {
				overtaken := !e.Session.OverStdio() // by its cancel, for each is a POST of its own
				if evidence.SameID(r.ID, id) && (overtaken || e.Session.Order[r.Ref] < e.Session.Order[at.Ref]) {
					named = append(named, r.Method)
				}
			}
			switch {
			case !isNotification:
				return check.Fail("the client cancelled with a message that has an id of its own, and is no notification").Show(evidence.Place{Ref: at.Ref, Path: "id", Label: "cancel"}, "%s", m.ID)
			case len(named) == 0:
				return check.Fail("the client cancelled what is no request of its own").Show(at.At("requestId"), "%s", check.OrMissing(id))
			case !slices.ContainsFunc(named, func(method string) bool { return method != "initialize" }):
				return check.Fail("the client cancelled initialize").Show(at.At("requestId"), "%s", id)
			}
		}
		return check.Pass("the client cancelled nothing but requests of its own")
	},
}

// ownMessage is a message of the client's, and where it stands.
type ownMessage struct {
	evidence.Place
	*evidence.Message
}

// ownRequests are the requests that the client made in the session of the call, and its cancels.
func ownRequests(ev *evidence.Case) (requests, cancels []ownMessage) {
	called := ev.Session.Trace.Find(ev.FirstCall)
	for e, m := range ev.Session.FromClient() {
		switch {
		case e.Frame.Session != called.Frame.Session && e.Frame.Session != "":
		case m.Method == evidence.MethodCancelled:
			cancels = append(cancels, ownMessage{evidence.Place{Ref: e.Ref(), Path: "params", Label: "cancel"}, m})
		case m.Method != "" && m.ID != nil:
			requests = append(requests, ownMessage{evidence.Place{Ref: e.Ref(), Label: m.Method}, m})
		}
	}
	return requests, cancels
}

// untold chooses the second where, in the first era, the server could not tell the client that the sample is not wanted any more either: the
// client had closed the stream for that, and whether the message still came through is chance.
func untold(ev *evidence.Case, r *evidence.Round, told, not func(string, ...any) check.Verdict) func(string, ...any) check.Verdict {
	if ev.Revision.Modern() || ev.StreamClosed() == nil {
		return told
	}
	s := ev.Session
	if cancel := ev.Cancelled(r); cancel != nil && s.Trace.Find(cancel.Ref).Frame.Stream != s.Trace.Find(r.Asked.Ref).Frame.Stream {
		return told
	}
	return not
}

var endedCall = check.Check{
	ID: "ended-call", Rule: "a call that came back for input is over, and is not cancelled", Levels: check.InModern(report.Must), Requests: 1,
	Statements: []string{"2026-07-28/cancellation/11"}, Cases: []string{"call-while-sampling"},
	Cause: "what gives up a call cancels its latest request, answered or not",
	Fix:   "cancel only what the server has not answered; for a call that came back for input just do not make it again",
	Judge: func(e *evidence.Case) check.Verdict {
		_, missing := check.Abandoned(e)
		if missing != nil {
			return *missing
		}
		if cancels, id := e.CallCancels(); len(cancels) > 0 {
			return check.Fail("the call had come back for input, which is its end, and was cancelled").Show(e.Rounds[0].Asked, "").
				Show(cancels[0].At("requestId"), "%s", id)
		}
		if v := check.UnsettledSince(e, e.Rounds[0].Asked); v != nil {
			return *v
		}
		return check.Pass("nothing was cancelled")
	},
}

var noRetry = check.Check{
	ID: "no-retry", Rule: "a call that was given up is not made again", Levels: check.InModern(report.Robust), Requests: 1, Cases: []string{"call-while-sampling"},
	Cause: "the loop that answers a wish for input does not look whether anybody still wants the call",
	Fix:   "look, before the call is made again, whether its caller is still there",
	Judge: func(e *evidence.Case) check.Verdict {
		shown, missing := check.Abandoned(e)
		if missing != nil {
			return *missing
		}
		asked := e.Rounds[0].Asked
		var again *evidence.Place
		e.EachFrame(func(ev *trace.Event, m *evidence.Message) {
			if again == nil && ev.Frame.Dir == trace.FromClient && m.Method == "tools/call" && e.Session.Order[ev.Ref()] > e.Session.Order[asked.Ref] {
				again = &evidence.Place{Ref: ev.Ref(), Path: "params", Label: "tools/call again"}
			}
		})
		if again != nil {
			return check.Fail("the call was given up, and made again").Show(shown, "").Show(*again, "")
		}
		if v := check.UnsettledSince(e, asked); v != nil {
			return *v
		}
		return check.Pass("the call was not made again")
	},
}

var lateResponse = check.Check{
	ID: "late-response", Rule: "a response that comes after the client gave up its call is ignored", Levels: check.Everywhere(report.Should),
	Statements: []string{"2025-03-26/cancellation/behavior", "2025-06-18/cancellation/behavior", "2025-11-25/cancellation/06",
		"2026-07-28/cancellation/15", "2026-07-28/cancellation/16"},
	Cases: []string{"call-while-working"},
	Cause: "a response for which no request is found is taken for a fault of the connection; or the next response that is read is taken for that of the latest request",
	Fix:   "know responses by their ids, and drop one that nobody waits for",
	Judge: func(e *evidence.Case) check.Verdict {
		shown, missing := check.Abandoned(e)
		if missing != nil {
			return *missing
		}
		if e.Revision.Modern() && !e.Session.OverStdio() {
			return check.NotApplicable("over HTTP the client closes the stream, and nothing can come after that")
		}
		if early := e.Session.CompletedUnanswered(e.Session.Order[shown.Ref]); early != nil {
			return check.Fail("the response to a call that was given up was taken for another's: the client had its next call complete before the server had answered it").
				Show(shown, "").Show(*early, "")
		}
		if v := check.Survived(e, shown, "the client gave up its call, was answered all the same, and did not go on"); v != nil {
			return *v
		}
		return check.Pass("the client went on")
	},
}
