package always

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// compareTools compares the tools: each with its name, description and schema, and no other.
func (c *comparison) compareTools() *difference {
	if c.sent.ToolChoice == dialect.ChoiceNone && len(c.given.Tools) == 0 || hasTwins(c.sent.Tools) {
		return nil
	}
	pairs := c.pairTools()
	offered := map[*dialect.Tool]bool{}
	for i := range c.sent.Tools {
		w := &c.sent.Tools[i]
		g := pairs[w]
		if g == nil {
			return lostTool.found("the tool "+w.Name, story.Names(c.given.Tools)).at(w.Path, "tools")
		}
		offered[g] = true
		if !describesTool(g.Description, w.Description) || c.describesOther(g, w) {
			return changedDescription.found("the description of "+w.Name+" "+quote(w.Description, g.Description),
				quote(g.Description, w.Description)).at(w.Path, g.Path)
		}
		if !SameSchema(c.given, g, w) {
			want, got := schemaDifference(w.InputSchema, g.InputSchema)
			return changedSchema.found("the input schema of "+w.Name+" "+want, got).at(w.Path, g.Path)
		}
	}
	for i := range c.given.Tools {
		if g := &c.given.Tools[i]; !offered[g] {
			return extraTool.found("only the tools of the server", "the tool "+g.Name).at("tools", g.Path)
		}
	}
	return nil
}

// describesTool reports whether a description has the server's, with words of the client around it.
func describesTool(got, want string) bool {
	if want == "" || got == "" {
		return want == ""
	}
	_, ok := matchTexts([]string{want}, []string{got}, framed)
	return ok
}

// describesOther reports whether a description has that of another tool, which the server did not write there.
func (c *comparison) describesOther(g, w *dialect.Tool) bool {
	return slices.ContainsFunc(c.sent.Tools, func(t dialect.Tool) bool {
		return len(t.Description) >= leastForeign && strings.Contains(g.Description, t.Description) &&
			!strings.Contains(w.Description, t.Description)
	})
}

// hasTwins reports whether two tools have one name.
func hasTwins(tools []dialect.Tool) bool {
	seen := map[string]bool{}
	for _, t := range tools {
		if seen[t.Name] {
			return true
		}
		seen[t.Name] = true
	}
	return false
}

// pairTools returns what the model was offered for each tool of the server, the clearest pairs first: several names may
// become alike.
func (c *comparison) pairTools() map[*dialect.Tool]*dialect.Tool {
	pairs := map[*dialect.Tool]*dialect.Tool{}
	for _, same := range []func(w, g *dialect.Tool) bool{
		func(w, g *dialect.Tool) bool { return g.Name == w.Name && g.Description == w.Description },
		func(w, g *dialect.Tool) bool { return g.Description == w.Description && SameSchema(c.given, g, w) },
		func(w, g *dialect.Tool) bool { return g.Name == w.Name },
		func(*dialect.Tool, *dialect.Tool) bool { return true },
	} {
		for i := range c.sent.Tools {
			w := &c.sent.Tools[i]
			for j := 0; j < len(c.given.Tools) && pairs[w] == nil; j++ {
				if g := &c.given.Tools[j]; c.isNameOf(g.Name, w.Name) && same(w, g) && c.sameTool(w.Name, g.Name) {
					pairs[w] = g
				}
			}
		}
	}
	return pairs
}

// sameTool reports whether two names are of one tool, and remembers it: a client may rename tools, each always the same
// way.
func (c *comparison) sameTool(want, got string) bool {
	if c.tools[want] != "" || c.owners[got] != "" {
		return c.tools[want] == got && c.owners[got] == want
	}
	if !c.isNameOf(got, want) {
		return false
	}
	c.tools[want], c.owners[got] = got, want
	return true
}

// nameFor returns the name that a tool has for the model, and owned one of those names with the server's, if they
// differ.
func (c *comparison) nameFor(tool string) string {
	return c.owned(cmp.Or(c.tools[tool], tool))
}

func (c *comparison) owned(name string) string {
	if owner := c.owners[name]; owner != "" && owner != name {
		return fmt.Sprintf("%s, as the tool %s is offered", name, owner)
	}
	return name
}

// refusedCharacters matches the characters of names that some provider refuses.
var refusedCharacters = regexp.MustCompile(`[^A-Za-z0-9]+`)

// numbered matches the number by which a client tells names apart that would be the same.
var numbered = regexp.MustCompile(`_[0-9]$`)

// isNameOf reports whether a client may give a tool another name: with the server before it, with other characters in
// place of those that the provider refuses, with a number behind it, and shorter if it is too long. A name without
// letters and digits may become any that no other tool has.
func (c *comparison) isNameOf(got, want string) bool {
	const most, enough = 64, 32 // characters: OpenAI takes 64
	if got == want {
		return true
	}
	given, sent := refusedCharacters.ReplaceAllString(got, "_"), refusedCharacters.ReplaceAllString(want, "_")
	switch {
	case sent == "_":
		return !slices.ContainsFunc(c.sent.Tools, func(t dialect.Tool) bool { return t.Name == got })
	case len(sent) > most && strings.Contains(given, sent[:enough]):
		return true
	}
	return story.IsNameOf(got, want) || story.IsNameOf(numbered.ReplaceAllString(got, ""), want)
}

func (c *comparison) compareChoice() *difference {
	want, got := cmp.Or(c.sent.ToolChoice, dialect.ChoiceAuto), cmp.Or(c.given.ToolChoice, dialect.ChoiceAuto)
	onlyOne := len(c.given.Tools) == 1 && strings.HasPrefix(got, "tool:")
	switch {
	case len(c.given.Tools) == 0, c.form.NoToolChoice, got == want,
		want == dialect.ChoiceRequired && onlyOne:
		return nil
	}
	return lostChoice.found("the tool choice "+want, cmp.Or(c.given.ToolChoice, "none given, which means auto")).
		at("toolChoice", "")
}
