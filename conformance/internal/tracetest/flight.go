package tracetest

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// BookFlight is a tool with a nested schema.
var BookFlight = server.Tool{
	Name: "book_flight", Description: "Books a flight, <direct> ones first", InputSchema: bookFlight,
}

var bookFlight = story.Object{
	"type": "object",
	"properties": story.Object{
		"from":  story.Object{"type": "string", "description": "city of departure", "minLength": 1},
		"to":    story.Object{"type": "string"},
		"class": story.Object{"type": "string", "enum": []string{"economy", "business"}, "default": "economy"},
		"seats": story.Object{"type": "array", "maxItems": 9, "items": story.Object{
			"type": "object", "properties": story.Object{
				"row":    story.Object{"type": "integer", "minimum": 1},
				"letter": story.Object{"type": "string", "pattern": "^[A-K]$"}}}},
		"passenger": story.Object{"$ref": "#/$defs/person"},
		"number":    story.Object{"type": "integer"},
		"notes": story.Object{"anyOf": []any{
			story.Object{"type": "string"}, story.Object{"type": "array", "items": story.Object{"type": "string"}}}},
		"extras": story.Object{"type": "object"},
	},
	"$defs": story.Object{"person": story.Object{
		"type": "object", "properties": story.Object{"name": story.Object{"type": "string"}}, "required": []string{"name"}}},
	"required":             []string{"from", "to"},
	"additionalProperties": false,
}

// ListAirports is a tool without parameters.
var ListAirports = server.Tool{
	Name: "list_airports", Description: "Lists airports",
	InputSchema: story.Object{"type": "object", "properties": story.Object{}},
}

// Booking is an input of [BookFlight]: nested, with text of all kinds, an integer above 2^53, an empty and a long
// value.
var Booking = `{"from":"Zürich","to":"東京 \"HND\"\n<any>","seats":[{"row":12,"letter":"A"},{"row":13,"letter":"B"}],` +
	`"number":9007199254740993,"extras":{},"notes":"` +
	strings.Repeat("No nuts, please. ", 500) + `"}`

// AskingForFlight returns the request of the first round.
func AskingForFlight() *server.CreateMessageParams {
	return Asking("Book a flight from Zürich to Tokyo.", BookFlight, ListAirports)
}

// Booked returns a result with a tool use of [BookFlight]; with [Booking] if no input is given.
func Booked(input ...string) string {
	return Wanting([3]string{"call_1", "book_flight", append(input, Booking)[0]})
}

// Uses is the first round, answered with a result.
func Uses(result string) func(*Story) {
	return func(s *Story) { s.Asks(AskingForFlight()).Prompts(AskingForFlight()).Answers(result) }
}

// OtherwiseAnswers appends another call, which the client answers.
func (s *Story) OtherwiseAnswers() *Story {
	return s.Calls().Asks(AskingForFlight()).Answers(Booked())
}
