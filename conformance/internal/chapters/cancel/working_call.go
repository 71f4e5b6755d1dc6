package cancel

import (
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The server reports progress of a call, and the client abandons the call. The server responds to it all the same.
var callWhileWorking = story.Gated(harness.Case{ID: "cancel/call-while-working", Abandon: true},
	func(gate *story.Gate) server.Handler {
		return func(s *server.Session) (any, error) {
			defer gate.BlockBarrier()()
			if err := s.Progress(1, 2); err != nil {
				return nil, err
			}
			if s.Call().ProgressToken == nil || !story.WaitFor(story.Reaction, s.Context().Done(), nil) {
				return "done", nil
			}
			result := story.Object{"content": []any{server.Text("too late")}}
			if s.Revision().Modern() {
				result["resultType"] = "complete"
			}
			raw, err := json.Marshal(story.Object{"jsonrpc": "2.0", "id": s.Call().ID, "result": result})
			if err != nil {
				return nil, err
			}
			return nil, s.Transport().Send(raw)
		}
	})

// cancelsCall are the statements on how a client cancels a request.
var cancelsCall = []string{"cancellation/05", "transports/13", "cancellation/07", "stdio/06", "cancellation/01"}

var callCancelled = check.Check{
	ID: "call-cancelled", Cases: []string{"call-while-working"},
	Rule:       "A client that abandons a call while the server works cancels it (2026-07-28, HTTP: closes its stream)",
	Levels:     check.Levels(report.Should, report.Must),
	Statements: cancelsCall, Needs: []check.Need{abandoned},
	Cause: "the client only stops listening, or closes the stream in a revision in which that is no cancel",
	Fix: "Send notifications/cancelled with the id of the call. " +
		"Since 2026-07-28 over HTTP, close the stream of the call.",
	Judge: cancelsItsCall,
}

// cancelsItsCall judges how a client cancels the call that it abandons.
func cancelsItsCall(e *evidence.Case) check.Verdict {
	call := evidence.Place{Ref: e.FirstCall, Label: "the call"}
	cancels, id := e.CallCancels()
	byStream := e.Revision.Modern() && !e.Session.OverStdio()
	switch {
	case byStream && e.StreamClosed() != nil:
		return check.Pass("the client closed the stream of its call")
	case byStream:
		return check.Warn("expected the client to close the stream of the abandoned call, found it open: the server goes on").
			At(call, abandonedAt(e))
	case len(cancels) > 0:
		return check.Pass("the client cancelled its call")
	}
	return check.Fail("expected %s with the id of the abandoned call, found none", evidence.MethodCancelled).
		Show(call.At("id"), "%s", id).At(abandonedAt(e))
}

var namesOwn = check.Check{
	ID: "names-own", Cases: []string{"call-while-sampling", "call-while-working"},
	Rule:       "The client MUST cancel only requests of its own, by their id, and never initialize",
	Levels:     check.Must,
	Statements: []string{"cancellation/behavior", "cancellation/11", "cancellation/initialize", "basic/22"},
	Needs:      []check.Need{abandoned},
	Cause:      "the client writes the id as a string, or names another request, or gives the cancel an id of its own",
	Fix:        "Send a notification, without an id. Write requestId exactly as the id of the request.",
	Judge: func(e *evidence.Case) check.Verdict {
		requests, cancels := ownMessages(e)
		for i, c := range cancels {
			if v := misnames(e, c, requests); v != nil {
				return *v
			}
			if first := sameCancel(e, c, cancels[:i], requests); first != nil {
				return check.Warn("expected 1 cancel of a request, found 2: it is no longer in progress").
					ShowJSON(first.Place, first.Params).ShowJSON(c.Place, c.Params)
			}
		}
		return check.Pass("the client cancelled only requests of its own")
	},
}

// ownMessage is a message of the client.
type ownMessage struct {
	evidence.Place
	*evidence.Message
}

// ownMessages returns the requests that the client sent in the session of the call, and its cancels.
func ownMessages(e *evidence.Case) (requests, cancels []ownMessage) {
	session := e.Session.Trace.Find(e.FirstCall).Frame.Session
	for ev, m := range e.Session.FromClient() {
		switch {
		case ev.Frame.Session != session && ev.Frame.Session != "":
		case m.Method == evidence.MethodCancelled:
			cancels = append(cancels, ownMessage{evidence.Place{Ref: ev.Ref(), Path: "params", Label: "cancel"}, m})
		case m.Method != "" && m.ID != nil:
			requests = append(requests, ownMessage{evidence.Place{Ref: ev.Ref(), Label: m.Method}, m})
		}
	}
	return requests, cancels
}

// sameCancel returns an earlier cancel of the same request; nil for none. A client may have used the id again since.
func sameCancel(e *evidence.Case, cancel ownMessage, earlier, requests []ownMessage) *ownMessage {
	id, _ := evidence.CancelOf(cancel.Message)
	order := e.Session.Order
	for i := range earlier {
		first := &earlier[i]
		again := slices.ContainsFunc(requests, func(r ownMessage) bool {
			return evidence.SameID(r.ID, id) && order[first.Ref] < order[r.Ref] && order[r.Ref] < order[cancel.Ref]
		})
		if other, _ := evidence.CancelOf(first.Message); !again && evidence.SameID(id, other) {
			return first
		}
	}
	return nil
}

// misnames returns nil if a cancel names one of the requests, and otherwise the verdict.
func misnames(e *evidence.Case, cancel ownMessage, requests []ownMessage) *check.Verdict {
	id, isNotification := evidence.CancelOf(cancel.Message)
	var named []string // the methods of the requests that it may name: a client may have used the id twice
	for _, r := range requests {
		before := e.Session.Order[r.Ref] < e.Session.Order[cancel.Ref]
		if evidence.SameID(r.ID, id) && (before || !e.Session.OverStdio()) { // over HTTP a cancel may overtake its request
			named = append(named, r.Method)
		}
	}
	var v check.Verdict
	switch {
	case !isNotification:
		at := evidence.Place{Ref: cancel.Ref, Path: "id", Label: "cancel"}
		v = check.Fail("expected a cancel without an id, found the id %s", cancel.ID).Show(at, "%s", cancel.ID)
	case len(named) == 0:
		v = check.Fail("expected requestId to name a request of the client, found %s", check.OrMissing(id)).
			ShowJSON(cancel.At("requestId"), id)
	case !slices.ContainsFunc(named, func(method string) bool { return method != "initialize" }):
		v = check.Fail("expected no cancel of initialize, found one").Show(cancel.At("requestId"), "%s", id)
	default:
		return nil
	}
	return &v
}

var lateResponse = check.Check{
	ID: "late-response", Cases: []string{"call-while-working"},
	Rule:       "The client SHOULD ignore a response to a call that it has abandoned",
	Levels:     check.Should,
	Statements: []string{"cancellation/behavior", "cancellation/15", "cancellation/16"},
	Needs:      []check.Need{abandoned},
	Cause:      "the client takes a response without a request for a broken connection, or for that to its latest request",
	Fix:        "Match responses to requests by id. Drop a response that no request waits for.",
	Judge: func(e *evidence.Case) check.Verdict {
		shown := abandonedAt(e)
		if e.Revision.Modern() && !e.Session.OverStdio() {
			return check.NotApplicable("over HTTP the client closes the stream, and no response can come after that")
		}
		if early := e.Session.CompletedUnanswered(e.Session.Order[shown.Ref]); early != nil {
			return check.Fail("expected the client to ignore the response to the abandoned call, found that it took it for the "+
				"response to its next call").At(shown, *early)
		}
		return check.Survived(e, shown, "the client did not continue after the response to the abandoned call").
			Or(check.Pass("the client continued"))
	},
}
