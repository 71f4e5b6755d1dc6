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

var choiceAccepted = check.Check{
	ID: "choice-accepted", Cases: []string{"auto", "required", "none"},
	Rule:   "The client accepts every tool choice, and gives it to the model in the provider's term",
	Levels: check.Robust, Requests: 1,
	Cause: "the tool choice is passed on in MCP's form, or in that of another provider",
	Fix: `Send the provider's term. For required it is "required" to OpenAI, {"type":"any"} to Anthropic, ANY to Gemini.` +
		` For none it is "none", {"type":"none"}, NONE, or no tools.`,
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := refusedAlone(e); how != "" {
			return check.Warn("expected the tool choice to be accepted, found a refusal: %s", how).
				ShowJSON(r.Asked.At("toolChoice"), choiceOf(r))
		}
		x, v := acceptedChoice(e)
		if v != nil {
			return *v
		}
		return check.Pass("the model accepts the tool choice").Show(x.Place, "%s", choiceAndTools(x.Request))
	},
}

var choiceEmpty = check.Check{
	ID: "choice-empty", Cases: []string{"no-mode"},
	Statements: []string{"schema/ToolChoice"},
	Rule:       "The client MUST treat a toolChoice without a mode as auto",
	Levels:     check.Must, Requests: 1,
	Cause: "the mode is expected to be set, so an empty one is passed on to the provider, or is an error",
	Fix:   "Treat a missing mode as auto.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := refusedAlone(e); how != "" {
			return check.Fail("expected a toolChoice without a mode to be accepted, found a refusal: %s", how).
				Show(r.Asked.At("toolChoice"), "{}")
		}
		x, v := acceptedChoice(e)
		switch {
		case v != nil:
			return *v
		case len(x.Request.Tools) == 0:
			return check.NotApplicable("the model was offered no tools (see always/model-was-given)").At(x.Place)
		}
		verdict := check.Pass("the tool choice auto reached the model")
		if got := x.Request.ToolChoice; cmp.Or(got, dialect.ChoiceAuto) != dialect.ChoiceAuto {
			verdict = check.Fail("expected the tool choice auto in the model request, found %s", got)
		}
		return verdict.ShowAs("server sent", r.Asked.At("toolChoice"), "{}").
			ShowAs("model received", x.Place, "%s", choiceAndTools(x.Request))
	},
}

// refusedAlone returns how the client refused the request by itself, without the model; "" if it did not.
func refusedAlone(e *evidence.Case) string {
	if len(e.Rounds[0].Model) > 0 {
		return ""
	}
	return check.RefusalWithTools(e, e.Rounds[0])
}

// choiceOf returns the tool choice that the server sent.
func choiceOf(r *evidence.Round) []byte { return evidence.ObjectOf(r.Raw)["toolChoice"] }

// acceptedChoice returns the request to the model, or the verdict for one that the model refused for its tool choice.
func acceptedChoice(e *evidence.Case) (*evidence.Exchange, *check.Verdict) {
	r := e.Rounds[0]
	if v := check.AsksModel(e); v != nil {
		return nil, v
	}
	x, v := check.ModelRequest(r)
	switch {
	case v != nil || x.End.Refused == "":
		return x, v
	case !modelAcceptsTools(e.Session):
		return nil, check.Instead(check.NotApplicable("the model refuses all tools of this client (see "+
			"tool-use/tools-accepted): %s", x.End.Refused))
	}
	return nil, check.Instead(check.Fail("expected a valid tool choice in the model request, the model refused it: %s",
		x.End.Refused).ShowAs("server sent", r.Asked.At("toolChoice"), "%s", choiceOf(r)).
		ShowAs("model received", x.Place, "%s", choiceAndTools(x.Request)))
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
	Judge: unlessRefused("the tool use", judgeNoUse),
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
