package reference

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// Form is a way in which the client asks a model.
type Form struct {
	// Name is the dialect, for Gemini with its generation, and "-streamed" or "-plain"; native has one form.
	Name   string
	Config Config
}

// Forms returns the forms of all dialects, those of OpenAI's chat completions first.
func Forms() []Form {
	var forms []Form
	both := func(name string, c Config) {
		plain := c
		plain.Plain = true
		forms = append(forms, Form{name + "-streamed", c}, Form{name + "-plain", plain})
	}
	var unstreamed []Form
	for _, name := range dialects.APIs() {
		switch {
		case dialects.FactsOf(name).Plain:
			unstreamed = append(unstreamed, Form{name, Config{Dialect: name}})
		case name == dialect.Gemini:
			both("gemini-2", Config{Dialect: name, Model: Gemini2})
			forms = append(forms, Form{"gemini-3-streamed", Config{Dialect: name, Model: Gemini3}})
		default:
			both(name, Config{Dialect: name})
		}
	}
	return slices.Insert(forms, 2, unstreamed...)
}
