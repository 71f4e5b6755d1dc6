package always

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// own says where the client may have texts of its own: before the conversation, beside tool results, or behind the
// conversation.
type own struct{ before, beside, behind bool }

// compareRest compares texts and media of a turn, in order.
func (c *comparison) compareRest(want, got *turn, o own) *difference {
	f := bare
	if want.role == dialect.User {
		f = framed
	}
	sent := c.rest(want)
	asText := c.mediaAsText(sent)
	if len(asText) > 0 {
		f = anything
	}
	given := slices.DeleteFunc(c.rest(got), func(b item) bool { return c.shown[b.Path] })
	free := c.form.BareImages || len(sent)-len(only(sent, dialect.Text)) == 1
	sentTexts, sentMedia := runs(sent, free)
	givenTexts, givenMedia := runs(given, free)
	for i := range max(len(sentMedia), len(givenMedia)) {
		switch {
		case i >= len(givenMedia):
			return lostMedium(&sentMedia[i], given)
		case i >= len(sentMedia):
			return extraMedia.found("only what the server sent", describe(&givenMedia[i])).at("", givenMedia[i].Path)
		case !c.sameMedium(&sentMedia[i].Block, &givenMedia[i].Block):
			w, g := &sentMedia[i], &givenMedia[i]
			return changedMedia.found(describe(w), describe(g)).at(w.Path, g.Path)
		}
	}
	for i := range sentTexts {
		at := own{o.before && i == 0, o.beside, o.behind && (free || i == len(sentTexts)-1)}
		if d := c.compareRun(sentTexts[i], givenTexts[i], f, at); d != nil {
			if medium := onlyMissing(asText, sentTexts[i], givenTexts[i], f, at); medium != nil {
				return medium
			}
			return d
		}
	}
	return nil
}

// compareRun compares the texts between two media. A client may put the system prompt before the user's text, which the
// prompt may contain.
func (c *comparison) compareRun(sent, given []item, f framing, o own) *difference {
	d := compareTexts(sent, given, f, o)
	if d != nil && f == framed && compareTexts(sent, c.withoutPrompt(given), f, o) == nil {
		return nil
	}
	return d
}

func (c *comparison) withoutPrompt(given []item) []item {
	given = slices.Clone(given)
	for i := range given {
		given[i].Text = strings.Replace(given[i].Text, c.sent.System, "", 1)
	}
	return given
}

// lostMedium returns the difference for a medium that the model was not given. Its data may have become a text, as they
// do where a whole block is printed.
func lostMedium(w *item, given []item) *difference {
	data := base64.StdEncoding.EncodeToString(w.Data)
	for _, g := range only(given, dialect.Text) {
		if data != "" && strings.Contains(g.Text, data) {
			return lostMedia.found(describe(w), "its base64 in a text").at(w.Path, g.Path)
		}
	}
	return notGiven(w)
}

// mediaAsText makes texts of the media that the model cannot take. It returns what they were, by path.
func (c *comparison) mediaAsText(sent []item) map[string]string {
	were := map[string]string{}
	for i := range sent {
		if b := &sent[i]; c.cannotTake(b.Type) {
			were[b.Path] = describe(b)
			b.Type, b.Text = dialect.Text, base64.StdEncoding.EncodeToString(b.Data)
		}
	}
	return were
}

// onlyMissing returns the difference for the first medium as text, if the texts are the same without those; nil if not.
func onlyMissing(asText map[string]string, sent, given []item, f framing, o own) *difference {
	isMedium := func(b item) bool { return asText[b.Path] != "" }
	first := slices.IndexFunc(sent, isMedium)
	if first < 0 || compareTexts(slices.DeleteFunc(slices.Clone(sent), isMedium), given, f, o) != nil {
		return nil
	}
	return lostMedia.found(asText[sent[first].Path], "none").at(sent[first].Path, "")
}

func (c *comparison) rest(t *turn) []item {
	return slices.DeleteFunc(slices.Clone(t.items), func(b item) bool {
		return b.Type == dialect.ToolUse || b.Type == dialect.ToolResult
	})
}

// runs splits items into the media and the texts before, between and behind them. Free media have no place among texts,
// and a single one may be before them or behind them.
func runs(items []item, free bool) (texts [][]item, media []item) {
	texts = [][]item{nil}
	for _, b := range items {
		run := &texts[len(media)]
		switch {
		case b.Type != dialect.Text:
			media, texts = append(media, b), append(texts, nil)
		case free:
			texts[0] = append(texts[0], b)
		default:
			*run = append(*run, b)
		}
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
	switch {
	case !ok:
		return unmatched(sent, given)
	case o.beside:
		return nil
	}
	return inserted(given, used, o.before, o.behind)
}

// inserted returns the first message of the client's own that is in the conversation, and neither before it nor, in the
// last turn, behind it.
func inserted(given []item, used []bool, before, last bool) *difference {
	ofServer := map[int]bool{} // by message
	for i := range given {
		ofServer[given[i].message] = ofServer[given[i].message] || used[i]
	}
	begun, end := !before, -1
	for i := range given {
		if used[i] {
			end = i
		}
	}
	for i := range given {
		g := &given[i]
		begun = begun || used[i]
		if begun && !ofServer[g.message] && !(last && i > end) {
			return inTheMiddle(g)
		}
	}
	return nil
}

func inTheMiddle(g *item) *difference {
	return extraText.found("only the messages of the server", describe(g)).at("", g.Path)
}

// unmatched returns the first text that is missing or changed.
func unmatched(sent, given []item) *difference {
	all := textsOf(given)
	for i := range sent {
		w := &sent[i]
		_, isThere := matchTexts(textsOf(sent[:i+1]), all, anything)
		switch {
		case isThere && i < len(sent)-1:
			continue
		case len(given) == 0:
			return notGiven(w)
		}
		g := &given[min(i, len(given)-1)]
		if isThere {
			g = &given[len(given)-1]
			if _, before := matchTexts(textsOf(sent), all[:len(all)-1], anything); before {
				return inTheMiddle(g)
			}
		}
		if g.Text == w.Text {
			return lostText.found(describe(w)+" once more", "none").at(w.Path, g.Path)
		}
		k := changedText
		if len(given) < len(sent) && !isThere {
			k = lostText
		}
		return k.found("the text "+quote(w.Text, g.Text), quote(g.Text, w.Text)).at(w.Path, g.Path)
	}
	return extraText.found("no text", describe(&given[0])).at("", given[0].Path)
}

func (c *comparison) cannotTake(t dialect.BlockType) bool {
	return t == dialect.Audio && c.form.NoAudio
}

func (c *comparison) sameMedium(want, got *dialect.Block) bool {
	plain := func(t string) string { return sameTypes.Replace(strings.ToLower(t)) }
	sameType := plain(want.MimeType) == plain(got.MimeType) || c.form.BareImages
	return want.Type == got.Type && sameType && (bytes.Equal(want.Data, got.Data) || sameImage(want.Data, got.Data))
}

// sameTypes has names of one type.
var sameTypes = strings.NewReplacer("/x-", "/", "image/jpg", "image/jpeg", "audio/mp3", "audio/mpeg", "audio/wave",
	"audio/wav")
