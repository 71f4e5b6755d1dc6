package parallel

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The first tool use gets a rich result, the other one a text. The rules for every case judge what reaches the model.
var richResults = []harness.Case{
	rich("texts", server.Text(" first reading\r\n"), server.Text("second reading\t")),
	rich("image", server.Image("image/png", story.WeatherMap)),
	rich("images", server.Text("both maps"), server.Image("image/png", story.WeatherMap),
		server.Image("image/png", story.RadarMap)),
	rich("audio", story.Object{"type": "audio", "mimeType": "audio/wav", "data": story.Thunder}),
	rich("resource-link", story.Object{"type": "resource_link", "uri": "weather:stations-nine", "name": "stations"}),
	rich("embedded-resource", story.Object{"type": "resource", "resource": story.Object{
		"uri": "weather:log", "mimeType": "text/plain", "text": "logged at noon"}}),
	rich("binary-resource", story.Object{"type": "resource", "resource": story.Object{
		"uri": "weather:raw-log", "mimeType": "application/octet-stream", "blob": story.WeatherMap}}),
	rich("long", server.Text("The log begins. "+strings.Repeat("Still raining. ", 5000)+"The log ends.")),
	structured("structured", story.Object{"outlook": "sunny spells"}),
	// Tools repeat structured content as a text, for clients that do not read it. Either of them is enough.
	structured("structured-and-text", story.Object{"outlook": "rain by noon"}, server.Text(`{"outlook":"rain by noon"}`)),
	weather("result-structured-failure", closed, parisAndLondon...),
	emptyResult,
	emptyFailure,
	rich("empty-text", server.Text("")),
}

var (
	emptyResult  = rich("empty")
	emptyFailure = weather("result-empty-failure", silent, parisAndLondon...)
)

// mixed has most of the rich results in one turn.
var mixed = weather("result-mixed", func(uses []server.ToolUseContent) []server.ToolResultContent {
	list := story.Texts(`{"outlook":"rain by noon"}`, "the other result", "")(uses)
	for i := range list {
		switch result := &list[i]; i {
		case 0:
			result.StructuredContent = story.Object{"outlook": "rain by noon"}
		case 2:
			result.Content = []any{server.Text(" first reading\r\n"), server.Image("image/png", story.WeatherMap),
				server.Text("second reading\t"), server.Image("image/png", story.RadarMap),
				story.Object{"type": "resource_link", "uri": "weather:stations-nine", "name": "stations"},
				story.Object{"type": "resource", "resource": story.Object{
					"uri": "weather:log", "mimeType": "text/plain", "text": "logged at noon"}}}
		}
	}
	return list
}, "Paris", "London", "Rome")

func rich(id string, blocks ...any) harness.Case { return structured(id, nil, blocks...) }

func structured(id string, content story.Object, blocks ...any) harness.Case {
	results := func(uses []server.ToolUseContent) []server.ToolResultContent {
		list := story.Texts("the other result")(uses)
		list[0].Content = append([]any{}, blocks...)
		if content != nil {
			list[0].StructuredContent = content
		}
		return list
	}
	return weather("result-"+id, results, parisAndLondon...)
}

// closed returns results of which the first one is an error with structured content.
func closed(uses []server.ToolUseContent) []server.ToolResultContent {
	list := story.Texts(`{"station":"closed"}`, "the other result")(uses)
	list[0].StructuredContent, list[0].IsError = story.Object{"station": "closed"}, true
	return list
}

// silent returns results of which the first one is an error that does not say what went wrong.
func silent(uses []server.ToolUseContent) []server.ToolResultContent {
	list := story.Texts("", "the other result")(uses)
	list[0].Content, list[0].IsError = []any{}, true
	return list
}
