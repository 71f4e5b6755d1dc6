package always

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
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
		found := given[c.ids[w.ID]]
		switch {
		case len(found) == 0:
			return missing(w)
		case len(found) > 1:
			return &difference{want: "one result of " + evidence.QuoteID(w.ID), got: fmt.Sprint(len(found)), sent: w.Path,
				given: found[1].Path}
		}
		if d := c.compareResult(w, &found[0], got); d != nil {
			return d
		}
	}
	if len(all) > len(sent) {
		return &difference{want: fmt.Sprintf("%d tool results in this turn", len(sent)), got: fmt.Sprint(len(all)),
			given: all[len(sent)].Path}
	}
	return nil
}

// compareResult compares the content of a tool result, and whether it is an error.
func (c *comparison) compareResult(w, g *item, turn *turn) *difference {
	texts, parts := c.partsOf(w)
	if d := c.compareMedia(w, g, turn); d != nil {
		return d
	}
	structured := at(w.Raw, "structuredContent")
	says := g.strings()
	for _, part := range append(parts, texts...) {
		if !evidence.Contains(says, part) && !g.hasJSON(part) {
			return c.otherResult(w, g, part)
		}
	}
	if link := mislabelled(w, g); link != "" {
		return c.otherResult(w, g, link)
	}
	if len(parts) == 0 && structured == nil && withMore(w, g, texts) {
		return c.otherResult(w, g, strings.Join(texts, "\n"))
	}
	if structured != nil && !g.hasStructured(structured, len(texts)+len(parts) > 0 && !c.form.Native) {
		return c.otherResult(w, g, evidence.Compact(structured))
	}
	return cmp.Or(c.compareName(w, g), c.compareError(w, g, turn, texts))
}

// compareName compares the name of the tool of a result, which some providers have, with that of its use.
func (c *comparison) compareName(w, g *item) *difference {
	if names := c.called[g.ID]; g.Name != "" && names != nil && !slices.Contains(names, g.Name) {
		return &difference{want: "a result of " + names[1], got: "one of " + g.Name, sent: w.Path, given: g.Path}
	}
	return nil
}

// withMore reports whether a result has more than the texts.
func withMore(w, g *item, texts []string) bool {
	if hasMedia(w) {
		return glued(texts, g)
	}
	return len(texts) > 0 && !givenAlone(texts, g) && !givenAlone(allTexts(w), g)
}

// partsOf returns the texts of a result, and the parts of resources that must be in it, with anything around them.
func (c *comparison) partsOf(w *item) (texts, parts []string) {
	for _, b := range w.Content {
		switch {
		case b.Type == dialect.Text && strings.TrimSpace(b.Text) != "":
			texts = append(texts, b.Text)
		case b.Type == dialect.Other:
			parts = append(parts, c.resourceParts(&b)...)
		}
	}
	return texts, parts
}

// allTexts returns the texts of a result, blank ones too, which a client may pass on or leave out.
func allTexts(w *item) []string {
	var texts []string
	for _, b := range w.Content {
		if b.Type == dialect.Text {
			texts = append(texts, b.Text)
		}
	}
	return texts
}

func (c *comparison) otherResult(w, g *item, part string) *difference {
	got := dialect.PlainText(g.Content)
	given := g.Path
	if len(g.Content) > 0 && g.Content[0].Path != "" {
		given = g.Content[0].Path
	}
	return &difference{want: fmt.Sprintf("the result of %s %s", evidence.QuoteID(w.ID), quote(part, got)),
		got: quote(got, part), sent: w.Path, given: given}
}

