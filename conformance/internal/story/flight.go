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
			"extras":  Object{"type": "object"},
			"direct":  Object{"type": "boolean"},
			"pin":     Object{"type": "string"},
			"voucher": Object{"anyOf": []any{Object{"type": "string"}, Object{"type": "null"}}},
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

// Booking is an input of [BookFlight]: nested, with quotes, several scripts, control characters and a long text. It has
// every value that careless code takes for a missing one, texts that are JSON, fractions, a time with a zone, and the
// largest integer that every client can hold.
var Booking = `{"from":"Zürich","to":"東京 \"HND\"\n<any>","direct":true,"pin":"7",` +
	`"form":"{\"aisle\":[12]}","voucher":null,"seats":[{"row":12,"letter":"A"},{"row":13,"letter":"B"}],` +
	`"number":9007199254740991,"extras":{"meal":null,"insured":false,"bags":0,"promo":"","offers":[],"tags":{},` +
	`"fare":{"sum":[[1.5,-0.25],[{"tax":1e-7}]]},"until":"2026-12-24T18:30:00+01:00",` +
	`"name":" Zoe\u0308\r\n\u0001 "},"notes":"` +
	strings.Repeat("No nuts, please. ", 500) + `"}`
