// Package consent judges clients with a user between the server and the model. The user may decline the request
// before the client calls the model (request.go), or the answer before it reaches the server (answer.go). The client
// then returns an error or, in 2026-07-28, does not retry the call. It may also refuse some of many concurrent
// requests (burst.go).
package consent

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Scenario is the chapter.
var Scenario = story.Retold(check.Scenario{
	ID:        "consent",
	Purpose:   "the user declines a request or an answer, or many requests arrive at once",
	Revisions: server.AllRevisions(),
	Cases:     []harness.Case{request, answer, fifty},
	Checks: []check.Check{
		declined, declinedCode, noModelCall, noMadeUpAnswer, declinedAfter, alive, burst,
	},
},
	story.Again([]string{"request", "answer"}, story.ToolsOffered, story.SecondRound, story.AfterImage),
)

// userDecides needs a client whose user decides as the run asks. Any other client may have no user: then only an
// error with the code -1 shows that it asked one.
func userDecides(e *evidence.Case) *check.Verdict {
	r := e.Rounds[0]
	declines := func(a evidence.Answer) bool { return a.Err != nil && a.Err.Code == evidence.CodeDeclined }
	if e.Session.Supports[harness.Decisions] || slices.ContainsFunc(r.Answers, declines) {
		return nil
	}
	return check.Instead(check.Unsupported("unknown whether the client asked a user: follow decision in "+
		"MCP_CONFORMANCE_CONTEXT, and %s; or answer its question: --answer 'PATTERN=YES|NO'",
		check.HowToDeclare(e.Session, harness.Decisions)).At(r.Asked))
}

// refusal is what a case expects in which the user declines.
func refusal(what string) check.Refusal {
	return check.Refusal{What: what, Codes: []int{evidence.CodeDeclined}, RefusesAll: true, MayBeEmpty: true}
}

func showResult(v check.Verdict, r *evidence.Round) check.Verdict {
	return v.At(r.Asked).ShowResult(r.Result())
}

var alive = check.Check{
	ID: "alive", Cases: []string{"request", "answer"},
	Rule:   "The session continues after the user declined",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{userDecides},
	Cause: "the exception for the refusal ends the connection or the client",
	Fix:   "Catch the exception in the sampling handler, and return it as the error of that one request.",
	Judge: func(e *evidence.Case) check.Verdict {
		ended := e.Session.Ended
		if len(e.Rounds[0].Answers) == 0 && !e.Revision.Modern() && ended != nil && ended.Deadline {
			return noResponse()
		}
		return check.Alive(e)
	},
}

// noResponse leaves a client without a response to consent/declined.
func noResponse() check.Verdict {
	return check.NotApplicable("the client sent no response (see consent/declined)")
}
