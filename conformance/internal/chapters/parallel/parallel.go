// Package parallel judges turns with several tool uses at once: all uses reach the server, and all results reach the
// model. Then the same with 33 tool uses, a late end of a stream, a tool that fails, and results that are more than
// one text.
//
// Each file tells a story: first the cases, in which the server asks and the scripted model answers, then their
// checks. This file has what several stories share. That the server gets every tool use, and the model every result, is
// a rule for every case: see package always.
package parallel

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Scenario is the chapter.
var Scenario = story.InOne(check.Scenario{
	ID:        "parallel",
	Purpose:   "several tools asked for at once, all results back to the model",
	Revisions: check.WithTools,
	Cases: slices.Concat([]harness.Case{twoCities, failingTool, lateFragment, interleaved, repeatedNames,
		thirtyThree, alike}, richResults),
	Checks: []check.Check{
		streamedUses, lateDelta, resultsReachModel,
	},
}, &twoCities, &emptyResult, &interleaved, &mixed, &lateFragment, &repeatedNames, &thirtyThree, &alike, &emptyFailure)

// weather returns a case in which the model uses a tool for all cities at once, and the server sends the results. The
// case has a barrier: a client may refuse some of these requests, and what else it answers tells that from a client
// that answers nothing.
// It is not inlined: its closures would be in the binary once for each case.
//
//go:noinline
func weather(id string, results story.Results, cities ...string) harness.Case {
	return harness.Case{
		ID: "parallel/" + id,
		Handler: func(s *server.Session) (any, error) {
			return story.TwoRounds(s, s.Ask("What is the weather like there?", story.GetWeather), results)
		},
		Script: func(string) []*llm.Rule {
			return []*llm.Rule{
				llm.When(story.WithResults()).Reply(llm.Text("That is the weather.")),
				llm.When().ReplyFunc(story.Answers(story.Calls(cities)...)),
			}
		},
		Barrier: true,
	}
}
