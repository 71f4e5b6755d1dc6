package tooluse

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The model uses a tool although the tool choice is none, or although no tool is offered.
var (
	noneDefied = flight("none-defied", &server.ToolChoice{Mode: dialect.ChoiceNone},
		llm.When().Reply(llm.Text("As you like."), simpleBooking.call()))

	noTools = story.Once("tool-use/no-tools",
		func(s *server.Session) any { return s.Ask("Book a flight from Zürich to Tokyo.") },
		llm.When().Reply(llm.Text("I will."), simpleBooking.call()))
)

var noneForbidsTools = []string{"2025-11-25/sampling/10", "2026-07-28/sampling/11"}

// choiceNoneHolds judges the obedient model of the case none.
var choiceNoneHolds = check.Check{
	ID: "choice-none-holds", Cases: []string{"none"}, Statements: noneForbidsTools,
	Rule:   "The client MUST NOT return a tool use under the tool choice none",
	Levels: check.Everywhere(report.Must), Requests: 1, Needs: []check.Need{decodedParams},
	Cause: "toolChoice is not passed on, so the model uses a tool",
	Fix:   "Pass the tool choice on, or offer the model no tools.",
	Judge: judgeNoUse,
}

var choiceNoneFiltered = check.Check{
	ID: "choice-none-filtered", Cases: []string{"none-defied"}, Statements: noneForbidsTools,
	Rule:   "A tool use that the model makes despite the tool choice none does not reach the server",
	Levels: check.Everywhere(report.Robust), Requests: 1, Needs: []check.Need{decodedParams},
	Cause: "the client relies on the model to obey the tool choice",
	Fix:   "Remove tool uses from the result if the server's tool choice is none, or return an error.",
	Judge: judgeNoUse,
}

var noToolsNoUse = check.Check{
	ID: "no-tools-no-use", Cases: []string{"no-tools"},
	Rule:   "The client returns no tool use for a request without tools",
	Levels: check.Everywhere(report.Robust), Requests: 1, Needs: []check.Need{decodedParams},
	Cause: "the host's own tools are in the model request, or a tool use that the model invented is passed on",
	Fix:   "Offer the model no tools if the request has none, and remove invented tool uses from the result.",
	Judge: judgeNoUse,
}

// judgeNoUse passes a result without a tool use, or a refusal.
func judgeNoUse(e *evidence.Case) check.Verdict {
	r := e.Rounds[0]
	if how := check.Refusal(e, r); how != "" {
		return check.Pass("the client returned no tool use but a refusal: %s", how)
	}
	a, v := check.ReadableResult(e, r)
	if v != nil {
		return *v
	}
	if uses := a.Uses(); len(uses) > 0 {
		return check.Fail("expected no tool use in the result, found %d", len(uses)).
			ShowAs("server sent", r.Asked, "%s", choiceAndTools(r.Params)).
			ShowJSON(a.At(uses[0].Path), uses[0].Raw)
	}
	return check.Pass("the client returned no tool use").Show(a.At("content"), "")
}
