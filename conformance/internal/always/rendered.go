package always

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// rendered is a tool result as the model was given it: no rule says how a client writes what the server sent.
type rendered struct {
	*item
	// value is the decoded JSON of the result, or its text.
	value any
	// trees are the objects and arrays in it: those that its texts are, or begin with, those of blocks of the provider,
	// and for Gemini the response.
	trees []any
}

func renderingOf(g *item) *rendered {
	r := &rendered{item: g, value: dialect.PlainText(g.Content)}
	if g.Raw != nil {
		r.value = jsonvalue.Decode(g.Raw)
	}
	for _, b := range g.Content {
		switch b.Type {
		case dialect.Text:
			r.addTrees([]byte(b.Text))
			for _, part := range jsonIn(b.Text) {
				r.addTrees([]byte(part))
			}
		case dialect.Other:
			r.addTrees(b.Raw)
		}
	}
	r.addTrees(at(g.Raw, "functionResponse.response"))
	r.addTrees(at(g.Raw, "function_response.response"))
	return r
}

func (r *rendered) addTrees(raw []byte) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for v := any(nil); dec.Decode(&v) == nil; v = nil {
		switch v.(type) {
		case map[string]any, []any:
			r.trees = append(r.trees, v)
		}
	}
}

// jsonIn returns the objects and arrays in a text that a frame or a label precedes.
func jsonIn(text string) []string {
	var all []string
	for at := 0; at < len(text); at++ {
		if at == 0 || !strings.ContainsRune("{[", rune(text[at])) || !label.MatchString(text[max(at-8, 0):at]) {
			continue
		}
		if part := jsonAt(text, at); part != "" {
			all = append(all, part)
			at += len(part) - 1
		}
	}
	return all
}

// jsonAt returns the JSON that begins at a place of a text; "" for none.
func jsonAt(text string, at int) string {
	dec := json.NewDecoder(strings.NewReader(text[at:]))
	var part json.RawMessage
	if dec.Decode(&part) != nil {
		return ""
	}
	return text[at : at+int(dec.InputOffset())]
}

// has reports whether f is true of a value in the trees.
func (r *rendered) has(f func(any) bool) bool {
	return slices.ContainsFunc(r.trees, func(tree any) bool { return anyIn(tree, f) })
}

// anyIn reports whether f is true of a decoded value or one in it.
func anyIn(value any, f func(any) bool) bool {
	in := func(inner any) bool { return anyIn(inner, f) }
	switch v := value.(type) {
	case []any:
		return f(value) || slices.ContainsFunc(v, in)
	case map[string]any:
		if f(value) {
			return true
		}
		for _, inner := range v {
			if in(inner) {
				return true
			}
		}
		return false
	}
	return f(value)
}

// faithful reports whether the rendering has the texts, the parts of resources and the structured content of a result,
// and nothing else except a label or JSON around them. If it has not, faithful returns what is wrong.
func (r *rendered) faithful(w *item, texts, parts []string, native bool) (wrong string, ok bool) {
	for _, part := range slices.Concat(parts, texts) {
		if !jsonvalue.Contains(r.value, part) && !r.hasJSON(part) {
			return part, false
		}
	}
	if link := r.mislabelled(w); link != "" {
		return link, false
	}
	structured := at(w.Raw, "structuredContent")
	if len(parts) == 0 && structured == nil && r.hasMore(w, texts) {
		return strings.Join(texts, "\n"), false
	}
	if structured != nil && !r.hasStructured(structured, len(texts)+len(parts) > 0 && !native) {
		return evidence.Compact(structured), false
	}
	if structured != nil && len(parts) == 0 && !hasMedia(w) && r.hasWords(texts, structured) {
		return strings.Join(append(texts, evidence.Compact(structured)), "\n"), false
	}
	return "", true
}

// hasWords reports whether a text of the rendering has words beside the texts and the structured content, other than a
// label or a frame. JSON has them in members.
func (r *rendered) hasWords(texts []string, structured []byte) bool {
	var whole []string
	for _, b := range only(itemsOf(r.Content), dialect.Text) {
		if !json.Valid([]byte(b.Text)) {
			whole = append(whole, b.Text)
		}
	}
	said := strings.Join(whole, "\n")
	isIn := func(w string) bool { return strings.Contains(said, w) }
	copies := append(renderedIn(said, structured), "") // or none
	if !slices.ContainsFunc(texts, isIn) && len(copies) == 1 {
		return false
	}
	for _, copied := range copies {
		wanted := slices.DeleteFunc(append(slices.Clone(texts), copied), func(w string) bool { return w == "" || !isIn(w) })
		slices.SortStableFunc(wanted, func(a, b string) int { return strings.Index(said, a) - strings.Index(said, b) })
		if _, ok := matchTexts(wanted, whole, labelled); ok && len(wanted) > 0 {
			return false
		}
	}
	return true
}

// renderedIn returns the JSON of the structured content in what is said, as often as it is there.
func renderedIn(said string, structured []byte) []string {
	var all []string
	for at := 0; at < len(said); at++ {
		if said[at] != '{' && said[at] != '[' {
			continue
		}
		if part := jsonAt(said, at); isJSONOf(jsonvalue.Decode([]byte(part)), string(structured)) {
			all = append(all, part)
			at += len(part) - 1
		}
	}
	return all
}

