package mrtr

import (
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// The ids of the server's requests.
const (
	DirectSample = "direct-sample"
	DirectPing   = "direct-ping"
)

// The server sends requests, which 2026-07-28 does not have, before it responds to the call.
var (
	direct = sends("mrtr/direct", func(s *server.Session) []string {
		return []string{`"id":"` + DirectSample + `","method":"sampling/createMessage","params":` +
			string(story.JSON(s.Ask("Name a bird.")))}
	})
	ping = sends("mrtr/ping", func(*server.Session) []string {
		return []string{`"method":"notifications/message","params":{"level":"info","data":"birds ahead"}`,
			`"id":"` + DirectPing + `","method":"ping"`}
	})
)

// timeToRespond is how long the server waits for a forbidden response. In virtual time, any client is fast enough.
const timeToRespond = 100 * time.Millisecond

// sends is a case in which the server sends messages. It is isolated: the server refuses a response with an error, and
// the client may then end.
func sends(id string, messages func(*server.Session) []string) harness.Case {
	return harness.Case{ID: id, Script: story.Says("A stork."), Barrier: true, Isolated: true,
		Handler: ifSampling(func(s *server.Session) (any, error) {
			for _, m := range messages(s) {
				if err := s.Transport().Send([]byte(`{"jsonrpc":"2.0",` + m + `}`)); err != nil {
					return nil, err
				}
			}
			select { // once it has its result, a client may stop to respond
			case <-time.After(timeToRespond):
			case <-s.Context().Done():
			}
			return "done", nil
		})}
}

var directRequestUnanswered = check.Check{
	ID: "direct-request-unanswered", Rule: "The client MUST NOT respond to a sampling request that is a JSON-RPC request",
	Levels: must, Cases: []string{"direct"}, Needs: []check.Need{requestSent},
	Statements: []string{"streamable-http/06", "stdio/04"},
	Cause:      "the request handlers of older revisions are still registered",
	Fix:        "Since 2026-07-28, ignore requests of the server, or end the call that they came with.",
	Judge: func(e *evidence.Case) check.Verdict {
		var responses []evidence.Answer
		for _, a := range e.Session.UnmatchedResponses {
			if evidence.IDText(a.ID) == DirectSample {
				responses = append(responses, a)
			}
		}
		return noneOf(e, responses)
	},
}

var noResponses = check.Check{
	ID: "no-responses", Rule: "The client MUST NOT send JSON-RPC responses", Levels: must,
	Cases: []string{"direct", "ping"}, Needs: []check.Need{requestSent},
	Statements: []string{"streamable-http/06", "stdio/04", "basic/21"},
	Cause:      "a library for older revisions responds to every request, with a result or with error -32601",
	Fix:        "Since 2026-07-28, send requests and notifications only.",
	Judge:      func(e *evidence.Case) check.Verdict { return noneOf(e, e.Session.UnmatchedResponses) },
}

var requestSent = check.Observed(sentDirectly, "the server did not send such a request")

// noneOf judges that none of the responses came.
func noneOf(e *evidence.Case, responses []evidence.Answer) check.Verdict {
	asked := *sentDirectly(e)
	if len(responses) > 0 {
		return check.Fail("expected no JSON-RPC response from the client, found %d", len(responses)).
			ShowAs("server sent", asked, "").
			ShowAs("client sent", responses[0].Place, "a response for %s", check.OrMissing(responses[0].ID))
	}
	return check.UnsettledSince(e, asked).Or(check.Pass("the client sent no response").At(asked))
}

// sentDirectly returns the place of the server's last request in the case; nil for none.
func sentDirectly(e *evidence.Case) *evidence.Place {
	var last *evidence.Place
	for i := range e.Session.Trace.Events {
		ev := &e.Session.Trace.Events[i]
		if ev.Case != e.Case.ID || ev.Frame == nil || ev.Frame.Dir != trace.ToClient {
			continue
		}
		if m := e.Session.Message(ev); m.Method != "" && m.ID != nil {
			last = &evidence.Place{Ref: ev.Ref(), Path: "method", Label: m.Method}
		}
	}
	return last
}
