package transport

import (
	"context"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// The server asks on the stream of the call.
var postStream = story.Delivered(harness.Case{ID: "transport/post-stream", Revisions: check.NewestLegacy},
	askOnce(asIs))

var onPostStream = check.Check{
	ID: "on-post-stream", Rule: "The client MUST respond to a request that comes on the stream of a call", Levels: must,
	Cases: []string{"post-stream"}, Statements: []string{"2025-11-25/transports/10"},
	Needs: []check.Need{overHTTP, asked},
	Cause: "the client reads only the response from the stream of a POST",
	Fix:   "Pass every message of the stream to the handler of all messages, and only the response to the caller.",
	Judge: func(e *evidence.Case) check.Verdict { return served(e, e.Rounds[0], "on the stream of the call") },
}

// The server asks on the stream that the client opened with GET, if it did.
var getStream = story.Delivered(harness.Case{ID: "transport/get-stream", Revisions: check.NewestLegacy},
	func(s *server.Session) (any, error) {
		ctx, cancel := context.WithTimeout(s.Context(), story.ListenPatience)
		defer cancel()
		if !s.Listens(ctx) {
			return "no stream to ask on", nil
		}
		return askOnce(server.OnGET)(s)
	})

var onGETStream = check.Check{
	ID: "on-get-stream", Rule: "The client MUST respond to a request that comes on the stream that it opened with GET",
	Levels: must, Cases: []string{"get-stream"}, Statements: []string{"2025-11-25/transports/15"},
	Needs: []check.Need{overHTTP},
	Cause: "the client opens the stream for notifications, and has no handler for requests on it",
	Fix:   "Pass every message of the stream to the handler of all messages.",
	Judge: func(e *evidence.Case) check.Verdict {
		if len(e.Rounds) == 0 {
			return check.NotApplicable("the client opened no stream with GET, as it may")
		}
		return served(e, e.Rounds[0], "on the stream that the client opened with GET")
	},
}

// The server responds to the call with plain JSON. In 2025-11-25 it then has no stream to ask on.
var plain = story.Delivered(harness.Case{ID: "transport/plain", Responses: server.JSON, Revisions: check.WithTools},
	func(s *server.Session) (any, error) {
		if !s.Revision().Modern() {
			return "a plain response", nil
		}
		return askOnce(asIs)(s)
	})

var acceptsJSON = check.Check{
	ID: "accepts-json", Rule: "The client MUST accept a plain JSON response", Levels: mustBoth, Cases: []string{"plain"},
	Statements: []string{"2025-11-25/transports/10", "2026-07-28/streamable-http/07"},
	Needs:      []check.Need{overHTTP, plainResponseSent, notTurnedDown},
	Cause:      "the client reads every body as an event stream, whatever its Content-Type",
	Fix:        "Read the Content-Type of each response: application/json is one message, text/event-stream a stream.",
	Judge: func(e *evidence.Case) check.Verdict {
		response := *plainResponse(e)
		if e.ReportedOutcome() == harness.Failed {
			return check.Fail("expected the client to accept plain JSON, found that it reports a failed call").Show(response, "")
		}
		if e.Revision.Modern() && len(e.Rounds) > 0 && len(e.Rounds[0].Answers) == 0 {
			if v := check.UnsettledSince(e, response); v != nil {
				return *v
			}
			return check.Fail("expected a retry after a plain JSON result that asks for input, found none").Show(response, "")
		}
		if v := check.Survived(e, response, "the client did not go on after a plain JSON response"); v != nil {
			return *v
		}
		return check.Pass("the client accepted a plain JSON response")
	},
}

// plainResponse returns the place of the first result that came without a stream; nil for none.
func plainResponse(e *evidence.Case) *evidence.Place {
	var plain *evidence.Place
	e.EachFrame(func(ev *trace.Event, m *evidence.Message) {
		if f := ev.Frame; plain == nil && f.Dir == trace.ToClient && m.Result != nil && f.Stream == "" {
			plain = &evidence.Place{Ref: ev.Ref(), Path: "result", Label: "plain response"}
		}
	})
	return plain
}

var plainResponseSent = check.Observed(plainResponse, "the server sent no plain JSON response")

func notTurnedDown(e *evidence.Case) *check.Verdict {
	if e.TurnedDown == "" {
		return nil
	}
	return instead(check.NotObserved("the server refused a request with %s", e.TurnedDown).Show(e.TurnedDownAt, ""))
}
