package tooluse

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The server sets a tool choice, and the model obeys the choice that it receives. The expectation is the choice that
// must reach the model.
var (
	auto     = chosen("auto", dialect.ChoiceAuto, server.ToolChoice{Mode: dialect.ChoiceAuto})
	required = chosen("required", dialect.ChoiceRequired, server.ToolChoice{Mode: dialect.ChoiceRequired})
	none     = chosen("none", dialect.ChoiceNone, server.ToolChoice{Mode: dialect.ChoiceNone})
	noMode   = chosen("no-mode", dialect.ChoiceAuto, server.ToolChoice{})
)

func chosen(id, expect string, choice server.ToolChoice) harness.Case {
	return expecting(expect, flight(id, &choice,
		llm.When(llm.Choice(dialect.ChoiceNone)).Reply(llm.Text("I would book it, if I might.")),
		llm.When(llm.Offers("book_flight")).Reply(simpleBooking.call()),
		llm.When().Reply(llm.Text("I have no tool to book it with.")),
	))
}

var choiceAuto = check.Check{
	ID: "choice-auto", Cases: []string{"auto"},
	Rule:   "The tool choice auto reaches the model, or is omitted, which means the same",
	Levels: check.Robust, Requests: 1,
	Cause: "the tool choice for the client's own tools is sent with every request",
	Fix:   "Send the provider's term for auto, or omit the tool choice.",
	Judge: judgeChoice,
}

var choiceRequired = check.Check{
	ID: "choice-required", Cases: []string{"required"},
	Statements: []string{"2025-11-25/sampling/09", "2026-07-28/sampling/10"},
	Rule:       "The tool choice required reaches the model, in the provider's term",
	Levels:     check.Robust, Requests: 1,
	Cause: "toolChoice is not passed on, so the model may answer without a tool",
	Fix:   `Send the provider's term: "required" to OpenAI, {"type":"any"} to Anthropic, ANY to Gemini.`,
	Judge: judgeChoice,
}

var choiceNone = check.Check{
	ID: "choice-none", Cases: []string{"none"},
	Rule:   "The tool choice none reaches the model, in the provider's term, or the model receives no tools",
	Levels: check.Robust, Requests: 1,
	Cause: "toolChoice is not passed on, and an omitted tool choice means auto",
	Fix:   `Send the provider's term: "none" to OpenAI, {"type":"none"} to Anthropic, NONE to Gemini. Or omit the tools.`,
	Judge: judgeChoice,
}

var choiceEmpty = check.Check{
	ID: "choice-empty", Cases: []string{"no-mode"},
	Statements: []string{"2025-11-25/schema/ToolChoice", "2026-07-28/schema/ToolChoice"},
	Rule:       "The client MUST treat a toolChoice without a mode as auto",
	Levels:     check.Must, Requests: 1,
	Cause: "the mode is expected to be set, so an empty one is passed on to the provider, or is an error",
	Fix:   "Treat a missing mode as auto.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := check.RefusalWithTools(e, r); how != "" && len(r.Model) == 0 {
			return check.Fail("expected a toolChoice without a mode to be accepted, found a refusal: %s", how).
				Show(r.Asked.At("toolChoice"), "{}")
		}
		return judgeChoice(e)
	},
}

// judgeChoice compares the tool choice that the model received with the expected one.
func judgeChoice(e *evidence.Case) check.Verdict {
	r, want := e.Rounds[0], check.Expected[string](e)
	if how := check.RefusalWithTools(e, r); how != "" && len(r.Model) == 0 {
		return check.Warn("expected the tool choice %s to be accepted, found a refusal: %s", want, how).
			Show(r.Asked.At("toolChoice"), "%q", want)
	}
	x, v := check.ModelRequest(r)
	if v != nil {
		return *v
	}
	return compareChoice(e.Session, x, want).ShowAs("server sent", r.Asked.At("toolChoice"), "%q", want).
		ShowAs("model received", x.Place, "%s", choiceAndTools(x.Request))
}

func compareChoice(s *evidence.Session, x *evidence.Exchange, want string) check.Verdict {
	got, tools := x.Request.ToolChoice, x.Request.Tools
	switch {
	case x.End.Refused != "" && !modelAcceptsTools(s):
		return check.NotObserved("the model refuses all tools of this client (see tool-use/tools-reach-model): %s",
			x.End.Refused)
	case x.End.Refused != "":
		return check.Fail("expected a valid tool choice %s in the model request, the model refused it: %s",
			want, x.End.Refused)
	case want == dialect.ChoiceNone && (got == want || len(tools) == 0):
		return check.Pass("the model was not allowed to use a tool")
	case len(tools) == 0:
		return check.NotObserved("the model was offered no tools (see tool-use/tools-reach-model)")
	case got == want, want == dialect.ChoiceAuto && got == "":
		return check.Pass("the tool choice %s reached the model", want)
	case x.Request.Dialect == dialect.Ollama:
		return check.Info("Ollama has no tool choice %s", want)
	}
	return check.Fail("expected the tool choice %s in the model request, found %s", want, choiceText(got))
}

// modelAcceptsTools reports whether the model answered any request of the session that offers it tools.
func modelAcceptsTools(s *evidence.Session) bool {
	for _, exchanges := range s.Exchanges {
		if slices.ContainsFunc(exchanges, func(x *evidence.Exchange) bool {
			return x.End.Status == 200 && x.Request != nil && len(x.Request.Tools) > 0
		}) {
			return true
		}
	}
	return false
}

func choiceText(choice string) string {
	return cmp.Or(choice, "nothing, which means auto")
}

// choiceAndTools describes what a request allows the model.
func choiceAndTools(r *dialect.Request) string {
	return fmt.Sprintf("tool choice %s, %s", choiceText(r.ToolChoice), story.Names(r.Tools))
}

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
	Levels: check.Must, Requests: 1, Needs: []check.Need{decodedParams},
	Cause: "toolChoice is not passed on, so the model uses a tool",
	Fix:   "Pass the tool choice on, or offer the model no tools.",
	Judge: unlessRefused("the tool use", judgeNoUse),
}

var choiceNoneFiltered = check.Check{
	ID: "choice-none-filtered", Cases: []string{"none-defied"}, Statements: noneForbidsTools,
	Rule:   "A tool use that the model makes despite the tool choice none does not reach the server",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{decodedParams},
	Cause: "the client relies on the model to obey the tool choice",
	Fix:   "Remove tool uses from the result if the server's tool choice is none, or return an error.",
	Judge: unlessRefused("the tool use", judgeNoUse),
}

var noToolsNoUse = check.Check{
	ID: "no-tools-no-use", Cases: []string{"no-tools"},
	Rule:   "The client returns no tool use for a request without tools",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{decodedParams},
	Cause: "the host's own tools are in the model request, or a tool use that the model invented is passed on",
	Fix:   "Offer the model no tools if the request has none, and remove invented tool uses from the result.",
	Judge: unlessRefused("the tool use", judgeNoUse),
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
