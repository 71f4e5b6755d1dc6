package always

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// compareResults compares the tool results of a turn, by id.
func (c *comparison) compareResults(want, got *turn) *difference {
	given := map[string][]item{}
	all := only(got.items, dialect.ToolResult)
	for _, g := range all {
		given[g.ID] = append(given[g.ID], g)
	}
	sent := only(want.items, dialect.ToolResult)
	for i := range sent {
		w := &sent[i]
		found := given[c.uses[w.ID][1].ID]
		switch {
		case len(found) == 0:
			return cmp.Or(c.misnamed(w, all), c.saidByUser(w, got), notGiven(w))
		case len(found) > 1:
			return extraResult.found("one result of "+evidence.QuoteID(w.ID), fmt.Sprint(len(found))).
				at(w.Path, found[1].Path)
		}
		if d := c.compareResult(w, &found[0], got); d != nil {
			return d
		}
	}
	if len(all) > len(sent) {
		return extraResult.found(fmt.Sprintf("%d tool results in this turn", len(sent)), fmt.Sprint(len(all))).
			at("", all[len(sent)].Path)
	}
	return nil
}

// compareResult compares a tool result: its media, its content as a rendering of what the server sent, the name of its
// tool, which some providers have, and whether it is an error.
func (c *comparison) compareResult(w, g *item, turn *turn) *difference {
	if d := c.compareMedia(w, g, turn); d != nil {
		return d
	}
	texts, parts := c.partsOf(w)
	given := renderingOf(g)
	if part, ok := given.faithful(w, texts, parts, c.form.Native); !ok {
		says := from(dialect.PlainText(g.Content), part)
		place := g.Path
		if len(g.Content) > 0 {
			place = cmp.Or(g.Content[0].Path, place)
		}
		return changedResult.found("the result of "+evidence.QuoteID(w.ID)+" "+quote(part, says), quote(says, part)).
			at(w.Path, place)
	}
	if c.namesOther(w, g) {
		return c.otherName(w, g)
	}
	return c.compareError(w, g, turn, given, texts)
}

// from returns the text from where it first begins as part does; the whole text if it does not.
func from(text, part string) string {
	const beginning = 16 // bytes
	return text[max(0, strings.Index(text, part[:min(beginning, len(part))])):]
}

// namesOther reports whether a result is given under the name of another tool, or of none.
func (c *comparison) namesOther(w, g *item) bool {
	use, known := c.uses[w.ID]
	return known && g.Name != "" && g.Name != use[0].Name && g.Name != use[1].Name
}

// misnamed returns the difference for a result whose content is given under another name; nil without one.
func (c *comparison) misnamed(w *item, all []item) *difference {
	texts, parts := c.partsOf(w)
	for i := range all {
		if g := &all[i]; c.namesOther(w, g) {
			if _, ok := renderingOf(g).faithful(w, texts, parts, c.form.Native); ok {
				return c.otherName(w, g)
			}
		}
	}
	return nil
}

// saidByUser returns the difference for a result whose text a text of the user has; nil without one.
func (c *comparison) saidByUser(w *item, got *turn) *difference {
	texts, _ := c.partsOf(w)
	for _, g := range only(got.items, dialect.Text) {
		if len(texts) > 0 && strings.Contains(g.Text, texts[0]) {
			return lostResult.found(describe(w), "it as a text of the user").at(w.Path, g.Path)
		}
	}
	return nil
}

func (c *comparison) otherName(w, g *item) *difference {
	return misnamedResult.found("a result of "+c.uses[w.ID][1].Name, "one of "+g.Name).at(w.Path, g.Path)
}

// partsOf returns the texts of a result, and the parts of resources that must be in it: the address of a link, and the
// content of a resource.
func (c *comparison) partsOf(w *item) (texts, parts []string) {
	for _, b := range w.Content {
		switch {
		case b.Type == dialect.Text && strings.TrimSpace(b.Text) != "":
			texts = append(texts, b.Text)
		case b.Type == dialect.Other:
			var o, resource jsonvalue.Object
			_ = json.Unmarshal(b.Raw, &o) // valid params have objects
			_ = o.Read("resource", &resource)
			names := []string{"uri"}
			if resource != nil {
				o, names = resource, []string{"text", "blob"}
			}
			if c.form.Native {
				names = []string{"uri", "name", "description", "mimeType", "text", "blob"}
			}
			for _, name := range names {
				if part := o.Text(name); part != "" {
					parts = append(parts, part)
				}
			}
		}
	}
	return texts, parts
}

func hasMedia(b *item) bool { return slices.ContainsFunc(b.Content, isMedium) }

func isMedium(b dialect.Block) bool { return b.Type == dialect.Image || b.Type == dialect.Audio }

// compareMedia finds the media of a result in it, or in a message of the user.
func (c *comparison) compareMedia(w, g *item, turn *turn) *difference {
	inside := map[string]bool{}
	for _, want := range w.Content {
		if !isMedium(want) {
			continue
		}
		found := c.findMedium(&want, g.Content, inside) || c.findMedium(&want, blocksOf(turn), c.shown)
		for _, m := range c.given.Messages {
			found = found || m.Role == dialect.User && c.findMedium(&want, m.Content, c.shown)
		}
		encoded := base64.StdEncoding.EncodeToString(want.Data)
		if !found && !(c.cannotTake(want.Type) && says(g, turn, encoded)) {
			return c.otherMedium(&want, g, turn)
		}
	}
	for _, b := range g.Content {
		if isMedium(b) && !inside[b.Path] {
			return extraMedia.found("only the media of the result of "+w.ID, describe(&item{Block: b})).at("", b.Path)
		}
	}
	return cmp.Or(c.swapped(w, g.Content), c.swapped(w, blocksOf(turn)))
}

