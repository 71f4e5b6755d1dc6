package transport

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// overHTTP is a rule about HTTP. Asked is how many samples have to have been asked for.
func overHTTP(asked int, judge func(*evidence.Case) check.Verdict) func(*evidence.Case) check.Verdict {
	return func(e *evidence.Case) check.Verdict {
		switch {
		case e.Session.OverStdio():
			return check.NotApplicable("over stdio there are no HTTP requests, streams or sessions")
		case len(e.Rounds) < asked:
			return check.NotObserved("the server did not send sampling request %d%s", len(e.Rounds)+1, e.WhyNoResult(len(e.Rounds)))
		}
		return judge(e)
	}
}

// served judges that a round was answered; how says where it had come. An error is an answer, but for the one that says that nobody is there.
func served(ev *evidence.Case, r *evidence.Round, how string) check.Verdict {
	switch {
	case len(r.Answers) == 0 && !ev.Session.AnswersAny():
		return check.NotObserved("the client answered no sampling request at all (see basic/answered)%s", ev.Died()).Show(r.Asked, "")
	case len(r.Answers) == 0:
		if v := check.Survived(ev, r.Asked, "the client did not go on after a sampling request "+how); v != nil {
			return *v
		}
		return check.Fail("a sampling request was not answered that came %s", how).Show(r.Asked, "")
	case r.Answers[0].Err != nil && r.Answers[0].Err.Code == evidence.MethodNotFound:
		return check.Fail("a sampling request that came %s met nobody: the answer is error %d", how, evidence.MethodNotFound).Show(r.Asked, "").Show(r.Answers[0].Place, "%s", r.Answers[0].RawErr)
	}
	return check.Pass("a sampling request was answered that came %s", how)
}

var onPostStream = check.Check{
	ID: "on-post-stream", Rule: "a request that comes on the stream of a call is answered", Levels: check.InNewestLegacy(report.Must), Cases: []string{"post-stream"},
	Statements: []string{"2025-11-25/transports/10"},
	Cause:      "the stream of a POST is read for the response only",
	Fix:        "hand every message of the stream to the same place as those of other streams, and only the response to whoever waits for it",
	Judge:      overHTTP(1, func(e *evidence.Case) check.Verdict { return served(e, e.Rounds[0], "on the stream of the call") }),
}

var onGETStream = check.Check{
	ID: "on-get-stream", Rule: "a request that comes on the stream which the client opened with GET is answered", Levels: check.InNewestLegacy(report.Must),
	Statements: []string{"2025-11-25/transports/15"}, Cases: []string{"get-stream"},
	Cause: "the stream is opened for notifications, and requests on it reach no handler",
	Fix:   "hand every message of the stream to the same place as those of other streams",
	Judge: overHTTP(0, func(e *evidence.Case) check.Verdict {
		if len(e.Rounds) == 0 {
			return check.NotApplicable("the client had no stream open that it had asked for with GET, and need not have one")
		}
		return served(e, e.Rounds[0], "on the stream that it had opened with GET")
	}),
}

var acceptsJSON = check.Check{
	ID: "accepts-json", Rule: "a call is also understood when its response is plain JSON", Levels: check.SinceTools(report.Must), Cases: []string{"plain"},
	Statements: []string{"2025-11-25/transports/10", "2026-07-28/streamable-http/07"},
	Cause:      "the body is read as a stream of events, whatever its Content-Type says",
	Fix:        "look at the Content-Type of each response: application/json is the message itself, text/event-stream a stream of them",
	Judge: overHTTP(0, func(e *evidence.Case) check.Verdict {
		var plain *evidence.Place
		e.EachFrame(func(ev *trace.Event, m *evidence.Message) {
			if f := ev.Frame; plain == nil && f.Dir == trace.ToClient && m.Result != nil && f.Stream == "" {
				plain = &evidence.Place{Ref: ev.Ref(), Path: "result", Label: "plain response"}
			}
		})
		switch {
		case plain == nil:
			return check.NotObserved("the call was not answered with plain JSON%s", e.Died())
		case e.TurnedDown != "":
			return check.NotObserved("the server turned a request of the client down with %s", e.TurnedDown).Show(e.TurnedDownAt, "")
		case e.ReportedOutcome() == harness.Failed:
			return check.Fail("the response was plain JSON, and the client says that its call failed").Show(*plain, "")
		case e.Revision.Modern() && len(e.Rounds) > 0 && len(e.Rounds[0].Answers) == 0:
			if v := check.UnsettledSince(e, *plain); v != nil {
				return *v
			}
			return check.Fail("the response was plain JSON that asks for input, and the client did not come back with any").Show(*plain, "")
		}
		if v := check.Survived(e, *plain, "the client did not go on after a response that was plain JSON"); v != nil {
			return *v
		}
		return check.Pass("a plain response was understood")
	}),
}

