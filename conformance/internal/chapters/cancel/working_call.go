package cancel

import (
	"encoding/json"

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