// resourceParts returns what of a resource or of a link must be in a result.
func (c *comparison) resourceParts(b *dialect.Block) []string {
	var o, resource dialect.Object
	_ = json.Unmarshal(b.Raw, &o) // valid params have objects
	_ = o.Read("resource", &resource)
	names := []string{"uri"}
	if resource != nil {
		o, names = resource, []string{"text", "blob"}
	}
	if c.form.Native {
		names = []string{"uri", "name", "description", "mimeType", "text", "blob"}
	}
	var parts []string
	for _, name := range names {
		if part := o.Text(name); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// mislabelled returns the JSON of a link whose address is in an object of the result, beside a name, a title, a
// description or a type that the link does not have; "" for none. What a client leaves out is its choice.
func mislabelled(w, g *item) string {
	for i := range w.Content {
		b := &w.Content[i]
		link, _ := evidence.DecodeJSON(b.Raw).(map[string]any)
		if b.Type != dialect.Other || link["uri"] == nil {
			continue
		}
		wrong := false
		for _, tree := range slices.Concat(g.trees(), g.lines()) {
			each(tree, func(value any) {
				o, _ := value.(map[string]any)
				wrong = wrong || o["uri"] == link["uri"] && !describes(o, link)
			})
		}
		if wrong {
			return string(b.Raw)
		}
	}
	return ""
}

// describes reports whether an object has nothing but words of the link where the link has words.
func describes(o, link map[string]any) bool {
	for _, name := range []string{"name", "title", "description", "mimeType"} {
		own, has := link[name].(string)
		given := o[name]
		if text, isText := given.(string); !has || given == nil || isText && (text == "" || strings.Contains(text, own)) {
			continue
		}
		known := false
		each(link, func(value any) { known = known || value == given })
		if !known {
			return false
		}
	}
	return true
}

func hasMedia(b *item) bool { return slices.ContainsFunc(b.Content, isMedium) }

func isMedium(b dialect.Block) bool { return b.Type == dialect.Image || b.Type == dialect.Audio }

// compareMedia finds the media of a result in it, or behind the results.
func (c *comparison) compareMedia(w, g *item, turn *turn) *difference {
	inside := map[string]bool{}
	for _, want := range w.Content {
		if !isMedium(want) {
			continue
		}
		encoded := base64.StdEncoding.EncodeToString(want.Data)
		found := c.findMedium(&want, g.Content, inside) || c.findMedium(&want, dialectBlocks(turn.items), c.shown)
		for _, m := range c.given.Messages {
			found = found || m.Role == dialect.User && c.findMedium(&want, m.Content, c.shown)
		}
		if !found && !(c.cannotTake(want.Type) && c.says(g, turn, encoded)) {
			return c.otherMedium(&want, g, turn)
		}
	}
	for _, b := range g.Content {
		if isMedium(b) && !inside[b.Path] {
			return &difference{want: "only the media of the result of " + w.ID, got: describe(&item{Block: b}), given: b.Path}
		}
	}
	return nil
}

// otherMedium is the difference for a medium of a result that the model was not given, with the one in its place.
func (c *comparison) otherMedium(want *dialect.Block, g *item, turn *turn) *difference {
	d := &difference{want: describe(&item{Block: *want}), got: "none", sent: want.Path, given: g.Path}
	others := slices.Concat(g.Content, dialectBlocks(turn.items))
	i := slices.IndexFunc(others, func(b dialect.Block) bool { return b.Type == want.Type && !c.shown[b.Path] })
	if i >= 0 {
		d.got, d.given = describe(&item{Block: others[i]}), others[i].Path
	}
	return d
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

func dialectBlocks(items []item) []dialect.Block {
	var blocks []dialect.Block
	for _, b := range items {
		blocks = append(blocks, b.Block)
	}
	return blocks
}

// says reports whether a result or a text of its turn has the text.
func (c *comparison) says(g *item, turn *turn, text string) bool {
	_, found := matchTexts([]string{text}, textsOf(only(turn.items, dialect.Text)), anything)
	return found || evidence.Contains(g.strings(), text)
}

// strings returns the JSON in which a result's strings are.
func (g *item) strings() any {
	if g.Raw != nil {
		return evidence.DecodeJSON(g.Raw)
	}
	return dialect.PlainText(g.Content)
}

// trees returns the JSON values in a result: those that its texts are, those of blocks of the provider, and for Gemini
// the response. A text may go on behind such a value.
func (g *item) trees() []any {
	var trees []any
	add := func(raw []byte) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		for v := any(nil); dec.Decode(&v) == nil; v = nil {
			switch v := v.(type) {
			case map[string]any, []any:
				trees = append(trees, v)
			}
		}
	}
	for _, b := range g.Content {
		switch b.Type {
		case dialect.Text:
			add([]byte(b.Text))
		case dialect.Other:
			add(b.Raw)
		}
	}
	add(at(g.Raw, "functionResponse.response"))
	add(at(g.Raw, "function_response.response"))
	return trees
}

// lines returns the JSON objects in the lines of a result's texts.
func (g *item) lines() []any {
	var objects []any
	for line := range strings.Lines(dialect.PlainText(g.Content)) {
		if o, isObject := evidence.DecodeJSON([]byte(line)).(map[string]any); isObject {
			objects = append(objects, o)
		}
	}
	return objects
}

// givenAlone reports whether a result has the texts and nothing else, except a label or JSON around them.
func givenAlone(want []string, g *item) bool {
	var said []string
	for _, b := range g.Content {
		if b.Type == dialect.Text {
			said = append(said, b.Text)
		}
	}
	if _, ok := matchTexts(want, said, labelled); ok {
		return true
	}
	for _, tree := range g.trees() {
		found := map[string]bool{}
		whole := false // in one string
		each(tree, func(value any) {
			text, isText := value.(string)
			if isText && !whole {
				_, whole = matchTexts(want, []string{text}, labelled)
			}
			for _, w := range want {
				found[w] = found[w] || isText && text == w || isJSONOf(value, w)
			}
		})
		if whole || !slices.ContainsFunc(want, func(w string) bool { return !found[w] }) {
			return true
		}
	}
	return false
}

// glued reports whether a result has its text only as part of a longer word. With media, the client may say beside the
// text where these are. It may join several texts.
func glued(texts []string, g *item) bool {
	if len(texts) != 1 || len(g.trees()) > 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(texts[0])
	last, _ := utf8.DecodeLastRuneInString(texts[0])
	parts := strings.Split(dialect.PlainText(g.Content), texts[0])
	for i := 1; i < len(parts); i++ {
		before, _ := utf8.DecodeLastRuneInString(parts[i-1])
		behind, _ := utf8.DecodeRuneInString(parts[i])
		if !(isWord(before) && isWord(first)) && !(isWord(last) && isWord(behind)) {
			return false
		}
	}
	return len(parts) > 1
}

// isWord reports whether a character is part of a word; not for the one that stands for no character.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isJSONOf reports whether a text is the JSON of an object or an array, which may be JSON in a string.
func isJSONOf(value any, text string) bool {
	switch v := value.(type) {
	case string:
		same, _ := sameJSON([]byte(v), []byte(text))
		return same && strings.HasPrefix(strings.TrimSpace(v), "{")
	case map[string]any, []any:
		same, _ := sameJSON(dialect.Marshal(value), []byte(text))
		return same
	}
	return false
}

// hasStructured reports whether a result has the structured content, which may be optional unless a text says the same.
func (g *item) hasStructured(structured []byte, optional bool) bool {
	given := at(g.Raw, "structuredContent")
	if same, _ := sameJSON(given, structured); same || given != nil || optional {
		return same || given == nil
	}
	return g.hasJSON(string(structured))
}

// hasJSON reports whether a value in a result equals the JSON of an object or an array.
func (g *item) hasJSON(text string) bool {
	found := false
	for _, tree := range g.trees() {
		each(tree, func(value any) { found = found || isJSONOf(value, text) })
	}
	return found
}

// each calls f with a decoded value and all values in it.
func each(value any, f func(any)) {
	f(value)
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			each(item, f)
		}
	case map[string]any:
		for _, item := range v {
			each(item, f)
		}
	}
}

