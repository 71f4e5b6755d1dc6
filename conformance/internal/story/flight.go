package story

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// BookFlight is a tool whose input schema has most of what schemas can have.
var BookFlight = server.Tool{
	Name: "book_flight", Description: "Books a flight, <direct> ones first",
	InputSchema: Object{
		"type": "object",
		"properties": Object{
			"from":  Object{"type": "string", "description": "city of departure", "minLength": 1},
			"to":    Object{"type": "string"},
			"class": Object{"type": "string", "enum": []string{"economy", "business"}, "default": "economy"},
			"seats": Object{"type": "array", "maxItems": 9, "items": Object{"type": "object", "properties": Object{
				"row": Object{"type": "integer", "minimum": 1}, "letter": Object{"type": "string", "pattern": "^[A-K]$"}}}},
			"passenger": Object{"$ref": "#/$defs/person"},
			"number":    Object{"type": "integer"},
			"notes": Object{"anyOf": []any{
				Object{"type": "string"}, Object{"type": "array", "items": Object{"type": "string"}}}},
			"extras": Object{"type": "object"},
		},
		"$defs": Object{"person": Object{
			"type": "object", "properties": Object{"name": Object{"type": "string"}}, "required": []string{"name"}}},
		"required":             []string{"from", "to"},
		"additionalProperties": false,
	},
}

// ListAirports is a tool without parameters.
var ListAirports = server.Tool{Name: "list_airports", Description: "Lists airports",
	InputSchema: Object{"type": "object", "properties": Object{}}}

// Booking is an input of [BookFlight]: nested, with quotes, several scripts, an integer beyond 2^53, an empty object
// and a long text.
var Booking = `{"from":"Zürich","to":"東京 \"HND\"\n<any>","seats":[{"row":12,"letter":"A"},{"row":13,"letter":"B"}],` +
	`"number":9007199254740993,"extras":{},"notes":"` + strings.Repeat("No nuts, please. ", 500) + `"}`
