package tracetest

import (
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Inputs of [story.GetWeather].
const (
	Paris  = `{"city":"Paris"}`
	London = `{"city":"London"}`
)

// AskingForWeather returns the request of the first round.
func AskingForWeather() *server.CreateMessageParams {
	return Asking("What is the weather like there?", story.GetWeather)
}

// TwoUses returns a result with a tool use for Paris and one for London.
func TwoUses() string {
	return Wanting([3]string{"call_a", "get_weather", Paris}, [3]string{"call_b", "get_weather", London})
}

// Wants is the first round, answered with a result.
func Wants(result string) func(*Story) {
	return func(s *Story) { s.Asks(AskingForWeather()).Prompts(AskingForWeather()).Answers(result) }
}

// Turn is a message of the history.
type Turn = server.SamplingMessage

// GoesOn is both rounds: the server sends tool results, and the client sends the model the history after edit.
func GoesOn(
	result string, results func([]server.ToolUseContent) []server.ToolResultContent, edit func(messages []Turn) []Turn,
) func(*Story) {
	return func(s *Story) {
		Wants(result)(s)
		next := AskingForWeather().After(json.RawMessage(result), results)
		changed := *next
		changed.Messages = edit(copyOf(next.Messages))
		s.Asks(next).Prompts(&changed).Answers(Saying("That is the weather."))
	}
}

// copyOf returns the messages with content blocks that can be edited.
func copyOf(messages []Turn) []Turn {
	copied := slices.Clone(messages)
	for i, m := range copied {
		var blocks []map[string]any
		if json.Unmarshal(jsonvalue.Marshal(m.Content), &blocks) == nil {
			copied[i].Content = blocks
		}
	}
	return copied
}

// AsItIs is the edit that changes nothing.
func AsItIs(messages []Turn) []Turn { return messages }

// WeatherResults are the results of both tool uses, in reverse order.
var WeatherResults = story.Reversed(story.Texts("eighteen degrees", "fifteen degrees"))
