package conformance

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

var getWeather = server.Tool{Name: "get_weather", Description: "Current weather in a city", InputSchema: object{
	"type": "object", "properties": object{"city": object{"type": "string"}}, "required": []string{"city"}}}

// Two tools are asked for at once; both results, sent in reverse, must reach the model. Then the same with a failing tool, with a
// stream that says the last of it late, with 33 tools, and with results that are more than one text.
var parallel = Scenario{
	ID:        "parallel",
	Purpose:   "several tools asked for at once, all results back to the model",
	Revisions: withTools,
	Cases: slices.Concat([]harness.Case{
		weather("parallel/two-cities", reversed(texts("eighteen degrees", "fifteen degrees")), "Paris", "London"),
		weather("parallel/failing-tool", oneFails, "Paris", "Atlantis"),
		late(weather("parallel/late-fragment", texts("eighteen degrees", "fifteen degrees"), "Paris", "London")),
		weather("parallel/thirty-three", texts("mild"), cities(33)...),
	}, richResults),
	Checks: []Check{
		allUses, uniqueIDs, streamedUses, lateDelta, resultsReachModel, resultsOrder, usesRestated,
		errorResult, resultContent, over32Calls,
	},
}

// weather is a case in which the model asks for the weather in all the cities at once, and the server answers with results.
func weather(id string, results func([]server.ToolUseContent) []server.ToolResultContent, cities ...string) harness.Case {
	return harness.Case{
		ID: id,
		Play: func(s *server.Session) (any, error) {
			ask := s.Ask("What is the weather like there?", getWeather)
			first, err := s.Sample(ask)
			if err != nil {
				return nil, err
			}
			return s.Sample(ask.After(first, results))
		},
		Script: func(string) []*llm.Rule {
			return llm.Script(
				llm.When(llm.Turn(1)).Reply(calls(cities)...),
				llm.When(llm.Turn(2)).Reply(llm.Text("That is the weather.")),
			)
		},
	}
}

// calls are the model's calls for the cities.
func calls(cities []string) []llm.Block {
	blocks := make([]llm.Block, len(cities))
	for i, city := range cities {
		blocks[i] = llm.Call("get_weather", fmt.Sprintf(`{"city":%q}`, city))
	}
	return blocks
}

func cities(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("City %d", i+1)
	}
	return names
}

// reversed sends the results in reverse.
func reversed(results func([]server.ToolUseContent) []server.ToolResultContent) func([]server.ToolUseContent) []server.ToolResultContent {
	return func(uses []server.ToolUseContent) []server.ToolResultContent {
		list := results(uses)
		slices.Reverse(list)
		return list
	}
}

// Results that are alike but for one being an error.
const (
	workedText = "station seven reports"
	failedText = "station eight reports"
)

func oneFails(uses []server.ToolUseContent) []server.ToolResultContent {
	results := texts(workedText, failedText)(uses)
	results[len(results)-1].IsError = true
	return results
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

// rich are results that are more than one text, and the words or bytes by which they are known at the model's side.
var rich = []struct {
	id      string
	result  server.ToolResultContent
	markers []string
}{
	{"texts", server.ToolResultContent{Content: []any{server.Text("first reading"), server.Text("second reading")}},
		[]string{"first reading", "second reading"}},
	{"image", server.ToolResultContent{Content: []any{server.Image("image/png", weatherMap)}}, []string{base64Of(weatherMap)}},
	{"resource-link", server.ToolResultContent{Content: []any{object{"type": "resource_link", "uri": "weather:stations-nine", "name": "stations"}}},
		[]string{"weather:stations-nine"}},
	{"embedded-resource", server.ToolResultContent{Content: []any{object{"type": "resource", "resource": object{
		"uri": "weather:log", "mimeType": "text/plain", "text": "logged at noon"}}}}, []string{"logged at noon"}},
	{"structured", server.ToolResultContent{Content: []any{}, StructuredContent: object{"outlook": "sunny spells"}}, []string{"sunny spells"}},
	{"empty", server.ToolResultContent{Content: []any{}}, nil},
}

// richResults are a case for each of them.
var richResults = func() []harness.Case {
	var cases []harness.Case
	for _, r := range rich {
		cases = append(cases, weather("parallel/result-"+r.id, func(uses []server.ToolUseContent) []server.ToolResultContent {
			results := texts("the other result")(uses)
			results[0].Content, results[0].StructuredContent = r.result.Content, r.result.StructuredContent
			return results
		}, "Paris", "London"))
	}
	return cases
}()

// weatherMap is a small PNG.
var weatherMap = func() []byte {
	img := image.NewGray(image.Rect(0, 0, 4, 4))
	img.SetGray(1, 2, color.Gray{Y: 200})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}()
