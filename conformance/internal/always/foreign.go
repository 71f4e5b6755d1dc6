package always

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// leastForeign is the length, in bytes, from which a text of another request cannot be the client's own by chance.
const leastForeign = 20

// foreign returns the first text in a model request that is from another sampling request of the session; nil for none.
// A client may add texts of its own, and those of other requests only if the server asks for more context.
func foreign(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange) *difference {
	added := addedTexts(r, x)
	if len(added) == 0 || wantsContext(r) {
		return nil
	}
	sent := stringsOf(r)
	for _, b := range added {
		if found := foreignIn(ev, r, x, unsentPart(b.Text, sent), sent); found != "" {
			return foreignText.found("only this conversation", "the text "+quote(found, "")+" of another request").
				at("", b.Path)
		}
	}
	return nil
}

// wantsContext reports whether the server asks for more context than its messages.
func wantsContext(r *evidence.Round) bool {
	context := evidence.ObjectOf(r.Raw).Text("includeContext")
	return context != "" && context != "none"
}

// addedTexts returns the texts of a model request that are not whole texts of the sampling request.
func addedTexts(r *evidence.Round, x *evidence.Exchange) []dialect.Block {
	given := []dialect.Block{{Type: dialect.Text, Text: x.Request.System}}
	for _, m := range x.Request.Messages {
		given = append(given, evidence.Only(m.Content, dialect.Text)...)
	}
	sent := map[string]bool{r.Params.System: true, "": true}
	for _, b := range dialect.Blocks(r.Params.Messages, dialect.Text) {
		sent[b.Text] = true
	}
	return slices.DeleteFunc(given, func(b dialect.Block) bool { return sent[b.Text] })
}

// stringsOf returns all strings of a sampling request, and the texts of each message joined as clients do, the longest
// first.
func stringsOf(r *evidence.Round) []string {
	var all []string
	jsonvalue.EachString(r.Sent.Value(), "", func(_, text string) bool {
		all = append(all, text)
		return true
	})
	for _, m := range r.Params.Messages {
		var texts []string
		for _, b := range evidence.Only(m.Content, dialect.Text) {
			texts = append(texts, b.Text)
		}
		for _, between := range []string{"", " ", "\n", "\n\n"} {
			all = append(all, strings.Join(texts, between))
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

func unsentPart(text string, sent []string) string {
	for _, s := range sent {
		if len(s) >= leastForeign {
			text = strings.ReplaceAll(text, s, "")
		}
	}
	return text
}

// foreignIn returns the text of another request, or the name of its conversation, that is in a text of the client. It
// returns "" for none.
func foreignIn(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange, own string, sent []string) string {
	if len(own) < leastForeign {
		return ""
	}
	for _, c := range ev.Session.Trace.Header.Cases {
		for _, name := range evidence.Conversations([]byte(own), c.Mark) {
			if !slices.Contains(r.Conversations, name) {
				return name
			}
		}
		for _, text := range earlierTexts(ev.Session, c.ID, r, x) {
			if len(text) >= leastForeign && strings.Contains(own, text) && !holds(sent, text) {
				return text
			}
		}
	}
	return ""
}

// earlierTexts returns the texts of a case's other sampling requests from before a model request.
func earlierTexts(s *evidence.Session, caseID string, r *evidence.Round, x *evidence.Exchange) []string {
	var texts []string
	for _, call := range s.Calls[caseID] {
		for _, other := range call.Rounds {
			if other == r || other.Params == nil || s.Order[other.Asked.Ref] > x.Began {
				continue
			}
			for _, b := range dialect.Blocks(other.Params.Messages, dialect.Text) {
				texts = append(texts, strings.TrimSpace(b.Text))
			}
		}
	}
	return texts
}

// holds reports whether any of the texts contains a text. A client may cut such a text out of its own.
func holds(texts []string, text string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, text) })
}
