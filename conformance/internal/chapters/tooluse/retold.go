package tooluse

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// planTrip has what [story.BookFlight] leaves out of schemas, and a description as long as a page.
var planTrip = server.Tool{
	Name: "plan_trip", Description: "Plans a trip.\n\n" + strings.Repeat("Ask for the dates first. ", 60) + "Then plan.",
	InputSchema: story.Object{"type": "object", "properties": story.Object{
		"start": story.Object{"type": "string", "format": "date", "examples": []string{"2026-07-28"}},
		"room": story.Object{"anyOf": []any{story.Object{"type": "string", "enum": []string{"single", "double"}},
			story.Object{"type": "null"}}, "default": nil},
		"stops": story.Object{"type": "array", "items": story.Object{"type": "object",
			"properties": story.Object{"name": story.Object{"type": "string"}, "kind": story.Object{"const": "train"}},
			"required":   []string{"name"}, "additionalProperties": false}},
	}},
}

// The server tells of a conversation that this client has not seen, as if it had been with another one. It has what
// few models say: messages of one role in a row, texts around tool uses, and the same text twice. The results have
// several blocks, and the one that is an error does not say so.
var retold = story.Once("tool-use/retold", func(s *server.Session) any {
	ask := s.Ask("So, which train is it?", planTrip, story.GetWeather)
	say := func(role string, blocks ...any) server.SamplingMessage {
		if len(blocks) == 1 {
			return server.SamplingMessage{Role: role, Content: blocks[0]}
		}
		return server.SamplingMessage{Role: role, Content: blocks}
	}
	use := func(id string, input story.Object) server.ToolUseContent {
		return server.ToolUseContent{Type: "tool_use", ID: id, Name: planTrip.Name, Input: story.JSON(input)}
	}
	trip := use("told-trip-1", story.Object{"start": "0042", "room": nil, "Stop-Over": "7"})
	other := use("told-trip-2", story.Object{"start": "Cafe\u0301 🗼"})
	closed := other.Result(server.Text("no station there"), server.Text("ask again at noon"))
	closed.IsError = true
	again := server.Text("Plan it again, please.")
	ask.Messages = append([]server.SamplingMessage{
		say("user", again, again, server.Text("\ufeffIt costs $10 + 20%% {{tax}}, “really”… and <b>$1</b>")),
		say("assistant", server.Text("Let me see.")),
		say("assistant", server.Text("I check both."), trip, other, server.Text("It will not take long.")),
		say("user", closed, trip.Result(
			server.Text("{ \"cafe\u0301 🗼\": 1.0, \"errors\": 0 }"),
			story.Object{"type": "resource_link", "uri": "trips:nine", "name": "trip nine"},
			story.Object{"type": "resource", "resource": story.Object{
				"uri": "trips:log", "mimeType": "text/plain", "text": "logged in Oslo"}})),
		say("assistant", server.Text("There is a train at seven.")),
		say("assistant", server.Text("There is another one at nine.")),
	}, ask.Messages...)
	return ask
}, llm.When().Reply(llm.Text("The one at nine.")))
