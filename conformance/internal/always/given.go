package always

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// comparison compares a sampling request with a request to the model, in the order tools, tool choice, conversation. It
// reads both in their neutral form, block by block: want is what the server sent, got what the model was given. Each
// step returns the first difference, of a kind in differences.go, or nil. A step that tolerates one is named in
// package legitimate.
type comparison struct {
	sent, given *dialect.Request
	form        dialect.Form // of the given one
	// tools has the name of each tool for the model by its name for the server, and owners the other way round.
	tools, owners map[string]string
	// uses are the latest turn's tool uses by their ids for the server: each as sent and as given.
	uses map[string][2]item
	// shown are the paths of media that belong to tool results.
	shown map[string]bool
	// rounded is the first number that a double cannot hold, and that the client rounded.
	rounded *difference
}

// compare returns the differences between a sampling request and a model request: the first in the tools, in the choice
// and in the conversation; nil if the model was given all.
func compare(sent, given *dialect.Request) []*difference {
	c := &comparison{sent: sent, given: given, form: dialects.FactsOf(given.Dialect).Form,
		tools: map[string]string{}, owners: map[string]string{}}
	all := []*difference{c.compareTools()}
	if d := all[0]; d == nil || d.kind == changedDescription || d.kind == changedSchema { // the names are known
		all = append(all, c.compareChoice(), c.compareTurns())
	}
	all = slices.DeleteFunc(all, func(d *difference) bool { return d == nil })
	for i := range all {
		all[i] = c.orMoved(all[i]).orBroken(brokenText)
	}
	if len(all) == 0 {
		return some(c.rounded)
	}
	return all
}

// some returns the difference as a list; nil for none.
func some(d *difference) []*difference {
	if d == nil {
		return nil
	}
	return []*difference{d}
}

// compareTurns compares the conversation. It is at the end of the model request: the client's own messages may precede
// it. If it is not there, the difference is that at the first turn that equals the first one of the server.
func (c *comparison) compareTurns() *difference {
	want, got := turnsOf(c.sent.Messages, false), turnsOf(c.given.Messages, true)
	if len(want) == 0 {
		return nil
	}
	if n := len(got); n > 0 && isOwnEnd(&want[len(want)-1], &got[n-1]) {
		got = got[:n-1]
	}
	lead := len(got) - len(want)
	var atEnd *difference
	if lead >= 0 {
		if atEnd = c.walk(want, got[lead:]); atEnd == nil {
			return cmp.Or(restated(want, got[:lead]), c.repeated(want, got), c.retold(want, got[lead:]))
		}
	}
	if isOneText(want, got) {
		return flatHistory.found("every message under its role", "one text of the user with all of them").
			at("messages", got[len(got)-1].items[0].Path)
	}
	if d := missing(want, got); d != nil && lead < 0 {
		return d
	}
	for start := range got {
		if c.compareTurn(&want[0], &got[start], true, false) == nil {
			return c.walk(want, got[start:])
		}
	}
	return cmp.Or(atEnd, c.walk(want, got))
}

// isOwnEnd reports whether the turn at the end of the model request is the client's own: some providers want a message
// of the user behind one of the assistant. It does not have what the assistant says.
func isOwnEnd(want, got *turn) bool {
	return want.role == dialect.Assistant && got.role == dialect.User &&
		!slices.ContainsFunc(got.items, func(g item) bool {
			return g.Type != dialect.Text || slices.ContainsFunc(only(want.items, dialect.Text),
				func(w item) bool { return w.Text == g.Text })
		})
}

// walk compares turn by turn.
func (c *comparison) walk(want, got []turn) *difference {
	c.shown, c.uses, c.rounded = map[string]bool{}, nil, nil
	for i := range want {
		if i >= len(got) {
			return notGiven(&want[i].items[0])
		}
		if d := c.compareTurn(&want[i], &got[i], i == 0, i == len(want)-1); d != nil {
			return d
		}
	}
	if len(got) > len(want) {
		extra := &got[len(want)].items[0]
		return extraBlock[extra.Type].found("the end of the conversation", describe(extra)).at("", extra.Path)
	}
	return nil
}

// compareTurn compares one turn. Before the first one and behind the last one, the client may have messages of its own.
func (c *comparison) compareTurn(want, got *turn, first, last bool) *difference {
	switch {
	case want.role != got.role:
		return otherTurn(want, got)
	case want.role == dialect.Assistant:
		return cmp.Or(c.compareUses(want, got), compareOrder(want, got), c.compareRest(want, got, own{before: first}))
	}
	beside := len(only(want.items, dialect.ToolResult)) > 0
	if d := c.compareResults(want, got); d != nil {
		return d
	}
	return c.compareRest(want, got, own{first, beside, last})
}

// otherTurn is the difference for a turn of the other role: its first block has that role now, or is missing.
func otherTurn(want, got *turn) *difference {
	w, g, k := &want.items[0], &got.items[0], lostBlock[want.items[0].Type]
	if w.Type == dialect.Text && slices.ContainsFunc(got.items, func(b item) bool { return b.Text == w.Text }) {
		k = changedRole
	}
	return k.found(describe(w), describe(g)).at(w.Path, g.Path)
}

