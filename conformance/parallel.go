package conformance

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
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
		weather("parallel/failing-tool", oneFails, "Paris", "London", "Atlantis"),
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
		Handler: func(s *server.Session) (any, error) {
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
		Barrier: true, // a client may refuse so many tools, or what a result holds: see flight
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

// oneFails are results that are alike but for the last being an error.
func oneFails(uses []server.ToolUseContent) []server.ToolResultContent {
	results := texts("station seven reports", "station eight reports", "station nine reports")(uses)
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

type richResult struct {
	id      string
	result  server.ToolResultContent
	markers []string
	medium  dialect.BlockType
}

// results answers the first tool use with the rich result, and the others with a text.
func (r *richResult) results(uses []server.ToolUseContent) []server.ToolResultContent {
	list := texts("the other result")(uses)
	list[0].Content, list[0].StructuredContent = r.result.Content, r.result.StructuredContent
	return list
}

// rich are results that are more than one text, and the words or bytes by which they are known at the model's side. A medium is also known
// there by its type: a client may send it in another size or format.
var rich = []richResult{
	{id: "texts", result: server.ToolResultContent{Content: []any{server.Text("first reading"), server.Text("second reading")}},
		markers: []string{"first reading", "second reading"}},
	{id: "image", result: server.ToolResultContent{Content: []any{server.Image("image/png", weatherMap)}},
		markers: []string{base64Of(weatherMap)}, medium: dialect.Image},
	{id: "images", result: server.ToolResultContent{Content: []any{server.Text("both maps"), server.Image("image/png", weatherMap), server.Image("image/png", radarMap)}},
		markers: []string{base64Of(weatherMap), base64Of(radarMap)}, medium: dialect.Image},
	{id: "audio", result: server.ToolResultContent{Content: []any{object{"type": "audio", "mimeType": "audio/wav", "data": thunder}}},
		markers: []string{base64Of(thunder)}, medium: dialect.Audio},
	{id: "resource-link", result: server.ToolResultContent{Content: []any{object{"type": "resource_link", "uri": "weather:stations-nine", "name": "stations"}}},
		markers: []string{"weather:stations-nine"}},
	{id: "embedded-resource", result: server.ToolResultContent{Content: []any{object{"type": "resource", "resource": object{
		"uri": "weather:log", "mimeType": "text/plain", "text": "logged at noon"}}}}, markers: []string{"logged at noon"}},
	{id: "structured", result: server.ToolResultContent{Content: []any{}, StructuredContent: object{"outlook": "sunny spells"}},
		markers: []string{"sunny spells"}},
	// Where a text says the same as the structured content, as tools do for clients that know none, either of them is enough.
	{id: "structured-and-text", result: server.ToolResultContent{Content: []any{server.Text(`{"outlook":"rain by noon"}`)},
		StructuredContent: object{"outlook": "rain by noon"}}, markers: []string{"rain by noon"}},
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

// weatherMap and radarMap are small images.
var weatherMap, radarMap = dot(200), dot(90)

// dot is a PNG with one point of some grey.
func dot(grey uint8) []byte {
	img := image.NewGray(image.Rect(0, 0, 4, 4))
	img.SetGray(1, 2, color.Gray{Y: grey})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// thunder is a WAV of eight samples: mono, 8 kHz, 8 bits each.
var thunder = []byte("RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x08\x00\x00\x00\x80\xff\x00\xc0\x40\xa0\x60\x80")
