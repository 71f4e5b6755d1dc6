package parallel

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// content is a tool result that is more than one text, and what must reach the model of it.
type content struct {
	name       string
	blocks     []any
	structured story.Object
	// markers are the texts or base64 data that the model request must contain.
	markers []string
	// medium, if set, may stand for a marker: a client may send an image in another size or format.
	medium dialect.BlockType
}

// The first tool use gets a rich result, the other one a text.
var richResults = []harness.Case{
	rich("texts", content{name: "two texts",
		blocks:  []any{server.Text("first reading"), server.Text("second reading")},
		markers: []string{"first reading", "second reading"}}),
	rich("image", content{name: "an image",
		blocks:  []any{server.Image("image/png", story.WeatherMap)},
		markers: []string{weatherMap}, medium: dialect.Image}),
	rich("images", content{name: "two images",
		blocks: []any{server.Text("both maps"), server.Image("image/png", story.WeatherMap),
			server.Image("image/png", story.RadarMap)},
		markers: []string{weatherMap, story.Base64(story.RadarMap)}, medium: dialect.Image}),
	rich("audio", content{name: "audio",
		blocks:  []any{story.Object{"type": "audio", "mimeType": "audio/wav", "data": story.Thunder}},
		markers: []string{story.Base64(story.Thunder)}, medium: dialect.Audio}),
	rich("resource-link", content{name: "a resource link",
		blocks:  []any{story.Object{"type": "resource_link", "uri": "weather:stations-nine", "name": "stations"}},
		markers: []string{"weather:stations-nine"}}),
	rich("embedded-resource", content{name: "an embedded resource",
		blocks: []any{story.Object{"type": "resource", "resource": story.Object{
			"uri": "weather:log", "mimeType": "text/plain", "text": "logged at noon"}}},
		markers: []string{"logged at noon"}}),
	rich("structured", content{name: "structured content",
		blocks: []any{}, structured: story.Object{"outlook": "sunny spells"}, markers: []string{"sunny spells"}}),
	// Tools repeat structured content as a text, for clients that do not read it. Either of them is enough.
	rich("structured-and-text", content{name: "structured content and its text",
		blocks:     []any{server.Text(`{"outlook":"rain by noon"}`)},
		structured: story.Object{"outlook": "rain by noon"}, markers: []string{"rain by noon"}}),
	rich("empty", content{name: "no content", blocks: []any{}}),
}

var weatherMap = story.Base64(story.WeatherMap)

func rich(id string, c content) harness.Case {
	one := weather("result-"+id, c.results, parisAndLondon)
	one.Expect = c
	return one
}

func (c content) results(uses []server.ToolUseContent) []server.ToolResultContent {
	list := story.Texts("the other result")(uses)
	list[0].Content = c.blocks
	if c.structured != nil {
		list[0].StructuredContent = c.structured
	}
	return list
}

var resultContent = check.Check{
	ID: "result-content",
	Cases: []string{"result-texts", "result-image", "result-images", "result-audio", "result-resource-link",
		"result-embedded-resource", "result-structured", "result-structured-and-text", "result-empty"},
	Rule:   "The content of a tool result reaches the model, or the client returns an error",
	Levels: check.Robust, Requests: 2,
	Cause: "the converter reads only text blocks, or only the first block",
	Fix:   "Send the model every block in a form that its provider accepts, or return an error.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, want := e.Rounds[1], check.Expected[content](e)
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client refuses a tool result with %s: %s", want.name, how)
		}
		x, v := check.ModelRequest(r)
		if v != nil {
			return *v
		}
		h := handoverOf(e)
		for _, marker := range want.markers {
			if !x.Says(marker) && (want.medium == "" || x.Shows(want.medium) < len(want.markers)) {
				return check.Fail("expected a tool result with %s in the model request, found it incomplete", want.name).
					ShowAs("server sent", r.Asked, "%s", evidence.Clip(marker)).
					ShowAs("model received", x.Place, "%s", evidence.Describe(h.received))
			}
		}
		if len(h.sent) == 0 || !h.hasResult(h.sent[0]) { // also an empty result belongs to its tool use
			return h.show(check.Fail("expected a tool result with %s in the model request, found none", want.name))
		}
		return check.Pass("the content reached the model").At(x.Place)
	},
}