// missing returns the first text or tool use that is nowhere in the model request, or a text that only the other role
// says there.
func missing(want, got []turn) *difference {
	for _, t := range want {
		for i := range t.items {
			w := &t.items[i]
			if w.Type != dialect.Text && w.Type != dialect.ToolUse {
				continue
			}
			other := slices.IndexFunc(got, func(g turn) bool { return g.says(w) })
			if other < 0 {
				return notGiven(w)
			}
			if !slices.ContainsFunc(got, func(g turn) bool { return g.role == w.role && g.says(w) }) {
				g := got[other].items[max(0, slices.IndexFunc(got[other].items, func(g item) bool { return g.Text == w.Text }))]
				return changedRole.found(describe(w), "it as a text of the "+string(g.role)).at(w.Path, g.Path)
			}
		}
	}
	return nil
}

// says reports whether a turn has the text, or a tool use with the input.
func (t *turn) says(w *item) bool {
	if w.Type == dialect.Text {
		_, found := matchTexts([]string{w.Text}, textsOf(only(t.items, dialect.Text)), anything)
		return found
	}
	return slices.ContainsFunc(only(t.items, dialect.ToolUse), func(b item) bool {
		return jsonvalue.Same(b.Input, w.Input)
	})
}

func notGiven(w *item) *difference {
	return lostBlock[w.Type].found(describe(w), "none").at(w.Path, "")
}

// restated returns the first tool use before the conversation that is a copy of one in it.
func restated(want, before []turn) *difference {
	for _, t := range before {
		for _, g := range only(t.items, dialect.ToolUse) {
			for _, w := range want {
				if slices.ContainsFunc(only(w.items, dialect.ToolUse), func(w item) bool {
					return w.ID == g.ID && jsonvalue.Same(w.Input, g.Input)
				}) {
					return extraUse.found("each tool use once", describe(&g)+" twice").at("", g.Path)
				}
			}
		}
	}
	return nil
}

// repeated returns the first text, from the end, that the model was given more often than the server sent it. The
// client's own texts may be like a short one, or the system prompt. A part of another text may be like any.
func (c *comparison) repeated(want, got []turn) *difference {
	const short = 8
	key := func(b *item) string { return string(b.role) + " " + strings.TrimSpace(b.Text) }
	left := map[string]int{}
	for _, t := range want {
		for _, b := range only(t.items, dialect.Text) {
			if text := strings.TrimSpace(b.Text); len(text) >= short && !c.isPart(text) {
				left[key(&b)]++
			}
		}
	}
	for _, t := range slices.Backward(got) {
		for _, b := range slices.Backward(only(t.items, dialect.Text)) {
			n, sent := left[key(&b)]
			if sent && n == 0 {
				return extraText.found("the text "+quote(b.Text, "")+" only as often as the server sent it", "it once more").
					at("", b.Path)
			}
			if sent {
				left[key(&b)] = n - 1
			}
		}
	}
	return nil
}

// isPart reports whether a text is part of the system prompt, of a tool result, or of a longer text.
func (c *comparison) isPart(text string) bool {
	return strings.Contains(c.sent.System, text) || slices.ContainsFunc(c.sent.Messages, func(m dialect.Message) bool {
		return slices.ContainsFunc(m.Content, func(b dialect.Block) bool {
			return b.Type == dialect.ToolResult && strings.Contains(b.PlainText(), text) ||
				b.Type == dialect.Text && strings.TrimSpace(b.Text) != text && strings.Contains(b.Text, text)
		})
	})
}

// isOneText reports whether one text of the user has the whole conversation.
func isOneText(want, got []turn) bool {
	var all []string
	for _, t := range want {
		if len(only(t.items, dialect.Text)) < len(t.items) {
			return false
		}
		all = append(all, textsOf(t.items)...)
	}
	if len(want) < 2 || len(got) == 0 || got[len(got)-1].role != dialect.User {
		return false
	}
	last := got[len(got)-1].items
	_, whole := matchTexts(all, []string{last[len(last)-1].Text}, anything)
	return whole
}

func quote(text, other string) string {
	quoted, _ := evidence.Difference(text, other)
	return quoted
}

// describe names a block for a message.
func describe(b *item) string {
	switch b.Type {
	case dialect.Text:
		return fmt.Sprintf("the text %s of the %s", quote(b.Text, ""), b.role)
	case dialect.ToolUse:
		return fmt.Sprintf("the tool use %s(%s)", b.Name, evidence.Clip(string(b.Input)))
	case dialect.ToolResult:
		return fmt.Sprintf("the result of %s %s", evidence.QuoteID(b.ID), quote(dialect.PlainText(b.Content), ""))
	case dialect.Image, dialect.Audio:
		if len(b.Data) == 0 {
			return string(b.Type) + " without base64 data"
		}
		return fmt.Sprintf("%s of type %s, %d bytes", b.Type, cmp.Or(b.MimeType, "unknown"), len(b.Data))
	}
	return "a block of another type"
}
