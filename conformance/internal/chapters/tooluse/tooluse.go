package tooluse

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// bookFlight has a schema with most of what schemas have; listAirports has nothing in it.
var ()

// simpleFlight is bookFlight with a schema of which no client makes anything wrong, for cases that are not about schemas.
var simpleFlight = server.Tool{Name: tracetest.BookFlight.Name, Description: tracetest.BookFlight.Description, InputSchema: story.Object{"type": "object",
	"properties": story.Object{"from": story.Object{"type": "string"}, "to": story.Object{"type": "string"}}, "required": []string{"from", "to"}}}

// beside is what the model says beside a tool use.
const beside = "Let me book that flight."

// The model asks for one tool of two; the server runs it and asks again with the result. Then the same with little to it, with much to
// it, under each choice that a server can make, and with a model that does what it should not.
var Scenario = check.Scenario{
	ID:        "tool-use",
	Purpose:   "the model asks for one tool, the server runs it",
	Revisions: check.WithTools,
	Cases: slices.Concat([]harness.Case{{
		ID: "tool-use/one-tool",
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("Book a flight from Zürich to Tokyo.", tracetest.BookFlight, tracetest.ListAirports)
			first, err := s.Sample(ask)
			if err != nil {
				return nil, err
			}
			return s.Sample(ask.After(first, story.Texts("booked as flight seventeen")))
		},
		Script: func(string) []*llm.Rule {
			return llm.Script(
				llm.When(llm.Turn(1)).Reply(llm.Call("book_flight", tracetest.Booking)),
				llm.When(llm.Turn(2)).Reply(llm.Text("Your flight is booked.")),
			)
		},
	}, {
		ID: "tool-use/two-turns", // one tool in each, the same, and nothing in its input
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("Where can I fly to?", simpleFlight, tracetest.ListAirports)
			first, err := s.Sample(ask)
			if err != nil {
				return nil, err
			}
			next := ask.After(first, story.Texts("none is open yet"))
			second, err := s.Sample(next)
			if err != nil {
				return nil, err
			}
			return s.Sample(next.After(second, story.Texts("Zürich and Tokyo")))
		},
		Script: func(string) []*llm.Rule {
			return llm.Script(
				llm.When(llm.Turn(1)).Reply(llm.Call("list_airports", `{}`)),
				llm.When(llm.Turn(2)).Reply(llm.Call("list_airports", `{}`)),
				llm.When(llm.Turn(3)).Reply(llm.Text("To Zürich and to Tokyo.")),
			)
		},
	},
		flight("tool-use/text-beside", nil, llm.When().Reply(llm.Text(beside), llm.Call("book_flight", short))),
		manyTools("tool-use/sixty-four-tools", 64),
		manyTools("tool-use/sixty-five-tools", 65),
	}, choiceCases, faultCases),
	Checks: []check.Check{
		stopReasonToolUse, toolUseBlock, inputIntact, textAndTool, idMinted, freshIDs, thoughtSignature, notExecuted,
		toolsReachModel, onlyTheseTools, manyToolsWork,
		choiceAuto, choiceRequired, choiceNone, choiceEmpty, choiceNoneHolds, choiceNoneFiltered,
		requiredUnmet, noToolsNoUse, stopBesideCalls, badArguments, unofferedTool,
	},
}

// short is an input without peculiarities.
const short = `{"from":"Zürich","to":"Tokyo"}`

// flight is a case of one sample: the tools are offered under a choice, nil for none, and the model answers by the rules. A client may refuse
// some of these, which can be told from a client that answers nothing by what else it answers: so there is something else.
func flight(id string, choice *server.ToolChoice, rules ...*llm.Rule) harness.Case {
	return harness.Case{
		ID: id,
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("Book a flight from Zürich to Tokyo.", simpleFlight, tracetest.ListAirports)
			ask.ToolChoice = choice
			return s.Sample(ask)
		},
		Script:  func(string) []*llm.Rule { return rules },
		Barrier: true,
	}
}

// manyTools is a case with n tools, of which the model wants the last.
func manyTools(id string, n int) harness.Case {
	tools := numbered(n)
	return harness.Case{
		ID:      id,
		Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Use the last tool.", tools...)) },
		Script: func(string) []*llm.Rule {
			return llm.Script(llm.When().Reply(llm.Call(tools[n-1].Name, `{"value":1}`)))
		},
		Barrier: true,
	}
}
