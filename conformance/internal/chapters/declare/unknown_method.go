package declare

import (
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

const (
	// unknownName is a method that no revision has, as a later one or an extension may have it.
	unknownName = "example/greet"
	// refusalPatience is how long the server waits for the refusal. A correct client sends it at once.
	refusalPatience = 5 * time.Second
)

// The server makes a request of a method that the client does not know, and then samples.
var unknownMethod = harness.Case{
	ID: "declare/unknown-method", Revisions: check.NewestLegacy, Barrier: true, Isolated: true,
	Handler: func(s *server.Session) (any, error) {
		greeting, err := s.Start(story.Object{"name": "Ada"}, server.Method(unknownName), server.Hostile())
		if err != nil {
			return nil, err
		}
		story.WaitFor(refusalPatience, greeting.Done(), s.Context().Done())
		return s.Sample(s.Ask("Which river flows through Vienna?"))
	},
	Script: callsTools,
}

var unknownMethodRefused = check.Check{
	ID: "unknown-method-refused", Cases: []string{"unknown-method"},
	Rule:   "The client responds with an error to a request of a method that it does not know",
	Levels: check.InNewestLegacy(report.Robust),
	Cause:  "the client skips requests that it has no handler for, so the server waits for a response that never comes",
	Fix:    "Respond to every request. Return the error -32601 for a method that the client does not know.",
	Judge: func(e *evidence.Case) check.Verdict {
		greetings := e.ServerRequests(unknownName)
		if len(greetings) == 0 {
			return check.NotObserved("the case ended before the request of an unknown method%s", e.WhyNoResult(1))
		}
		greeting := greetings[0]
		refusal := greeting.Response
		switch {
		case refusal == nil:
			return check.UnsettledAfter(e.Session, greeting.Place, "whether the request gets a response is unknown").
				Or(check.Missing("expected an error for a request of the unknown method %s, found no response", unknownName).
					At(greeting.Place))
		case refusal.Err == nil:
			return check.Fail("expected an error for a request of the unknown method %s, found a result", unknownName).
				ShowRequest(greeting)
		case refusal.Err.Code != evidence.CodeMethodNotFound:
			return check.Warn("expected the error code %d for a request of the unknown method %s, found %d",
				evidence.CodeMethodNotFound, unknownName, refusal.Err.Code).ShowRequest(greeting)
		}
		return check.Pass("the client refused a request of the unknown method %s", unknownName).
			At(greeting.Place, refusal.Place)
	},
}
