package always

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// item is a block with its speaker and the index of its message.
type item struct {
	dialect.Block
	role    dialect.Role
	message int
}

// turn is what one role says until the other speaks. Providers merge messages of one role.
type turn struct {
	role  dialect.Role
	items []item
}

// turnsOf returns the turns of a conversation without thinking, blank texts and the provider's own blocks. With begun,
// blank texts stay right before another text, which may begin there.
func turnsOf(messages []dialect.Message, begun bool) []turn {
	var turns []turn
	for i, m := range messages {
		for j, b := range m.Content {
			begins := begun && j+1 < len(m.Content) && m.Content[j+1].Type == dialect.Text
			blank := b.Type == dialect.Text && strings.TrimSpace(b.Text) == ""
			if b.Type == dialect.Thinking || blank && !begins || b.Type == dialect.Other && m.Role == dialect.Assistant {
				continue
			}
			if n := len(turns); n == 0 || turns[n-1].role != m.Role {
				turns = append(turns, turn{role: m.Role})
			}
			last := &turns[len(turns)-1]
			last.items = append(last.items, item{b, m.Role, i})
		}
	}
	return turns
}

func only(items []item, kinds ...dialect.BlockType) []item {
	var found []item
	for _, b := range items {
		if slices.Contains(kinds, b.Type) {
			found = append(found, b)
		}
	}
	return found
}

func textsOf(items []item) []string {
	var all []string
	for _, b := range items {
		all = append(all, b.Text)
	}
	return all
}

// compareTurn compares one turn. Before the first one, the client may have messages of its own.
func (c *comparison) compareTurn(want, got *turn, first bool) *difference {
	if want.role != got.role {
		return &difference{want: describe(&want.items[0]), got: describe(&got.items[0]),
			sent: want.items[0].Path, given: got.items[0].Path}
	}
	if want.role == dialect.Assistant {
		return cmp.Or(c.compareUses(want, got), c.compareOrder(want, got),
			c.compareRest(want, got, own{before: first}))
	}
	if d := c.compareResults(want, got); d != nil {
		return d
	}
	return c.compareRest(want, got, own{before: first, beside: len(only(want.items, dialect.ToolResult)) > 0})
}

// compareUses compares the tool uses of a turn, in order.
func (c *comparison) compareUses(want, got *turn) *difference {
	sent, given := only(want.items, dialect.ToolUse), only(got.items, dialect.ToolUse)
	c.ids, c.called = map[string]string{}, map[string][]string{}
	seen := map[string]bool{}
	for i := range sent {
		w := &sent[i]
		if i >= len(given) {
			return missing(w)
		}
		g := &given[i]
		d := &difference{sent: w.Path, given: g.Path}
		if len(bytes.TrimSpace(g.Input)) == 0 {
			g.Input = json.RawMessage("{}")
		}
		same, rounded := sameJSON(w.Input, g.Input)
		if !same || rounded {
			want, got := quoteJSON(w.Input, g.Input)
			d.want, d.got = fmt.Sprintf("the input of the tool use %s %s", evidence.QuoteID(w.ID), want), got
		}
		if rounded && c.rounded == nil && !c.form.Doubles {
			c.rounded = &difference{want: d.want, got: d.got + ", a rounded number: " + keepNumbers, sent: d.sent,
				given: d.given, warns: true}
		}
		switch {
		case !c.sameTool(w.Name, g.Name):
			d.want, d.got = "a use of "+w.Name, "one of "+g.Name
			return d
		case !same:
			return d
		case seen[g.ID]:
			d.want, d.got = "an id of its own for "+describe(w), fmt.Sprintf("the id %s twice", evidence.QuoteID(g.ID))
			return d
		}
		seen[g.ID], c.ids[w.ID], c.called[g.ID] = true, g.ID, []string{w.Name, g.Name}
	}
	if len(given) > len(sent) {
		extra := &given[len(sent)]
		return &difference{want: fmt.Sprintf("%d tool uses in this turn", len(sent)), got: describe(extra),
			given: extra.Path}
	}
	return nil
}

// compareOrder compares the order of texts and tool uses. Providers with separate members for them have none.
func (c *comparison) compareOrder(want, got *turn) *difference {
	kinds := func(items []item) string {
		order := ""
		for _, b := range only(items, dialect.Text, dialect.ToolUse) {
			if b.Type == dialect.ToolUse {
				order += "u"
			} else if !strings.HasSuffix(order, "t") {
				order += "t"
			}
		}
		return order
	}
	sent, given := kinds(want.items), kinds(got.items)
	separate := "t" + strings.ReplaceAll(sent, "t", "")
	if !strings.Contains(sent, "t") || !strings.Contains(given, "t") || given == sent || given == separate {
		return nil
	}
	return &difference{want: "the order of texts and tool uses in " + describe(&want.items[0]), got: "another order",
		sent: want.items[0].Path, given: got.items[0].Path}
}

// own says where the client may have texts of its own: before the conversation, or beside tool results.
type own struct{ before, beside bool }