// swapped returns the difference for two media of one result that changed places: both are in one message of the model
// request, and nothing else there equals them.
func (c *comparison) swapped(w *item, blocks []dialect.Block) *difference {
	last, before := -1, dialect.Block{}
	for _, want := range w.Content {
		if !isMedium(want) {
			continue
		}
		same := func(b dialect.Block) bool { return c.sameMedium(&want, &b) }
		at := slices.IndexFunc(blocks, same)
		if at < 0 || slices.ContainsFunc(blocks[at+1:], same) {
			return nil
		}
		if at < last {
			return changedOrder.found(describe(&item{Block: want})+" behind "+describe(&item{Block: before}),
				"it before that").at(want.Path, blocks[at].Path)
		}
		last, before = at, want
	}
	return nil
}

// otherMedium is the difference for a medium of a result that the model was not given, with the one in its place.
func (c *comparison) otherMedium(want *dialect.Block, g *item, turn *turn) *difference {
	wanted := describe(&item{Block: *want})
	for _, b := range slices.Concat(g.Content, blocksOf(turn)) {
		if b.Type == want.Type && !c.shown[b.Path] {
			return changedMedia.found(wanted, describe(&item{Block: b})).at(want.Path, b.Path)
		}
	}
	return lostMedia.found(wanted, "none").at(want.Path, g.Path)
}

// findMedium finds a medium that was not found before.
func (c *comparison) findMedium(want *dialect.Block, blocks []dialect.Block, found map[string]bool) bool {
	for i := range blocks {
		if b := &blocks[i]; c.sameMedium(want, b) && !found[b.Path] {
			found[b.Path] = true
			return true
		}
	}
	return false
}

func blocksOf(t *turn) []dialect.Block {
	var blocks []dialect.Block
	for _, b := range t.items {
		blocks = append(blocks, b.Block)
	}
	return blocks
}

func says(g *item, turn *turn, text string) bool {
	_, found := matchTexts([]string{text}, textsOf(only(turn.items, dialect.Text)), anything)
	return found || jsonvalue.Contains(renderingOf(g).value, text)
}

// errorLabel matches a label by which a client may report a failure.
var errorLabel = regexp.MustCompile(`(?i)^\W*(tool )?(error|failed|failure)\W*\s`)

// compareError compares the error flag of a result, or the words that stand for it.
func (c *comparison) compareError(w, g *item, turn *turn, given *rendered, texts []string) *difference {
	around := without(dialect.PlainText(g.Content), texts)
	switch {
	case !w.IsError && (g.IsError || len(texts) > 0 && errorLabel.MatchString(around)):
		return addedError.found("a successful result of "+evidence.QuoteID(w.ID), "an error").at(w.Path, g.Path)
	case !w.IsError, g.IsError, tellsFailure(given.value, texts),
		check.SaysError.MatchString(strings.Join(textsOf(only(turn.items, dialect.Text)), "\n")),
		!c.form.ErrorFlag && check.SaysError.MatchString(strings.Join(texts, "\n")):
		return nil
	}
	return lostError.found("a failed result of "+evidence.QuoteID(w.ID), "no sign of the failure").at(w.Path, g.Path)
}

// without removes texts from another. The longest ones come first: a shorter one may be a part of them.
func without(text string, sent []string) string {
	longer := func(a, b string) int { return cmp.Compare(len(b), len(a)) }
	for _, s := range slices.SortedStableFunc(slices.Values(sent), longer) {
		text = strings.ReplaceAll(text, s, "")
	}
	return text
}

// tellsFailure reports whether a result says by a member or by words, other than those of the server, that the tool
// failed.
func tellsFailure(value any, sent []string) bool {
	switch v := value.(type) {
	case string:
		if inner := jsonvalue.Decode([]byte(v)); inner != nil && strings.HasPrefix(v, "{") {
			return tellsFailure(inner, sent)
		}
		return check.SaysError.MatchString(without(v, sent))
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return tellsFailure(item, sent) })
	case map[string]any:
		for name, inner := range v {
			alone := inner == "" && len(v) == 1 && check.SaysError.MatchString(name) // the failure of a tool that said nothing
			if !namesTool[name] && (alone || tellsFailure(inner, sent) || isTrue(name, inner)) {
				return true
			}
		}
	}
	return false
}

// namesTool has the members of a result that name the tool or its use.
var namesTool = jsonvalue.Set("id name tool_name tool_call_id tool_use_id call_id toolUseId")

// isTrue reports whether a member says that the tool failed.
func isTrue(name string, value any) bool {
	switch strings.ToLower(name) {
	case "success", "ok":
		return value == false
	}
	return check.SaysError.MatchString(name) && value != nil && value != false && value != "" && value != json.Number("0")
}
