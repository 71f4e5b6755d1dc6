package tooluse

import (
	"cmp"
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The server sets a tool choice, and the model obeys the choice that it receives.
var (
	auto     = chosen("auto", server.ToolChoice{Mode: dialect.ChoiceAuto})
	required = chosen("required", server.ToolChoice{Mode: dialect.ChoiceRequired})
	none     = chosen("none", server.ToolChoice{Mode: dialect.ChoiceNone})
	noMode   = chosen("no-mode", server.ToolChoice{})
)

func chosen(id string, choice server.ToolChoice) harness.Case {
	return flight(id, &choice,
		llm.When(llm.Choice(dialect.ChoiceNone)).Reply(llm.Text("I would book it, if I might.")),
		llm.When(story.Offers("book_flight")).ReplyFunc(simpleBooking.call()),
		llm.When().Reply(llm.Text("I have no tool to book it with.")),
	)
}

// choiceAndTools describes what a request allows the model.
func choiceAndTools(r *dialect.Request) string {
	return fmt.Sprintf("tool choice %s, %s", cmp.Or(r.ToolChoice, "nothing, which means auto"), story.Names(r.Tools))
}

// The model uses a tool although the tool choice is none, or although no tool is offered.
var (
	noneDefied = flight("none-defied", &server.ToolChoice{Mode: dialect.ChoiceNone},
		llm.When().ReplyFunc(simpleBooking.call(llm.Text("As you like."))))

	noTools = story.Once("tool-use/no-tools",
		func(s *server.Session) any { return s.Ask(question) },
		llm.When().ReplyFunc(simpleBooking.call(llm.Text("I will."))))
)

var noneForbidsTools = []string{"sampling/11"}

// choiceNoneHolds judges the obedient model of the case none.
var choiceNoneHolds = check.Check{
	ID: "choice-none-holds", Cases: []string{"none"}, Statements: noneForbidsTools,
	Rule:   "The client MUST NOT return a tool use under the tool choice none",
	Levels: check.Must, Requests: 1, Needs: []check.Need{decodedParams},
	Cause: "toolChoice is not passed on, so the model uses a tool",
	Fix:   "Pass the tool choice on, or offer the model no tools.",
	Judge: unlessRefused("the tool use", func(e *evidence.Case, a *evidence.Answer) check.Verdict {
		return judgeNoUse(e, a).At(e.Rounds[0].Asked.At("toolChoice"))
	}),
}

var choiceNoneFiltered = check.Check{
	ID: "choice-none-filtered", Cases: []string{"none-defied"}, Statements: noneForbidsTools,
	Rule:   "A tool use that the model makes despite the tool choice none does not reach the server",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{decodedParams, mayUseTools},
	Cause: "the client relies on the model to obey the tool choice",
	Fix:   "Remove tool uses from the result if the server's tool choice is none, or return an error.",
	Judge: unlessRefused("the tool use", judgeNoUse),
}

// mayUseTools needs a model that was offered tools, if it was asked: nobody can be blamed for a model that uses a tool
// without.
func mayUseTools(e *evidence.Case) *check.Verdict {
	x := e.Rounds[0].LastExchange()
	return check.Unless(x == nil || x.Request == nil || len(x.Request.Tools) > 0,
		check.NotApplicable("the client offers the model no tools"))
}

// judgeNoUse passes a result without a tool use.
func judgeNoUse(e *evidence.Case, a *evidence.Answer) check.Verdict {
	r := e.Rounds[0]
	if uses := a.Uses(); len(uses) > 0 {
		return check.Fail("expected no tool use in the result, found %d", len(uses)).
			ShowAs("server sent", r.Asked, "%s", choiceAndTools(r.Params)).
			ShowJSON(a.At(uses[0].Path), uses[0].Raw)
	}
	return check.Pass("the client returned no tool use").At(a.At("content"))
}
