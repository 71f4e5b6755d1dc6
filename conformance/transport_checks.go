package conformance

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// overHTTP is a rule about HTTP. Asked is how many samples have to have been asked for.
func overHTTP(asked int, judge func(*Evidence) Verdict) func(*Evidence) Verdict {
	return func(e *Evidence) Verdict {
		switch {
		case e.Session.overStdio():
			return NotApplicable("over stdio there are no HTTP requests, streams or sessions")
		case len(e.Rounds) < asked:
			return NotObserved("the play did not get as far as sampling request %d%s", len(e.Rounds)+1, e.why(len(e.Rounds)))
		}
		return judge(e)
	}
}

// served judges that a round was answered; how says where it had come. An error is an answer, but for the one that says that nobody is there.
func (ev *Evidence) served(r *Round, how string) Verdict {
	switch {
	case len(r.Answers) == 0 && !ev.Session.answersAny():
		return NotObserved("the client answered no sampling request at all (see basic/answered)%s", ev.died()).See(r.Asked, "")
	case len(r.Answers) == 0:
		if v := ev.livedThrough(r.Asked, "the client did not go on after a sampling request "+how); v != nil {
			return *v
		}
		return Broken("a sampling request was not answered that came %s", how).See(r.Asked, "")
	case r.Answers[0].Err != nil && r.Answers[0].Err.Code == methodNotFound:
		return Broken("a sampling request that came %s met nobody: the answer is error %d", how, methodNotFound).See(r.Asked, "").See(r.Answers[0].Place, "%s", r.Answers[0].RawErr)
	}
	return Pass("a sampling request was answered that came %s", how)
}

// methodNotFound is the error of JSON-RPC for a request that nobody takes.
const methodNotFound = -32601

var onPostStream = Check{
	ID: "on-post-stream", Rule: "a request that comes on the stream of a call is answered", Levels: inNewestLegacy(report.Must), Cases: []string{"post-stream"},
	Requirements: []string{"2025-11-25/transports/10"},
	Cause:        "the stream of a POST is read for the response only",
	Fix:          "hand every message of the stream to the same place as those of other streams, and only the response to whoever waits for it",
	Judge:        overHTTP(1, func(e *Evidence) Verdict { return e.served(e.Rounds[0], "on the stream of the call") }),
}

var onGETStream = Check{
	ID: "on-get-stream", Rule: "a request that comes on the stream which the client opened with GET is answered", Levels: inNewestLegacy(report.Must),
	Requirements: []string{"2025-11-25/transports/15"}, Cases: []string{"get-stream"},
	Cause: "the stream is opened for notifications, and requests on it reach no handler",
	Fix:   "hand every message of the stream to the same place as those of other streams",
	Judge: overHTTP(0, func(e *Evidence) Verdict {
		if len(e.Rounds) == 0 {
			return NotApplicable("the client had no stream open that it had asked for with GET, and need not have one")
		}
		return e.served(e.Rounds[0], "on the stream that it had opened with GET")
	}),
}

var acceptsJSON = Check{
	ID: "accepts-json", Rule: "a call is also understood when its response is plain JSON", Levels: sinceTools(report.Must), Cases: []string{"plain"},
	Requirements: []string{"2025-11-25/transports/10", "2026-07-28/streamable-http/07"},
	Cause:        "the body is read as a stream of events, whatever its Content-Type says",
	Fix:          "look at the Content-Type of each response: application/json is the message itself, text/event-stream a stream of them",
	Judge: overHTTP(0, func(e *Evidence) Verdict {
		var plain *Place
		e.eachFrame(func(ev *trace.Event, m *rpc) {
			if f := ev.Frame; plain == nil && f.Dir == trace.ToClient && m.result != nil && f.Stream == "" {
				plain = &Place{ev.Ref(), "result", "plain response"}
			}
		})
		switch {
		case plain == nil:
			return NotObserved("the call was not answered with plain JSON%s", e.died())
		case e.TurnedDown != "":
			return NotObserved("the server turned a request of the client down with %s", e.TurnedDown).See(e.TurnedDownAt, "")
		case e.took() == harness.Failed:
			return Broken("the response was plain JSON, and the client says that its call failed").See(*plain, "")
		case e.Revision.Modern() && len(e.Rounds) > 0 && len(e.Rounds[0].Answers) == 0:
			if v := e.goneOn(*plain); v != nil {
				return *v
			}
			return Broken("the response was plain JSON that asks for input, and the client did not come back with any").See(*plain, "")
		}
		if v := e.livedThrough(*plain, "the client did not go on after a response that was plain JSON"); v != nil {
			return *v
		}
		return Pass("a plain response was understood")
	}),
}

var idCollision = Check{
	ID: "id-collision", Rule: "a request of the server is answered that has the id of the client's own", Levels: inNewestLegacy(report.Robust), Asked: 1,
	Cases: []string{"same-id"},
	Cause: "whatever has the id of a pending request is taken for its response, also what has a method",
	Fix:   "look for a method first: what has one is a request of the server, whose ids are its own, and only what has none is a response",
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[0]
		if v := e.served(r, "under the id of the client's own pending call"); v.kind != report.Pass {
			return v
		}
		if e.took() == harness.Failed {
			return Broken("a request of the server had the id of the client's own call, and the client says that the call failed").See(r.Asked, "")
		}
		return Pass("the request was answered, and so was the call")
	},
}

// duplicateRequest is about a fault of the server's, so that a client which answers twice is only warned: two requests came, and each has its response.
var duplicateRequest = Check{
	ID: "duplicate-request", Rule: "a request that comes twice under one id does no harm, and is answered with one result", Levels: inNewestLegacy(report.Robust), Asked: 2,
	Cases: []string{"repeated"},
	Cause: "requests are not remembered, so that the second one runs beside the first, and costs a sample of its own",
	Fix:   "remember the ids that are being answered, and those that were; leave the second request alone, or answer it with an error",
	Judge: func(e *Evidence) Verdict {
		var results, all []Answer
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
			return Warn("one id was answered with %d results", len(results)).See(e.Rounds[0].Asked, "").See(e.Rounds[1].Asked, "the same again").
				See(results[0].Place, "").See(results[1].Place, "")
		case len(e.Rounds) > 2 && len(last.Answers) == 0 && len(all) > 0:
			if v := e.livedThrough(last.Asked, "the client did not go on after a request that came twice"); v != nil {
				return *v
			}
			return Broken("after a request that came twice the next one was not answered").See(e.Rounds[1].Asked, "").See(last.Asked, "")
		case len(all) == 0 && !e.Session.answersAny():
			return NotObserved("the client answered no sampling request at all (see basic/answered)%s", e.died())
		case len(all) == 0:
			if v := e.livedThrough(e.Rounds[1].Asked, "the client did not go on after a request that came twice"); v != nil {
				return *v
			}
			return Broken("a request that came twice was not answered at all").See(e.Rounds[0].Asked, "").See(e.Rounds[1].Asked, "the same again")
		}
		if v := e.goneOn(e.Rounds[1].Asked); v != nil {
			return *v
		}
		// A second result that the end of the call has cut off shows in what was asked of the model, more than for the request behind it.
		if models := slices.Concat(e.Rounds[0].Model, e.Rounds[1].Model); len(e.Rounds) > 2 && len(last.Model) > 0 && len(models) > len(last.Model) {
			return Warn("the model was asked %d times for one id", len(models)).See(e.Rounds[0].Asked, "").See(e.Rounds[1].Asked, "the same again").
				See(models[0].Place, "").See(models[len(models)-1].Place, "")
		}
		return Pass("no second result came")
	},
}
