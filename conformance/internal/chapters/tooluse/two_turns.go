package tooluse

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

var airportList = ToolUse{airportsIn.Name, `{}`}

// airportsIn has a dash in its name and a parameter of two types.
var airportsIn = server.Tool{Name: "list-airports", Description: story.ListAirports.Description,
	InputSchema: story.Object{"type": "object", "properties": story.Object{
		"country": story.Object{"type": []string{"string", "null"}}}}}

// The model uses the same tool in two turns, each time with an empty input.
var twoTurns = harness.Case{
	ID: "tool-use/two-turns",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("Where can I fly to?", simpleFlight, airportsIn)
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
		return []*llm.Rule{
			llm.When(llm.LastUser("Zürich and Tokyo")).Reply(llm.Text("To Zürich and to Tokyo.")),
			llm.When().ReplyFunc(airportList.call()),
		}
	},
}