// compareRest compares texts and media of a turn, in order.
func (c *comparison) compareRest(want, got *turn, o own) *difference {
	f := bare
	if want.role == dialect.User {
		f = framed
	}
	sent := rest(want, nil)
	for i := range sent {
		if b := &sent[i]; c.cannotTake(b.Type) {
			b.Type, b.Text, f = dialect.Text, base64.StdEncoding.EncodeToString(b.Data), anything
		}
	}
	sentTexts, sentMedia := c.runs(sent)
	givenTexts, givenMedia := c.runs(rest(got, c.shown))
	if d := c.compareAllMedia(sentMedia, givenMedia); d != nil {
		return d
	}
	for i := range sentTexts {
		if d := compareTexts(sentTexts[i], givenTexts[i], f, own{o.before && i == 0, o.beside}); d != nil {
			return d
		}
	}
	return nil
}

// rest returns the items of a turn except tool uses, tool results and those whose paths are left out.
func rest(t *turn, without map[string]bool) []item {
	var rest []item
	for _, b := range t.items {
		if b.Type != dialect.ToolUse && b.Type != dialect.ToolResult && !without[b.Path] {
			rest = append(rest, b)
		}
	}
	return rest
}

func (c *comparison) compareAllMedia(sent, given []item) *difference {
	for i := range max(len(sent), len(given)) {
		switch {
		case i >= len(given):
			return missing(&sent[i])
		case i >= len(sent):
			return &difference{want: "only what the server sent", got: describe(&given[i]), given: given[i].Path}
		case !c.sameMedium(&sent[i].Block, &given[i].Block):
			return &difference{want: describe(&sent[i]), got: describe(&given[i]), sent: sent[i].Path,
				given: given[i].Path}
		}
	}
	return nil
}

// runs splits items into the media and the texts before, between and behind them.
func (c *comparison) runs(items []item) (texts [][]item, media []item) {
	texts = [][]item{nil}
	for _, b := range items {
		if b.Type == dialect.Text {
			texts[len(texts)-1] = append(texts[len(texts)-1], b)
			continue
		}
		media = append(media, b)
		texts = append(texts, nil)
	}
	if c.form.BareImages {
		all := slices.Concat(texts...)
		texts = make([][]item, len(texts))
		texts[0] = all
	}
	return texts, media
}

// compareTexts compares the texts between two media.
func compareTexts(sent, given []item, f framing, o own) *difference {
	want, got := textsOf(sent), textsOf(given)
	used, ok := matchTexts(want, got, f)
	for from := 1; !ok && (o.before || o.beside) && from < len(given); from++ { // own messages, and the texts behind them
		if used, ok = matchTexts(want, got[from:], f); ok {
			used = append(make([]bool, from), used...)
		}
	}
	if !ok {
		return unmatched(sent, given)
	}
	if o.beside {
		return nil
	}
	return inserted(given, used, o.before)
}

// inserted returns the first message of the client's own that is in the conversation, and not before it.
func inserted(given []item, used []bool, before bool) *difference {
	messages := map[int]bool{} // those of the server
	for i := range given {
		messages[given[i].message] = messages[given[i].message] || used[i]
	}
	begun := !before
	for i := range given {
		begun = begun || used[i]
		if begun && !messages[given[i].message] {
			return &difference{want: "only the messages of the server", got: describe(&given[i]), given: given[i].Path}
		}
	}
	return nil
}

// unmatched returns the first text that is missing or changed.
func unmatched(sent, given []item) *difference {
	all := textsOf(given)
	for i := range sent {
		_, isThere := matchTexts(textsOf(sent[:i+1]), all, anything)
		last := i == len(sent)-1
		if isThere && !last {
			continue
		}
		if len(given) == 0 {
			return missing(&sent[i])
		}
		g := &given[min(i, len(given)-1)]
		if isThere {
			g = &given[len(given)-1]
			if _, before := matchTexts(textsOf(sent), all[:len(all)-1], anything); before {
				return &difference{want: "only the messages of the server", got: describe(g), given: g.Path}
			}
		}
		if g.Text == sent[i].Text {
			return &difference{want: describe(&sent[i]) + " once more", got: "none", sent: sent[i].Path, given: g.Path}
		}
		return &difference{want: "the text " + quote(sent[i].Text, g.Text), got: quote(g.Text, sent[i].Text),
			sent: sent[i].Path, given: g.Path}
	}
	return &difference{want: "no text", got: describe(&given[0]), given: given[0].Path}
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
			if !sent {
				continue
			}
			if n == 0 {
				return &difference{want: "the text " + quote(b.Text, "") + " only as often as the server sent it",
					got: "it once more", given: b.Path}
			}
			left[key(&b)] = n - 1
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

// cannotTake reports whether the provider has no place for a medium.
func (c *comparison) cannotTake(t dialect.BlockType) bool {
	return t == dialect.Audio && c.form.NoAudio
}

// sameMedium compares the bytes and the type of media.
func (c *comparison) sameMedium(want, got *dialect.Block) bool {
	plain := func(t string) string { return sameTypes.Replace(strings.ToLower(t)) }
	sameType := plain(want.MimeType) == plain(got.MimeType)
	return want.Type == got.Type && bytes.Equal(want.Data, got.Data) && (sameType || c.form.BareImages)
}

// sameTypes has names of one type.
var sameTypes = strings.NewReplacer("/x-", "/", "image/jpg", "image/jpeg", "audio/mp3", "audio/mpeg", "audio/wave",
	"audio/wav")
