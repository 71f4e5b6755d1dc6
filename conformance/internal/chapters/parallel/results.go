package parallel

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// The results are alike, except that the last tool failed. Only isError tells the model.
var failingTool = weather("failing-tool", story.OneFails, "Paris", "London", "Atlantis")

// resultsReachModel counts the results of two-cities, in uses.go. What is in them is left to always/model-was-given.
var resultsReachModel = check.Check{
	ID: "results-reach-model", Cases: []string{"two-cities"}, Statements: requirements.Balance,
	Rule:   "All tool results reach the model, which accepts them",
	Levels: check.Robust, Requests: 2, Needs: []check.Need{check.AsksModel, check.ModelReadsRequest(2)},
	Cause: "the converter stops after the first tool_result of a message, or joins all of them",
	Fix: "Map every tool_result block to a result of the provider: with OpenAI, one tool message each; with Anthropic, " +
		"all at the beginning of the next user message.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, x := e.Rounds[1], e.Rounds[1].LastExchange()
		sent := evidence.BlocksOf(r.Params.LastUserTurn(), dialect.ToolResult)
		received := evidence.BlocksOf(x.Request.Messages, dialect.ToolResult)
		v, why := check.Pass("all %d results reached the model", len(sent)), ""
		switch {
		case len(received) < len(sent):
			v = check.Fail("expected %d tool results in the model request, found %d", len(sent), len(received))
		case x.End.Refused != "":
			v = check.Fail("expected a valid model request with the tool results, the model refused it")
		}
		if x.End.Refused != "" {
			why = "\nthe model refused it: " + x.End.Refused
		}
		return v.ShowAs("server sent", r.Asked, "%s", evidence.Describe(sent)).
			ShowAs("model received", x.Place, "%s", fmt.Sprint(evidence.Describe(received), why))
	},
}
