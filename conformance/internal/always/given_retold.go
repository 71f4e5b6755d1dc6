package always

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// retold returns the first text of the model request that has, beside what the server sent in this turn, a text of
// another turn or of a tool result. The turns are those of the same place.
func (c *comparison) retold(want, got []turn) *difference {
	for i := range want {
		given := only(got[i].items, dialect.Text)
		if len(given) == 0 {
			continue
		}
		own := textsOf(only(want[i].items, dialect.Text))
		results := resultTexts(want[i].items, own)
		for _, g := range given {
			added := without(without(g.Text, own), notIn(nil, []string{c.sent.System})) // a client may put it there
			var others []string
			if strings.TrimSpace(added) != "" && added != g.Text {
				others = othersOf(want, i, own)
			}
			for _, text := range others {
				if strings.Contains(added, text) {
					return extraText.found("no more of the conversation beside the text of this message",
						"the text "+quote(text, "")+" again").at("", g.Path)
				}
			}
			for _, text := range results {
				if strings.Contains(added, text) {
					return extraResult.found("each tool result once", quote(text, "")+" as a text of the user, too").at("", g.Path)
				}
			}
		}
	}
	return nil
}

// leastRetold is the length, in bytes, from which a text cannot be in the client's own words by chance.
const leastRetold = 8

// othersOf returns the texts of all turns but one, and of the results in them, without those that the turn itself has.
func othersOf(turns []turn, but int, own []string) []string {
	var all []string
	for i := range turns {
		if i != but {
			all = append(all, textsOf(only(turns[i].items, dialect.Text))...)
			all = append(all, resultTexts(turns[i].items, own)...)
		}
	}
	return notIn(own, all)
}

// resultTexts returns the texts of the tool results that have no media, which a client may explain beside them.
func resultTexts(items []item, own []string) []string {
	var all []string
	for _, r := range only(items, dialect.ToolResult) {
		if !hasMedia(&r) {
			all = append(all, textsOf(only(itemsOf(r.Content), dialect.Text))...)
		}
	}
	return notIn(own, all)
}

func notIn(own, all []string) []string {
	return slices.DeleteFunc(all, func(text string) bool {
		return len(strings.TrimSpace(text)) < leastRetold || holds(own, text)
	})
}
