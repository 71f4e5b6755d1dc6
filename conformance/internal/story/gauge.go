package story

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// Gauge returns a tool with the required argument place, and the argument days, from 1 to 7. Its handler returns what
// answer returns for the place. It is not inlined: its schema would be in the binary once for each tool.
//
//go:noinline
func Gauge(name, description string, answer func(place string) (any, error)) server.Tool {
	return server.Tool{Name: name, Description: description, InputSchema: Object{"type": "object",
		"properties": Object{"place": Object{"type": "string"},
			"days": Object{"type": "integer", "minimum": 1, "maximum": 7}},
		"required": []string{"place"}},
		Handler: func(s *server.Session) (any, error) {
			var arguments struct{ Place string }
			if err := json.Unmarshal(s.Call().Arguments, &arguments); err != nil {
				return nil, err
			}
			return answer(arguments.Place)
		}}
}

// Reading returns an answer for [Gauge]: a text in which %s is the place.
func Reading(format string) func(place string) (any, error) {
	return func(place string) (any, error) { return fmt.Sprintf(format, place), nil }
}
