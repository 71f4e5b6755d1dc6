// Package cancel judges what a client does when the server cancels a sampling request, and how the client cancels a
// call of its own. Cancels of the server exist only up to 2025-11-25: in_flight.go, useless.go and crossing.go. The
// client's calls are in sampling_call.go, which it abandons while the model thinks, and in working_call.go, while the
// server works.
//
// Checks that pass show no messages: messages that cross come in another order each time, and the report of a correct
// client must not change.
package cancel

import (
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Scenario is the chapter.
var Scenario = story.Retold(check.Scenario{
	ID:        "cancel",
	Purpose:   "sampling requests that the server cancels, and calls that the client abandons",
	Revisions: server.AllRevisions(),
	Cases: []harness.Case{
		inFlight, unknownRequest, finishedRequest, notWellFormed, crossing, callWhileWorking, callWhileSampling,
	},
	Checks: []check.Check{
		stopsWork, noAnswer, unknownID, finishedID, malformedCancel, cancelNotAnswered,
		callerCancels, modelEnds, endedCall, noRetry, callCancelled, lateResponse,
	},
},
	story.Again([]string{"in-flight", "unknown-request", "finished-request", "crossing", "call-while-sampling"},
		story.ToolsOffered, story.SecondRound, story.AfterImage),
	story.Again([]string{"not-well-formed"}, story.ToolsOffered, story.SecondRound),
)

// legacy are the revisions in which a server sends requests, and so cancels them.
var legacy = check.Legacy

// gated is a case of the legacy revisions whose handler holds back the model's answers.
func gated(id string, handler func(*story.Gate) server.Handler) harness.Case {
	return story.Gated(harness.Case{ID: id, Revisions: legacy}, handler)
}

// prompt is how long after its cause a client may hang up on the model. One that does so later may have another cause.
const prompt = time.Second

// tooLate is the verdict for a client that hung up on the model long after the event that should have caused it.
func tooLate(cause string) check.Verdict {
	return check.Unsupported("expected the client to hang up on the model within %s of %s, found that it did so later, "+
		"perhaps at its own limit: let it wait 10 seconds or more for the model", prompt, cause)
}

// settled passes if it is settled that nothing more came after a place.
func settled(e *evidence.Case, after evidence.Place, pass string) check.Verdict {
	return check.UnsettledSince(e, after).Or(check.Pass("%s", pass))
}
