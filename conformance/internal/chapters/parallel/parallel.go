package parallel

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Two tools are asked for at once; both results, sent in reverse, must reach the model. Then the same with a failing tool, with a
// stream that says the last of it late, with 33 tools, and with results that are more than one text.
var Scenario = check.Scenario{
	ID:        "parallel",
	Purpose:   "several tools asked for at once, all results back to the model",
	Revisions: check.WithTools,
	Cases: slices.Concat([]harness.Case{
		weather("parallel/two-cities", tracetest.Reversed(story.Texts("eighteen degrees", "fifteen degrees")), "Paris", "London"),
		weather("parallel/failing-tool", tracetest.OneFails, "Paris", "London", "Atlantis"),
		late(weather("parallel/late-fragment", story.Texts("eighteen degrees", "fifteen degrees"), "Paris", "London")),
		weather("parallel/thirty-three", story.Texts("mild"), cities(33)...),
	}, richResults),
	Checks: []check.Check{
		allUses, UniqueIDs, streamedUses, lateDelta, ResultsReachModel, resultsOrder, usesRestated,
		errorResult, resultContent, over32Calls,
	},
}

// weather is a case in which the model asks for the weather in all the cities at once, and the server answers with results.
func weather(id string, results func([]server.ToolUseContent) []server.ToolResultContent, cities ...string) harness.Case {
	return harness.Case{
		ID: id,
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("What is the weather like there?", story.GetWeather)
			first, err := s.Sample(ask)
			if err != nil {
				return nil, err
			}
			return s.Sample(ask.After(first, results))
		},
		Script: func(string) []*llm.Rule {
			return llm.Script(
				llm.When(llm.Turn(1)).Reply(story.Calls(cities)...),
				llm.When(llm.Turn(2)).Reply(llm.Text("That is the weather.")),
			)
		},
		Barrier: true, // a client may refuse so many tools, or what a result holds: see flight
	}
}

func cities(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("City %d", i+1)
	}
	return names
}

// late is the case with a model that sends the end of its last call after the finish reason.
func late(c harness.Case) harness.Case {
	script := c.Script
	c.Script = func(mark string) []*llm.Rule {
		rules := script(mark)
		rules[0].LateUse()
		return rules
	}
	return c
}

type richResult struct {
	id      string
	result  server.ToolResultContent
	markers []string
	medium  dialect.BlockType
}

// results answers the first tool use with the rich result, and the others with a text.
func (r *richResult) results(uses []server.ToolUseContent) []server.ToolResultContent {
	list := story.Texts("the other result")(uses)
	list[0].Content, list[0].StructuredContent = r.result.Content, r.result.StructuredContent
	return list
}

// rich are results that are more than one text, and the words or bytes by which they are known at the model's side. A medium is also known
// there by its type: a client may send it in another size or format.
var rich = []richResult{
	{id: "texts", result: server.ToolResultContent{Content: []any{server.Text("first reading"), server.Text("second reading")}},
		markers: []string{"first reading", "second reading"}},
	{id: "image", result: server.ToolResultContent{Content: []any{server.Image("image/png", story.WeatherMap)}},
		markers: []string{story.Base64Of(story.WeatherMap)}, medium: dialect.Image},
	{id: "images", result: server.ToolResultContent{Content: []any{server.Text("both maps"), server.Image("image/png", story.WeatherMap), server.Image("image/png", story.RadarMap)}},
		markers: []string{story.Base64Of(story.WeatherMap), story.Base64Of(story.RadarMap)}, medium: dialect.Image},
	{id: "audio", result: server.ToolResultContent{Content: []any{story.Object{"type": "audio", "mimeType": "audio/wav", "data": story.Thunder}}},
		markers: []string{story.Base64Of(story.Thunder)}, medium: dialect.Audio},
	{id: "resource-link", result: server.ToolResultContent{Content: []any{story.Object{"type": "resource_link", "uri": "weather:stations-nine", "name": "stations"}}},
		markers: []string{"weather:stations-nine"}},
	{id: "embedded-resource", result: server.ToolResultContent{Content: []any{story.Object{"type": "resource", "resource": story.Object{
		"uri": "weather:log", "mimeType": "text/plain", "text": "logged at noon"}}}}, markers: []string{"logged at noon"}},
	{id: "structured", result: server.ToolResultContent{Content: []any{}, StructuredContent: story.Object{"outlook": "sunny spells"}},
		markers: []string{"sunny spells"}},
	// Where a text says the same as the structured content, as tools do for clients that know none, either of them is enough.
	{id: "structured-and-text", result: server.ToolResultContent{Content: []any{server.Text(`{"outlook":"rain by noon"}`)},
		StructuredContent: story.Object{"outlook": "rain by noon"}}, markers: []string{"rain by noon"}},
	{id: "empty", result: server.ToolResultContent{Content: []any{}}},
}

// richResults are a case for each of them.
var richResults = func() []harness.Case {
	var cases []harness.Case
	for i := range rich {
		cases = append(cases, weather("parallel/result-"+rich[i].id, rich[i].results, "Paris", "London"))
	}
	return cases
}()
