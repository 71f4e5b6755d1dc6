// Package tooluse judges sampling with tools, in turns with at most one tool use: the model uses a tool, the server
// runs it and samples again with the result. Then the same with many tools, with each tool choice, and with a model
// that breaks the rules.
//
// Each file tells a story: first the cases, in which the server asks and the scripted model answers, then their
// checks. This file has what several stories share. That the model gets the tools and the choice of the request, and
// the server what the model said, is a rule for every case: see package always.
package tooluse

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Scenario is the chapter.
var Scenario = story.InOne(check.Scenario{
	ID:        "tool-use",
	Purpose:   "the model asks for one tool, the server runs it",
	Revisions: check.WithTools,
	Cases: []harness.Case{
		oneTool, afterTalk, retold, bareBlocks, emptyResult, textBehind, bigInteger, oddNames, twoTurns, textBeside,
		sixtyFourTools, sixtyFiveTools,
		auto, required, none, noMode,
		noneDefied, requiredDefied, noTools, saysStop, invalidArguments, unknownTool,
	},
	Checks: []check.Check{
		stopReasonToolUse, toolNames, choiceNoneHolds, choiceNoneFiltered,
		StopBesideCalls, BadArguments, unofferedTool,
	},
}, &textBeside, &textBehind, &bareBlocks, &manyTools, &saysStop, &oneTool, &retold, &bigInteger, &dottedName, &twoTurns,
	&auto, &required, &none, &noMode)

// ToolUse is the first tool use of the scripted model. Input is JSON.
type ToolUse struct{ Name, Input string }

func (u ToolUse) String() string { return u.Name + "(" + evidence.Clip(u.Input) + ")" }

// call returns the model's answer with the tool use, by the name under which the tool is offered, behind other blocks.
func (u ToolUse) call(before ...llm.Block) func(*llm.Request) []llm.Block {
	return story.Answers(append(before, llm.Call(u.Name, u.Input))...)
}

// simpleBooking is a use of simpleFlight: [story.BookFlight] for cases that are not about schemas.
var (
	simpleBooking = ToolUse{"book_flight", `{"from":"Zürich","to":"Tokyo"}`}
	simpleFlight  = server.Tool{Name: story.BookFlight.Name, Description: story.BookFlight.Description,
		InputSchema: story.Object{"type": "object", "required": []string{"from", "to"},
			"properties": story.Object{"from": story.Object{"type": "string"}, "to": story.Object{"type": "string"}}}}
)

// flight returns a case of one sampling request with two tools and a tool choice, nil for none; the model answers by
// the rules. The case has a barrier: a client may refuse some of these requests, and what else it answers tells that
// from a client that answers nothing.
func flight(id string, choice *server.ToolChoice, rules ...*llm.Rule) harness.Case {
	return harness.Case{
		ID: "tool-use/" + id,
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask(question, simpleFlight, story.ListAirports)
			ask.ToolChoice = choice
			return s.Sample(ask)
		},
		Script:  func(string) []*llm.Rule { return rules },
		Barrier: true,
	}
}

// question is what the server asks in most cases. A rule for it does not answer a client that asks again, with an
// answer of the model behind it.
const question = "Book a flight from Zürich to Tokyo."

var asked = llm.LastUser("Book a flight")

// saidBy returns the model's answer in the nth sampling request (from 1), or the verdict for a client that has none:
// one that answers without the model, or whose model gave no whole answer.
func saidBy(e *evidence.Case, n int) (*dialect.DecodedReply, evidence.Place, *check.Verdict) {
	x := e.Rounds[n-1].LastExchange()
	switch {
	case x == nil:
		return nil, evidence.Place{}, check.Instead(check.NotApplicable(
			"the client answers sampling request %d without the model", n))
	case x.Reply() == nil:
		return nil, evidence.Place{}, check.Instead(check.NotObserved("the model did not answer%s", e.WhyNoResult(n)))
	}
	place := x.Place
	place.Label = "model said"
	return x.Reply(), place, nil
}

// modelUses needs tool uses in the model's answer to the nth sampling request (from 1).
func modelUses(n int) check.Need {
	return func(e *evidence.Case) *check.Verdict {
		reply, place, v := saidBy(e, n)
		if v == nil {
			v = check.Unless(len(evidence.Only(reply.Content, dialect.ToolUse)) > 0,
				check.NotApplicable("the model used no tool in answer %d", n).At(place))
		}
		return v
	}
}

// decodedParams needs params of the first sampling request that could be decoded.
func decodedParams(e *evidence.Case) *check.Verdict {
	r := e.Rounds[0]
	return check.Unless(r.Params != nil,
		check.NotObserved("the params of sampling request 1 cannot be decoded").At(r.Asked))
}

// returnsToolUse needs a tool use in the result of the nth sampling request (from 1). A rule of every case
// judges that it is there.
func returnsToolUse(n int) check.Need {
	return func(e *evidence.Case) *check.Verdict {
		if v := modelUses(n)(e); v != nil {
			return v
		}
		a := e.Rounds[n-1].Result()
		return check.Unless(len(a.Uses()) > 0,
			check.NotObserved("result %d has no tool use %s", n, evidence.See("always/server-was-given")).ShowResult(a))
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
		if how := check.HowRefused(e, e.Rounds[0]); how != "" {
			return check.Pass("the client refuses %s: %s", what, how)
		}
		a, v := check.ReadableResult(e, e.Rounds[0])
		if v != nil {
			return *v
		}
		return judge(e, a)
	}
}
