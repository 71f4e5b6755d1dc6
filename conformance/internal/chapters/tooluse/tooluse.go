// Package tooluse judges sampling with tools, in turns with at most one tool use: the model uses a tool, the server
// runs it and samples again with the result. Then the same with many tools, with each tool choice, and with a model
// that breaks the rules.
//
// Each file tells a story: first the cases, in which the server asks and the scripted model answers, then their
// checks. This file has what several stories share.
package tooluse

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Scenario is the chapter.
var Scenario = check.Scenario{
	ID:        "tool-use",
	Purpose:   "the model asks for one tool, the server runs it",
	Revisions: check.WithTools,
	Cases: []harness.Case{
		oneTool, twoTurns, textBeside, sixtyFourTools, sixtyFiveTools,
		auto, required, none, noMode,
		noneDefied, requiredDefied, noTools, saysStop, invalidArguments, unknownTool,
	},
	Checks: []check.Check{
		stopReasonToolUse, toolUseBlock, inputIntact, textAndTool, idGenerated, freshIDs, thoughtSignature, notExecuted,
		toolsReachModel, onlyTheseTools, manyTools,
		choiceAuto, choiceRequired, choiceNone, choiceEmpty, choiceNoneHolds, choiceNoneFiltered,
		requiredUnmet, noToolsNoUse, stopBesideCalls, badArguments, unofferedTool,
	},
}

// toolUse is the first tool use of the scripted model. Input is JSON.
type toolUse struct{ name, input string }

func (u toolUse) String() string { return u.name + "(" + evidence.Clip(u.input) + ")" }

// call returns the model's answer with the tool use.
func (u toolUse) call() llm.Block { return llm.Call(u.name, u.input) }

// simpleBooking is a use of simpleFlight: [story.BookFlight] for cases that are not about schemas.
var (
	simpleBooking = toolUse{"book_flight", `{"from":"Zürich","to":"Tokyo"}`}
	simpleFlight  = server.Tool{Name: story.BookFlight.Name, Description: story.BookFlight.Description,
		InputSchema: story.Object{"type": "object", "required": []string{"from", "to"},
			"properties": story.Object{"from": story.Object{"type": "string"}, "to": story.Object{"type": "string"}}}}
)

// modelSaid is the place of what the scripted model answers.
var modelSaid = evidence.Place{Label: "model said"}

// flight returns a case of one sampling request with two tools and a tool choice, nil for none; the model answers by
// the rules. The case has a barrier: a client may refuse some of these requests, and what else it answers tells that
// from a client that answers nothing.
func flight(id string, choice *server.ToolChoice, rules ...*llm.Rule) harness.Case {
	return harness.Case{
		ID: "tool-use/" + id,
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("Book a flight from Zürich to Tokyo.", simpleFlight, story.ListAirports)
			ask.ToolChoice = choice
			return s.Sample(ask)
		},
		Script:  func(string) []*llm.Rule { return rules },
		Barrier: true,
	}
}

// expecting returns the case with its expectation.
func expecting(expect any, c harness.Case) harness.Case {
	c.Expect = expect
	return c
}

// decodedParams needs params of the first sampling request that could be decoded.
func decodedParams(e *evidence.Case) *check.Verdict {
	r := e.Rounds[0]
	return check.Unless(r.Params != nil,
		check.NotObserved("the params of sampling request 1 cannot be decoded").At(r.Asked))
}

// returnsToolUse needs a tool use in the result of the nth sampling request (from 1). The check tool-use-block judges
// that it is there.
func returnsToolUse(n int) check.Need {
	return func(e *evidence.Case) *check.Verdict {
		a := e.Rounds[n-1].Result()
		return check.Unless(len(a.Uses()) > 0,
			check.NotObserved("result %d has no tool use (see tool-use/tool-use-block)", n).ShowResult(a))
	}
}

// dialectOf returns the dialect of the round's model request, "" for a request that could not be decoded.
func dialectOf(r *evidence.Round) string {
	if x := r.LastExchange(); x != nil && x.Request != nil {
		return x.Request.Dialect
	}
	return ""
}

// unlessRefused returns a judge of the client's first result. It passes a refusal.
func unlessRefused(
	what string, judge func(*evidence.Case, *evidence.Answer) check.Verdict,
) func(*evidence.Case) check.Verdict {
	return func(e *evidence.Case) check.Verdict {
		if how := check.Refusal(e, e.Rounds[0]); how != "" {
			return check.Pass("the client refuses %s: %s", what, how)
		}
		a, v := check.ReadableResult(e, e.Rounds[0])
		if v != nil {
			return *v
		}
		return judge(e, a)
	}
}
