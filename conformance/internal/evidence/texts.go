package evidence

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// quoted quotes a text; of a long one, its beginning.
func Quoted(text string) string {
	const most = 500 // more than a report shows
	if len(text) > most {
		return fmt.Sprintf("%q… (%d bytes)", Surrounding(text, 0), len(text))
	}
	return strconv.Quote(text)
}

// holds reports whether a text stands in the blocks, also where it was cut into several.
func Holds(blocks []dialect.Block, text string) bool {
	return strings.Contains(dialect.PlainText(blocks), text) || strings.Contains(Joined(blocks), text)
}

// around is a piece of a text, whole characters.
func Surrounding(text string, at int) string {
	from, to := max(at-20, 0), min(at+60, len(text))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return text[from:to]
}

// joined are the texts of the blocks with nothing between them.
func Joined(blocks []dialect.Block) string {
	var all strings.Builder
	for _, b := range Only(blocks, dialect.Text) {
		all.WriteString(b.Text)
	}
	return all.String()
}

// spoken shows messages, a line each.
func Spoken(messages []dialect.Message) string {
	var lines []string
	for _, m := range messages {
		lines = append(lines, fmt.Sprintf("%s  %s: %s", m.Path, m.Role, Quoted(dialect.PlainText(m.Content))))
	}
	return strings.Join(lines, "\n")
}

// askedFor returns the cities that the tool uses of an answer ask for, in order.
func AskedFor(a *Answer) []string {
	var cities []string
	for _, use := range a.Uses() {
		var input struct{ City string }
		_ = json.Unmarshal(Arguments(use), &input) // an input that cannot be read asks for nothing
		cities = append(cities, input.City)
	}
	return cities
}

// arguments returns a tool use's input, also where it was sent as text: that this is the wrong type is tool-use-block's business.
func Arguments(use dialect.Block) json.RawMessage {
	var asText string
	if json.Unmarshal(use.Input, &asText) == nil {
		return json.RawMessage(asText)
	}
	return use.Input
}

// clip shortens what would drown a report.
func Clip(text string) string {
	const most = 400
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + fmt.Sprintf("… (%d characters)", len(runes))
	}
	return text
}
