package conformance

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// bookFlight has a schema with most of what schemas have; listAirports has nothing in it.
var (
	bookFlight = server.Tool{Name: "book_flight", Description: "Books a flight, <direct> ones first", InputSchema: object{
		"type": "object",
		"properties": object{
			"from":      object{"type": "string", "description": "city of departure", "minLength": 1},
			"to":        object{"type": "string"},
			"class":     object{"type": "string", "enum": []string{"economy", "business"}, "default": "economy"},
			"seats":     object{"type": "array", "maxItems": 9, "items": object{"type": "object", "properties": object{"row": object{"type": "integer", "minimum": 1}, "letter": object{"type": "string", "pattern": "^[A-K]$"}}}},
			"passenger": object{"$ref": "#/$defs/person"},
			"number":    object{"type": "integer"},
			"notes":     object{"anyOf": []any{object{"type": "string"}, object{"type": "array", "items": object{"type": "string"}}}},
			"extras":    object{"type": "object"},
		},
		"$defs":                object{"person": object{"type": "object", "properties": object{"name": object{"type": "string"}}, "required": []string{"name"}}},
		"required":             []string{"from", "to"},
		"additionalProperties": false,
	}}
	listAirports = server.Tool{Name: "list_airports", Description: "Lists airports", InputSchema: object{"type": "object", "properties": object{}}}
)

// simpleFlight is bookFlight with a schema of which no client makes anything wrong, for cases that are not about schemas.
var simpleFlight = server.Tool{Name: bookFlight.Name, Description: bookFlight.Description, InputSchema: object{"type": "object",
	"properties": object{"from": object{"type": "string"}, "to": object{"type": "string"}}, "required": []string{"from", "to"}}}

type object = map[string]any

// booking is what the model wants: nested, with text of all kinds, an integer beyond 2^53, something empty, and something long.
var booking = `{"from":"Zürich","to":"東京 \"HND\"\n<any>","seats":[{"row":12,"letter":"A"},{"row":13,"letter":"B"}],"number":9007199254740993,"extras":{},"notes":"` +
	strings.Repeat("No nuts, please. ", 500) + `"}`

// beside is what the model says beside a tool use.
const beside = "Let me book that flight."

// The model asks for one tool of two; the server runs it and asks again with the result. Then the same with little to it, with much to
// it, under each choice that a server can make, and with a model that does what it should not.
var toolUse = Scenario{
	ID:        "tool-use",
	Purpose:   "the model asks for one tool, the server runs it",
	Revisions: withTools,
	Cases: slices.Concat([]harness.Case{{
		ID: "tool-use/one-tool",
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("Book a flight from Zürich to Tokyo.", bookFlight, listAirports)
			first, err := s.Sample(ask)
			if err != nil {
				return nil, err
			}
			return s.Sample(ask.After(first, texts("booked as flight seventeen")))
		},
		Script: func(string) []*llm.Rule {
			return llm.Script(
				llm.When(llm.Turn(1)).Reply(llm.Call("book_flight", booking)),
				llm.When(llm.Turn(2)).Reply(llm.Text("Your flight is booked.")),
			)
		},
	}, {
		ID: "tool-use/two-turns", // one tool in each, the same, and nothing in its input
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("Where can I fly to?", simpleFlight, listAirports)
			first, err := s.Sample(ask)
			if err != nil {
				return nil, err
			}
			next := ask.After(first, texts("none is open yet"))
			second, err := s.Sample(next)
			if err != nil {
				return nil, err
			}
			return s.Sample(next.After(second, texts("Zürich and Tokyo")))
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
	Checks: []Check{
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
			ask := s.Ask("Book a flight from Zürich to Tokyo.", simpleFlight, listAirports)
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

// texts answers the tool uses with a text each, in their order; uses beyond the texts get the last one.
func texts(said ...string) func([]server.ToolUseContent) []server.ToolResultContent {
	return func(uses []server.ToolUseContent) []server.ToolResultContent {
		results := make([]server.ToolResultContent, len(uses))
		for i, use := range uses {
			results[i] = use.Result(server.Text(said[min(i, len(said)-1)]))
		}
		return results
	}
}
