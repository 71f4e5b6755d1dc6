package always

import (
	"bytes"
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

// turnsOf returns the turns of a conversation without thinking, blank texts and the provider's own blocks. With parts,
// blank texts stay beside another text, of which they may be a part.
func turnsOf(messages []dialect.Message, parts bool) []turn {
	var turns []turn
	for i, m := range messages {
		for j, b := range m.Content {
			begins := j+1 < len(m.Content) && m.Content[j+1].Type == dialect.Text
			ends := j > 0 && m.Content[j-1].Type == dialect.Text
			blank := b.Type == dialect.Text && strings.TrimSpace(b.Text) == "" && !(parts && (begins || ends))
			if b.Type == dialect.Thinking || blank || b.Type == dialect.Other && m.Role == dialect.Assistant {
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

func only(items []item, types ...dialect.BlockType) []item {
	var some []item
	for i := range items {
		if slices.Contains(types, items[i].Type) {
			some = append(some, items[i])
		}
	}
	return some
}

func textsOf(items []item) []string {
	var all []string
	for _, b := range items {
		all = append(all, b.Text)
	}
	return all
}

// compareUses compares the tool uses of a turn, in order.
func (c *comparison) compareUses(want, got *turn) *difference {
	sent, given := only(want.items, dialect.ToolUse), only(got.items, dialect.ToolUse)
	c.uses = map[string][2]item{}
	seen := map[string]bool{}
	for i := range sent {
		w := &sent[i]
		if i >= len(given) {
			return notGiven(w)
		}
		g := &given[i]
		if d := c.compareUse(w, g, len(given)-len(sent)); d != nil {
			return d
		}
		if seen[g.ID] {
			return sharedID.found("an id of its own for "+describe(w), fmt.Sprintf("the id %s twice", evidence.QuoteID(g.ID))).
				at(w.Path, g.Path)
		}
		seen[g.ID], c.uses[w.ID] = true, [2]item{*w, *g}
	}
	if len(given) > len(sent) {
		g := &given[len(sent)]
		return extraUse.found(fmt.Sprintf("%d tool uses in this turn", len(sent)), describe(g)).at("", g.Path)
	}
	return nil
}

// compareUse compares a tool use with that at its place, where the turn has some more than it should, or fewer.
func (c *comparison) compareUse(w, g *item, more int) *difference {
	kindOf := func(k *kind) *kind {
		switch {
		case more < 0:
			return lostUse
		case more > 0:
			return extraUse
		}
		return k
	}
	if !c.sameTool(w.Name, g.Name) {
		return kindOf(changedUse).found("a use of "+c.nameFor(w.Name), "one of "+c.owned(g.Name)).at(w.Path, g.Path)
	}
	input := g.Input
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	same, rounded := sameJSON(w.Input, input)
	if same && !rounded {
		return nil
	}
	wanted, found := evidence.JSONDifference(w.Input, input)
	wanted = fmt.Sprintf("the input of the tool use %s %s", evidence.QuoteID(w.ID), wanted)
	if !same {
		return kindOf(changedInput).found(wanted, found).at(w.Path, g.Path)
	}
	if c.rounded == nil && !c.form.Doubles {
		c.rounded = roundedNumber.found(wanted, found+", a rounded number").at(w.Path, g.Path)
	}
	return nil
}

// compareOrder compares the order of texts and tool uses. Providers with separate members for them have none.
func compareOrder(want, got *turn) *difference {
	order := func(items []item) string {
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
	sent, given := order(want.items), order(got.items)
	separate := "t" + strings.ReplaceAll(sent, "t", "")
	if !strings.Contains(sent, "t") || !strings.Contains(given, "t") || given == sent || given == separate {
		return nil
	}
	w, g := &want.items[0], &got.items[0]
	return changedOrder.found("the order of texts and tool uses in "+describe(w), "another order").at(w.Path, g.Path)
}