var idCollision = check.Check{
	ID: "id-collision", Rule: "a request of the server is answered that has the id of the client's own", Levels: check.InNewestLegacy(report.Robust), Requests: 1,
	Cases: []string{"same-id"},
	Cause: "whatever has the id of a pending request is taken for its response, also what has a method",
	Fix:   "look for a method first: what has one is a request of the server, whose ids are its own, and only what has none is a response",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if v := served(e, r, "under the id of the client's own pending call"); v.Kind != report.Pass {
			return v
		}
		if e.ReportedOutcome() == harness.Failed {
			return check.Fail("a request of the server had the id of the client's own call, and the client says that the call failed").Show(r.Asked, "")
		}
		return check.Pass("the request was answered, and so was the call")
	},
}

// duplicateRequest is about a fault of the server's, so that a client which answers twice is only warned: two requests came, and each has its response.
var duplicateRequest = check.Check{
	ID: "duplicate-request", Rule: "a request that comes twice under one id does no harm, and is answered with one result", Levels: check.InNewestLegacy(report.Robust), Requests: 2,
	Cases: []string{"repeated"},
	Cause: "requests are not remembered, so that the second one runs beside the first, and costs a sample of its own",
	Fix:   "remember the ids that are being answered, and those that were; leave the second request alone, or answer it with an error",
	Judge: func(e *evidence.Case) check.Verdict {
		var results, all []evidence.Answer
		for _, r := range e.Rounds[:2] {
			for _, a := range r.Answers {
				if all = append(all, a); a.Result != nil {
					results = append(results, a)
				}
			}
		}
		last := e.Rounds[len(e.Rounds)-1]
		switch {
		case len(results) > 1:
			return check.Warn("one id was answered with %d results", len(results)).Show(e.Rounds[0].Asked, "").Show(e.Rounds[1].Asked, "the same again").
				Show(results[0].Place, "").Show(results[1].Place, "")
		case len(e.Rounds) > 2 && len(last.Answers) == 0 && len(all) > 0:
			if v := check.Survived(e, last.Asked, "the client did not go on after a request that came twice"); v != nil {
				return *v
			}
			return check.Fail("after a request that came twice the next one was not answered").Show(e.Rounds[1].Asked, "").Show(last.Asked, "")
		case len(all) == 0 && !e.Session.AnswersAny():
			return check.NotObserved("the client answered no sampling request at all (see basic/answered)%s", e.Died())
		case len(all) == 0:
			if v := check.Survived(e, e.Rounds[1].Asked, "the client did not go on after a request that came twice"); v != nil {
				return *v
			}
			return check.Fail("a request that came twice was not answered at all").Show(e.Rounds[0].Asked, "").Show(e.Rounds[1].Asked, "the same again")
		}
		if v := check.UnsettledSince(e, e.Rounds[1].Asked); v != nil {
			return *v
		}
		// A second result that the end of the call has cut off shows in what was asked of the model, more than for the request behind it.
		if models := slices.Concat(e.Rounds[0].Model, e.Rounds[1].Model); len(e.Rounds) > 2 && len(last.Model) > 0 && len(models) > len(last.Model) {
			return check.Warn("the model was asked %d times for one id", len(models)).Show(e.Rounds[0].Asked, "").Show(e.Rounds[1].Asked, "the same again").
				Show(models[0].Place, "").Show(models[len(models)-1].Place, "")
		}
		return check.Pass("no second result came")
	},
}
