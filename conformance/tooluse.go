package conformance

import (
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// bookFlight has a schema with some depth; listAirports has nothing in it.
var (
	bookFlight = server.Tool{Name: "book_flight", Description: "Books a flight, <direct> ones first", InputSchema: object{
		"type": "object",
		"properties": object{
			"from":   object{"type": "string", "description": "city of departure", "minLength": 1},
			"to":     object{"type": "string"},
			"seats":  object{"type": "array", "items": object{"type": "object", "properties": object{"row": object{"type": "integer"}}}},
			"number": object{"type": "integer"},
			"extras": object{"type": "object"},
		},
		"required": []string{"from", "to"},
	}}
	listAirports = server.Tool{Name: "list_airports", Description: "Lists airports", InputSchema: object{"type": "object", "properties": object{}}}
)

type object = map[string]any

// booking is what the model wants: nested, with text of all kinds, an integer beyond 2^53, and something empty.
const booking = `{"from":"Zürich","to":"東京 \"HND\"\n<any>","seats":[{"row":12,"letter":"A"},{"row":13,"letter":"B"}],"number":9007199254740993,"extras":{}}`

// The model asks for one tool of two; the server runs it and asks again with the result.
var toolUse = Scenario{
	ID:        "tool-use",
	Purpose:   "the model asks for one tool, the server runs it",
	Revisions: withTools,
	Cases: []harness.Case{{
		ID: "tool-use/one-tool",
		Play: func(s *server.Session) (any, error) {
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
	}},
	Checks: []Check{stopReasonToolUse, toolUseBlock, inputIntact, toolsReachModel, onlyTheseTools, notExecuted},
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
