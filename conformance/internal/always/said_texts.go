package always

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// compareTexts compares the texts before, between and after the tool uses.
func (c *rendering) compareTexts() *difference {
	form := dialects.FactsOf(c.from.Dialect).Form
	said, given := textRuns(c.reply.Content, c.said), textRuns(c.a.Blocks(), c.given)
	allSaid, allGiven := slices.Concat(said...), slices.Concat(given...)
	whole := strings.Join(allGiven, "")
	if !joins(allSaid, whole) {
		if whole == "" && (c.mayWithhold() || form.Plans && len(c.said) > 0) {
			return nil
		}
		return c.otherText(strings.Join(allSaid, ""), whole)
	}
	if form.Unordered {
		return nil
	}
	for i := range said {
		if !joins(said[i], strings.Join(given[i], "")) {
			return exchangedOrder.found("in the order of texts and tool uses", "another order").at("", "content")
		}
	}
	return nil
}

func textRuns(blocks, uses []dialect.Block) [][]string {
	runs := make([][]string, 1, len(uses)+1)
	for _, b := range blocks {
		switch {
		case b.Type == dialect.Text && b.Text != "":
			runs[len(runs)-1] = append(runs[len(runs)-1], b.Text)
		case b.Type == dialect.ToolUse && len(runs) <= len(uses) && sameUse(b, uses[len(runs)-1]):
			runs = append(runs, nil)
		}
	}
	for len(runs) <= len(uses) {
		runs = append(runs, nil)
	}
	return runs
}

func sameUse(a, b dialect.Block) bool {
	return a.ID == b.ID && a.Name == b.Name && string(a.Input) == string(b.Input)
}

// joins reports whether a text is the parts, with nothing but blanks between them.
func joins(parts []string, text string) bool {
	for i, part := range parts {
		rest, found := strings.CutPrefix(text, part)
		if !found && i > 0 {
			rest, found = strings.CutPrefix(strings.TrimLeft(text, " \n"), strings.TrimLeft(part, " \n"))
		}
		if !found {
			return false
		}
		text = rest
	}
	return text == ""
}

// mayWithhold reports whether the result may lack the model's text: the model refused or the provider filtered it, and
// the stop reason says that the turn did not end as usual.
func (c *rendering) mayWithhold() bool {
	reason, given := c.a.Text("stopReason")
	return given && !slices.Contains(evidence.StandardStopReasons, reason) &&
		(c.reply.StopReason == dialect.StopRefusal || c.reply.StopReason == dialect.StopContentFilter)
}

func (c *rendering) otherText(want, found string) *difference {
	path := "content"
	if texts := evidence.Only(c.a.Blocks(), dialect.Text); len(texts) == 1 {
		path = texts[0].Path + ".text"
	}
	for _, b := range evidence.Only(c.reply.Content, dialect.Thinking) {
		if b.Text != "" && strings.Contains(found, b.Text) {
			return toldThinking.found("without the thinking", "the thinking in it").at("", path)
		}
	}
	wanted, got := evidence.Difference(want, found)
	switch {
	case found == "":
		return unsaidText.found(wanted, "no text").at("", path)
	case want == "":
		return addedText.found("without text", got).at("", path)
	}
	return rewrittenText.found(wanted, got).at("", path)
}