// saysFailure matches the words by which a client may report a failure.
var saysFailure = regexp.MustCompile(`(?i)error|fail`)

// compareError compares the error flag of a result, or the words that stand for it.
func (c *comparison) compareError(w, g *item, turn *turn, texts []string) *difference {
	hasFlag := c.form.ErrorFlag
	around := without(dialect.PlainText(g.Content), texts)
	d := &difference{sent: w.Path, given: g.Path}
	switch {
	case !w.IsError && (g.IsError || len(texts) > 0 && errorLabel.MatchString(around)):
		d.want, d.got = "a successful result of "+evidence.QuoteID(w.ID), "an error"
		return d
	case !w.IsError || g.IsError || tellsFailure(g.strings(), texts):
		return nil
	}
	beside := strings.Join(textsOf(only(turn.items, dialect.Text)), "\n")
	words := strings.Join(texts, "\n")
	if saysFailure.MatchString(beside) || !hasFlag && saysFailure.MatchString(words) {
		return nil
	}
	d.want, d.got = "a failed result of "+evidence.QuoteID(w.ID), "no sign of the failure"
	return d
}

// errorLabel matches a label that says error.
var errorLabel = regexp.MustCompile(`(?i)^\W*(tool )?(error|failed|failure)\W*\s`)

// without returns a text without those that the server sent.
func without(text string, sent []string) string {
	for _, s := range sent {
		text = strings.ReplaceAll(text, s, "")
	}
	return text
}

// tellsFailure reports whether a result says by a member or by words, other than those of the server, that the tool
// failed.
func tellsFailure(value any, sent []string) bool {
	switch v := value.(type) {
	case string:
		if inner := evidence.DecodeJSON([]byte(v)); inner != nil && strings.HasPrefix(v, "{") {
			return tellsFailure(inner, sent)
		}
		return saysFailure.MatchString(without(v, sent))
	case []any:
		for _, item := range v {
			if tellsFailure(item, sent) {
				return true
			}
		}
	case map[string]any:
		for name, inner := range v {
			alone := inner == "" && len(v) == 1 && saysFailure.MatchString(name) // the failure of a tool that said nothing
			if !names[name] && (alone || tellsFailure(inner, sent) || isTrue(name, inner)) {
				return true
			}
		}
	}
	return false
}

// names are the members of a result that name the tool or its use.
var names = dialect.Set("id name tool_name tool_call_id tool_use_id call_id toolUseId")

// isTrue reports whether a member says that the tool failed.
func isTrue(name string, value any) bool {
	switch strings.ToLower(name) {
	case "success", "ok":
		return value == false
	}
	return saysFailure.MatchString(name) && value != nil && value != false && value != "" && value != json.Number("0")
}

// at returns the JSON at a path; nil for none.
func at(doc []byte, path string) json.RawMessage {
	if path == "" {
		return doc
	}
	var compact strings.Builder
	if doc == nil || !json.Valid(doc) {
		return nil
	}
	compact.Write(dialect.Marshal(json.RawMessage(doc)))
	line := []byte(compact.String())
	start, end, found := evidence.Locate(line, path)
	if !found {
		return nil
	}
	return line[start:end]
}
