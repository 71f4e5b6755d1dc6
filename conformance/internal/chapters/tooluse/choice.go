package tooluse

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The server says whether the model may, must or must not use a tool, and the model does as it is told, as far as it is told.
var choiceCases = []harness.Case{
	flight("tool-use/auto", &server.ToolChoice{Mode: dialect.ChoiceAuto}, obedient...),
	flight("tool-use/required", &server.ToolChoice{Mode: dialect.ChoiceRequired}, obedient...),
	flight("tool-use/none", &server.ToolChoice{Mode: dialect.ChoiceNone}, obedient...),
	flight("tool-use/no-mode", &server.ToolChoice{}, obedient...),
}

// obedient is a model that uses a tool where it has one and nobody forbids it.
var obedient = llm.Script(
	llm.When(llm.Choice(dialect.ChoiceNone)).Reply(llm.Text("I would book it, if I might.")),
	llm.When(llm.Offers("book_flight")).Reply(llm.Call("book_flight", short)),
	llm.When().Reply(llm.Text("I have no tool to book it with.")),
)

var choiceAuto = check.Check{
	ID: "choice-auto", Rule: "the tool choice auto reaches the model, or is left out, which means the same", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"auto"},
	Cause: "a choice that the client makes for its own tools is sent with every request",
	Fix:   "send the provider's word for auto, or none at all",
	Judge: func(e *evidence.Case) check.Verdict { return judgeChoice(e, dialect.ChoiceAuto) },
}

var choiceRequired = check.Check{
	ID: "choice-required", Rule: "the tool choice required reaches the model in the provider's own word", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases:      []string{"required"},
	Statements: []string{"2025-11-25/sampling/09", "2026-07-28/sampling/10"},
	Cause:      "toolChoice is not passed on, so that the model is free to answer without a tool",
	Fix:        `send the provider's word: "required" with OpenAI, {"type":"any"} with Anthropic, ANY with Gemini`,
	Judge:      func(e *evidence.Case) check.Verdict { return judgeChoice(e, dialect.ChoiceRequired) },
}

var choiceNone = check.Check{
	ID: "choice-none", Rule: "the tool choice none reaches the model in the provider's own word, or the model is given no tools", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"none"},
	Cause: "toolChoice is not passed on, and a choice that is left out means auto",
	Fix:   `send the provider's word: "none" with OpenAI, {"type":"none"} with Anthropic, NONE with Gemini; or leave the tools out`,
	Judge: func(e *evidence.Case) check.Verdict { return judgeChoice(e, dialect.ChoiceNone) },
}

// judgeChoice holds the choice that the model was given against the server's.
func judgeChoice(e *evidence.Case, mode string) check.Verdict {
	r := e.Rounds[0]
	if how := check.RefusalWithTools(e, r); how != "" && len(r.Model) == 0 {
		return check.Warn("the client declares sampling.tools, and does not serve the tool choice %s: %s", mode, how).Show(r.Asked.At("toolChoice"), "%q", mode)
	}
	x, missing := check.ModelRequest(r)
	if missing != nil {
		return *missing
	}
	got, tools := x.Request.ToolChoice, x.Request.Tools
	tell := func(v check.Verdict) check.Verdict {
		return v.ShowAs("server sent", r.Asked.At("toolChoice"), "%q", mode).ShowAs("model was given", x.Place, "%s, and %s", choiceText(got), story.Names(tools))
	}
	switch {
	case x.End.Refused != "" && !toolsTaken(e.Session):
		return tell(check.NotObserved("the model takes no request with tools of this client's (see tool-use/tools-reach-model): %s", x.End.Refused))
	case x.End.Refused != "":
		return tell(check.Fail("the model refused what the client made of the tool choice %s: %s", mode, x.End.Refused))
	case mode == dialect.ChoiceNone && (got == mode || len(tools) == 0):
		return tell(check.Pass("the model was told to use no tool"))
	case len(tools) == 0:
		return tell(check.NotObserved("the model was offered no tools to choose from (see tool-use/tools-reach-model)"))
	case got == mode, mode == dialect.ChoiceAuto && got == "":
		return tell(check.Pass("the tool choice %s reached the model", mode))
	case x.Request.Dialect == dialect.Ollama:
		return tell(check.Info("Ollama has no word for the tool choice %s", mode))
	}
	return tell(check.Fail("the server's tool choice is %s, and the model was given %s", mode, choiceText(got)))
}

// toolsTaken reports whether the model answered any request of the session that offers it tools.
func toolsTaken(s *evidence.Session) bool {
	for _, exchanges := range s.Exchanges {
		if slices.ContainsFunc(exchanges, func(x *evidence.Exchange) bool {
			return x.End.Status == 200 && x.Request != nil && len(x.Request.Tools) > 0
		}) {
			return true
		}
	}
	return false
}

// choiceText is a tool choice in words.
func choiceText(choice string) string {
	if choice == "" {
		return "none at all, which means auto"
	}
	return fmt.Sprintf("%q", choice)
}

var choiceEmpty = check.Check{
	ID: "choice-empty", Rule: "a toolChoice without a mode is auto", Levels: check.Everywhere(report.Must), Requests: 1, Cases: []string{"no-mode"},
	Statements: []string{"2025-11-25/schema/ToolChoice", "2026-07-28/schema/ToolChoice"},
	Cause:      "the mode is read as if it were always there, and an empty word is passed on to the provider, or is an error",
	Fix:        "treat a missing mode as auto",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := check.RefusalWithTools(e, r); how != "" && len(r.Model) == 0 {
			return check.Fail("the client does not serve a toolChoice without a mode, which is a valid one: %s", how).Show(r.Asked.At("toolChoice"), "{}")
		}
		return judgeChoice(e, dialect.ChoiceAuto)
	},
}

var choiceNoneHolds = check.Check{
	ID: "choice-none-holds", Rule: "under the tool choice none no tool use comes back", Levels: check.Everywhere(report.Must), Requests: 1, Cases: []string{"none"},
	Statements: []string{"2025-11-25/sampling/10", "2026-07-28/sampling/11"},
	Cause:      "toolChoice is not passed on, so that the model uses a tool that it must not use",
	Fix:        "pass the tool choice on, or offer the model no tools",
	Judge:      noUse("under the tool choice none"),
}

var choiceNoneFiltered = check.Check{
	ID: "choice-none-filtered", Rule: "a tool use that the model makes in spite of the tool choice none does not reach the server", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases:      []string{"none-defied"},
	Statements: []string{"2025-11-25/sampling/10", "2026-07-28/sampling/11"},
	Cause:      "the client trusts the model to do as it is told",
	Fix:        "leave tool uses out of the answer where the server's tool choice is none, or answer with an error",
	Judge:      noUse("under the tool choice none"),
}

// noUse is a judge that wants an answer without a tool use, or an error; when says under what conditions.
func noUse(when string) func(*evidence.Case) check.Verdict {
	return func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if r.Params == nil {
			return check.NotObserved("the params of sampling request 1 cannot be decoded").Show(r.Asked, "")
		}
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("no tool use came back %s, but an error: %s", when, how)
		}
		a, unread := check.ReadableResult(e, r)
		if unread != nil {
			return *unread
		}
		if uses := a.Uses(); len(uses) > 0 {
			return check.Fail("%s a tool use came back", when).ShowAs("server sent", r.Asked, "the tool choice %s, and %s", choiceText(r.Params.ToolChoice), story.Names(r.Params.Tools)).Show(a.At(uses[0].Path), "%s", evidence.Compact(uses[0].Raw))
		}
		return check.Pass("no tool use came back %s", when).Show(a.At("content"), "")
	}
}
