package always

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// compareUses compares the tool uses one by one. Those that the request does not allow may be left out.
func (c *rendering) compareUses() *difference {
	if len(c.given) != len(c.said) {
		allowed := slices.DeleteFunc(slices.Clone(c.said), c.forbidden)
		if len(c.given) != len(allowed) {
			k := unsaidUse
			if len(c.given) > len(c.said) {
				k = addedUse
			}
			return k.found(fmt.Sprintf("with %d tool uses", len(c.said)), fmt.Sprint(len(c.given))).at("", "content")
		}
		c.said = allowed
	}
	for i := range c.said {
		said, given := &c.said[i], &c.given[i]
		if !c.sameName(said.Name, given.Name) {
			return renamedUse.found(quoted(said.Name), quoted(given.Name)+c.unknown(given.Name)).at("", given.Path+".name")
		}
		path := given.Path + ".input"
		was, is := inputOf(*said), jsonvalue.Decode(given.Input)
		if place, want, found := differing(path, was, is, c.number()); place != "" {
			if other, _, _ := differing(path, was, is, sameDouble); other != "" {
				return rewrittenInput.found(want, found).at("", place)
			}
			if c.rounded == nil {
				c.rounded = roundedNumber.found(want, found+", a rounded number").at("", place)
			}
		}
	}
	return c.compareIDs()
}

func (c *rendering) unknown(name string) string {
	if indexOf(c.round.Params.Tools, name) < 0 {
		return ", which the server does not have"
	}
	return ""
}

func (c *rendering) forbidden(use dialect.Block) bool {
	return c.round.Params.ToolChoice == dialect.ChoiceNone ||
		!slices.ContainsFunc(c.round.Params.Tools, func(t dialect.Tool) bool { return c.sameName(use.Name, t.Name) })
}

// sameName reports whether the server's name of a tool can be what the model said. A name that only the client offered
// has to become the server's: a form of it, or the tool at the same place of as many tools.
func (c *rendering) sameName(said, given string) bool {
	sent := c.round.Params.Tools
	var offered []dialect.Tool
	if c.from.Request != nil {
		offered = c.from.Request.Tools
	}
	if indexOf(sent, said) >= 0 || indexOf(offered, said) < 0 {
		return said == given
	}
	isSaid := func(t dialect.Tool) bool {
		return len(offered) == len(sent) && indexOf(offered, said) == indexOf(sent, t.Name) ||
			strings.HasSuffix(plain(said), plain(t.Name))
	}
	if i := indexOf(sent, given); i >= 0 {
		return isSaid(sent[i])
	}
	return said == given && !slices.ContainsFunc(sent, isSaid)
}

func indexOf(tools []dialect.Tool, name string) int {
	return slices.IndexFunc(tools, func(t dialect.Tool) bool { return t.Name == name })
}

// plain returns the name as every provider takes it.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// compareIDs requires an id for each tool use, which no other of the result has. A client may generate them, but for
// all tool uses alike.
func (c *rendering) compareIDs() *difference {
	owner, known, kept := map[string]int{}, map[string]int{}, 0
	for i, said := range c.said {
		known[said.ID] = i
		if said.ID == c.given[i].ID {
			kept++
		}
	}
	for i, given := range c.given {
		said, path := c.said[i].ID, given.Path+".id"
		first, taken := owner[given.ID]
		swapped, isOther := known[given.ID]
		switch owner[given.ID] = i; {
		case given.ID == "":
			return otherID.found(cmp.Or(quoted(said), "a generated one"), "none").at("", path)
		case len(known) < len(c.said) && said != "": // the model repeats an id
		case taken:
			return otherID.found(cmp.Or(quoted(said), "a unique one"), quoted(given.ID)+" as for "+c.given[first].Path).
				at("", path)
		case said != "" && said != given.ID && (kept > 0 || isOther && swapped != i):
			return otherID.found(quoted(said), quoted(given.ID)).at("", path)
		}
	}
	return nil
}

func quoted(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf("%q", id)
}
