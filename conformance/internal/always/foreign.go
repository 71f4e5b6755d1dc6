package always

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// leastForeign is the length, in bytes, from which a text of another request cannot be the client's own by chance.
const leastForeign = 20

// foreign returns the first text in a model request that is from another sampling request of the session; nil for none.
// A client may add texts of its own, and those of other requests only if the server asks for more context.
func foreign(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange) *difference {
	var context string
	_ = json.Unmarshal(at(r.Raw, "includeContext"), &context)
	if context != "" && context != "none" {
		return nil
	}
	for _, b := range ownTexts(r, x) {
		if found := foreignIn(ev, r, x, b.Text); found != "" {
			return &difference{want: "only this conversation", got: "the text " + quote(found, "") + " of another request",
				given: b.Path}
		}
	}
	return nil
}

// ownTexts returns what the client added to the texts of a model request: the texts without those of the sampling
// request.
func ownTexts(r *evidence.Round, x *evidence.Exchange) []dialect.Block {
	given := []dialect.Block{{Type: dialect.Text, Text: x.Request.System}}
	for _, m := range x.Request.Messages {
		given = append(given, evidence.Only(m.Content, dialect.Text)...)
	}
	sent := map[string]bool{r.Params.System: true, "": true}
	for _, b := range dialect.Blocks(r.Params.Messages, dialect.Text) {
		sent[b.Text] = true
	}
	given = slices.DeleteFunc(given, func(b dialect.Block) bool { return sent[b.Text] })
	if len(given) == 0 {
		return nil
	}
	all := stringsOf(r)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	for i := range given {
		for _, text := range all {
			if len(text) >= leastForeign {
				given[i].Text = strings.ReplaceAll(given[i].Text, text, "")
			}
		}
	}
	return given
}

// stringsOf returns all strings of a sampling request.
func stringsOf(r *evidence.Round) []string {
	var all []string
	evidence.EachString(evidence.DecodeJSON(r.Raw), "", func(_, text string) bool {
		all = append(all, text)
		return true
	})
	return all
}

// foreignIn returns the text of another request, or the name of its conversation, that is in a text of the client.
func foreignIn(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange, own string) string {
	if len(own) < leastForeign {
		return ""
	}
	s, mine := ev.Session, stringsOf(r)
	for _, c := range s.Trace.Header.Cases {
		for _, name := range evidence.Conversations([]byte(own), c.Mark) {
			if !slices.Contains(r.Conversations, name) {
				return name
			}
		}
		for _, call := range s.Calls[c.ID] {
			for _, other := range call.Rounds {
				if other == r || other.Params == nil || s.Order[other.Asked.Ref] > x.Began {
					continue
				}
				for _, b := range dialect.Blocks(other.Params.Messages, dialect.Text) {
					text := strings.TrimSpace(b.Text)
					if len(text) >= leastForeign && strings.Contains(own, text) && !holds(mine, text) {
						return text
					}
				}
			}
		}
	}
	return ""
}

// holds reports whether any of the texts contains a text. A client may cut such a text out of its own.
func holds(texts []string, text string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, text) })
}