// unset matches what a program writes for a value that it does not have, also behind a label such as "Error:".
var unset = regexp.MustCompile(
	`^\s*(?i:(tool )?(error|failed|failure)\W*)?(undefined|None|NaN|<nil>|\[object Object\])\s*$`)

// hasMore reports whether the rendering has more than the texts. Blank ones may be in it or not. Beside media, the
// client may say where these are.
func (r *rendered) hasMore(w *item, texts []string) bool {
	if len(texts) == 0 && unset.MatchString(dialect.PlainText(r.Content)) {
		return true
	}
	return hasMedia(w) && r.glues(texts) || !hasMedia(w) && len(texts) > 0 && !r.isOnly(texts) &&
		!r.isOnly(textsOf(only(itemsOf(w.Content), dialect.Text)))
}

func itemsOf(blocks []dialect.Block) []item {
	var items []item
	for _, b := range blocks {
		items = append(items, item{Block: b})
	}
	return items
}

// isOnly reports whether the rendering has the texts and nothing else, except a label or JSON around them.
func (r *rendered) isOnly(want []string) bool {
	labels := func(said ...string) bool {
		_, ok := matchTexts(want, said, labelled)
		return ok
	}
	return labels(textsOf(only(itemsOf(r.Content), dialect.Text))...) || slices.ContainsFunc(r.trees, func(tree any) bool {
		return anyIn(tree, func(value any) bool {
			text, isText := value.(string)
			return isText && labels(text)
		}) || !slices.ContainsFunc(want, func(w string) bool {
			return !anyIn(tree, func(value any) bool { return value == any(w) || isJSONOf(value, w) })
		})
	})
}

// glues reports whether the rendering has its text only as part of a longer word. It may join several texts.
func (r *rendered) glues(texts []string) bool {
	if len(texts) != 1 || len(r.trees) > 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(texts[0])
	last, _ := utf8.DecodeLastRuneInString(texts[0])
	parts := strings.Split(dialect.PlainText(r.Content), texts[0])
	for i := 1; i < len(parts); i++ {
		before, _ := utf8.DecodeLastRuneInString(parts[i-1])
		behind, _ := utf8.DecodeRuneInString(parts[i])
		if !(isWord(before) && isWord(first)) && !(isWord(last) && isWord(behind)) {
			return false
		}
	}
	return len(parts) > 1
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// hasStructured reports whether the rendering has the structured content, which may be optional unless a text says the
// same.
func (r *rendered) hasStructured(structured []byte, optional bool) bool {
	given := at(r.Raw, "structuredContent")
	if same, _ := sameJSON(given, structured); same || given != nil || optional {
		return same || given == nil
	}
	return r.hasJSON(string(structured))
}

// hasJSON reports whether a value in the rendering equals the JSON of an object or an array.
func (r *rendered) hasJSON(text string) bool {
	return r.has(func(value any) bool { return isJSONOf(value, text) })
}

// isJSONOf reports whether a text is the JSON of an object or an array, which may be JSON in a string.
func isJSONOf(value any, text string) bool {
	switch v := value.(type) {
	case string:
		same, _ := sameJSON([]byte(v), []byte(text))
		return same && strings.HasPrefix(strings.TrimSpace(v), "{")
	case map[string]any, []any:
		same, _ := sameJSON(jsonvalue.Marshal(value), []byte(text))
		return same
	}
	return false
}

// mislabelled returns the JSON of a link whose address is in an object of the rendering, beside a name, a title, a
// description or a type that the link does not have; "" for none. What a client leaves out is its choice.
func (r *rendered) mislabelled(w *item) string {
	for i := range w.Content {
		b := &w.Content[i]
		link, _ := jsonvalue.Decode(b.Raw).(map[string]any)
		if b.Type != dialect.Other || link["uri"] == nil {
			continue
		}
		isWrong := func(value any) bool {
			o, _ := value.(map[string]any)
			return o["uri"] == link["uri"] && !describes(o, link)
		}
		if r.has(isWrong) {
			return string(b.Raw)
		}
		for line := range strings.Lines(dialect.PlainText(r.Content)) {
			if o, isObject := jsonvalue.Decode([]byte(line)).(map[string]any); isObject && anyIn(o, isWrong) {
				return string(b.Raw)
			}
		}
	}
	return ""
}

// describes reports whether an object has nothing but words of the link where the link has words.
func describes(o, link map[string]any) bool {
	for _, name := range []string{"name", "title", "description", "mimeType"} {
		own, has := link[name].(string)
		given := o[name]
		text, isText := given.(string)
		if has && given != nil && !(isText && (text == "" || strings.Contains(text, own))) &&
			!anyIn(link, func(value any) bool { return jsonvalue.Equal(value, given) }) {
			return false
		}
	}
	return true
}

// at returns the JSON at a path; nil for none.
func at(doc []byte, path string) json.RawMessage {
	if part := jsonvalue.Part(doc, path); part != nil {
		return jsonvalue.Marshal(part)
	}
	return nil
}
