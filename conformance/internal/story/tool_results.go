package story

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// Results makes the server's results for the client's tool uses.
type Results = func([]server.ToolUseContent) []server.ToolResultContent

// TwoRounds samples, and samples again with the results of the tools that the model used.
func TwoRounds(s *server.Session, ask *server.CreateMessageParams, results Results) (any, error) {
	first, err := s.Sample(ask)
	if err != nil {
		return nil, err
	}
	return s.Sample(ask.After(first, results))
}

// Reversed sends the results in reverse order.
func Reversed(results Results) Results {
	return func(uses []server.ToolUseContent) []server.ToolResultContent {
		list := results(uses)
		slices.Reverse(list)
		return list
	}
}

// OneFails returns results that differ only in their number, and in the last one being an error.
func OneFails(uses []server.ToolUseContent) []server.ToolResultContent {
	results := Texts("station seven reports", "station eight reports", "station nine reports")(uses)
	results[len(results)-1].IsError = true
	return results
}
