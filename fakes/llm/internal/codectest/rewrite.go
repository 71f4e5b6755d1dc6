package codectest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
)

// Rewrites writes a request of another dialect and reads it. The codec accepts it, and it is the same, except for what
// the Form cannot hold.
func Rewrites(t *testing.T, codec dialect.Codec, header http.Header) {
	text := func(s string) dialect.Block { return dialect.Block{Type: dialect.Text, Text: s} }
	picture := dialect.Block{Type: dialect.Image, MimeType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	use := func(id, name, input string) dialect.Block {
		return dialect.Block{Type: dialect.ToolUse, ID: id, Name: name, Input: json.RawMessage(input)}
	}
	result := func(id, name string, isError bool, content ...dialect.Block) dialect.Block {
		return dialect.Block{Type: dialect.ToolResult, ID: id, Name: name, IsError: isError, Content: content}
	}
	message := func(role dialect.Role, content ...dialect.Block) dialect.Message {
		return dialect.Message{Role: role, Content: content}
	}
	limit, temperature := int64(100), 0.5
	schema := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)
	form := codec.Facts().Form
	for _, choice := range []string{"", dialect.ChoiceAuto, dialect.ChoiceRequired} {
		r := &dialect.Request{
			Dialect: "another", Header: header, Model: cmp.Or(codec.Facts().SmallModel, "small"), System: "Be brief.",
			Messages: []dialect.Message{
				message(dialect.User, text("Compare \"this\" <with> Köln."), picture),
				message(dialect.Assistant, text("I'll look."), use("callAAAA1", "weather", `{"city":"Köln"}`),
					use("callAAAA2", "look", `{}`)),
				message(dialect.User, result("callAAAA1", "weather", false, text("18°C"), text("dry"), picture),
					result("callAAAA2", "look", true, text("no camera"))),
				message(dialect.Assistant, text("It is dry.")),
				message(dialect.User, text("And now?")),
			},
			Tools: []dialect.Tool{{Name: "weather", Description: "tells the weather", InputSchema: schema},
				{Name: "look", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)}},
			ToolChoice: choice, MaxTokens: &limit, Temperature: &temperature, StopSequences: []string{"END"}, Stream: true,
		}
		rewritten, refused := dialect.Rewritten(codec, r)
		require.Nil(t, refused)
		require.Nil(t, codec.Check(rewritten))
		require.Equal(t, normal(r, form), normal(rewritten, form))
		r.Messages[2].Content[0].Content[0] = dialect.Block{Type: dialect.Other, Raw: json.RawMessage(`{"uri":"a:b"}`)}
		rewritten, refused = dialect.Rewritten(codec, r)
		require.Nil(t, refused)
		require.Contains(t, dialect.PlainText(dialect.Blocks(rewritten.Messages, dialect.ToolResult)), `{"uri":"a:b"}`)
	}
}

// CheckRewritten fails the test if a request that the codec read is another one after the codec wrote it.
func CheckRewritten(t *testing.T, codec dialect.Codec, r *dialect.Request) {
	t.Helper()
	rewritten, refused := dialect.Rewritten(codec, r)
	if refused != nil {
		t.Fatalf("the codec refuses what it wrote: %v", refused)
	}
	form := codec.Facts().Form
	expected, found := numbered(normal(r, form)), numbered(normal(rewritten, form))
	require.Equal(t, expected, found)
}

// normal returns the neutral members of a request without what a form cannot hold, and without what is written in
// several ways: texts in a row, media in or after a tool result, turns in several messages.
func normal(r *dialect.Request, form dialect.Form) *dialect.Request {
	n := &dialect.Request{Model: r.Model, System: r.System, ToolChoice: r.ToolChoice, MaxTokens: r.MaxTokens,
		Temperature: r.Temperature, Stream: r.Stream && !form.Plain}
	if form.NoToolChoice || len(r.Tools) == 0 || r.ToolChoice == dialect.ChoiceAuto {
		n.ToolChoice = ""
	}
	if !form.NoStopSequences {
		n.StopSequences = append(n.StopSequences, r.StopSequences...)
	}
	for _, m := range codecs.MessagesFor(r, r.Dialect) {
		content := normalBlocks(m.Content, form)
		switch last := len(n.Messages) - 1; {
		case len(content) == 0:
		case last >= 0 && n.Messages[last].Role == m.Role:
			n.Messages[last].Content = inOrder(append(n.Messages[last].Content, content...), form)
		default:
			n.Messages = append(n.Messages, dialect.Message{Role: m.Role, Content: inOrder(content, form)})
		}
	}
	for _, t := range r.Tools {
		n.Tools = append(n.Tools, dialect.Tool{Name: t.Name, Description: t.Description, InputSchema: compact(t.InputSchema)})
	}
	return n
}

func normalBlocks(blocks []dialect.Block, form dialect.Form) (all []dialect.Block) {
	for _, b := range blocks {
		n := dialect.Block{Type: b.Type, Text: b.Text, Signature: b.Signature, ID: b.ID, Name: b.Name, MimeType: b.MimeType,
			Input: compact(b.Input), IsError: b.IsError && form.ErrorFlag}
		n.Data = append(n.Data, b.Data...)
		if b.Type == dialect.Other {
			n.Raw = compact(b.Raw)
		}
		if form.BareImages {
			n.MimeType = ""
		}
		var shown []dialect.Block
		for _, inner := range inOrder(normalBlocks(b.Content, form), form) {
			if inner.Type == dialect.Text {
				n.Content = append(n.Content, inner)
			} else {
				shown = append(shown, inner)
			}
		}
		if !(b.Type == dialect.Text && b.Text == "" || b.Type == dialect.Audio && form.NoAudio) {
			all = append(append(all, n), shown...)
		}
	}
	return all
}

// inOrder puts tool results first, and in a form without order joins the texts and puts them before the tool uses.
func inOrder(blocks []dialect.Block, form dialect.Form) []dialect.Block {
	order := []dialect.BlockType{dialect.ToolResult}
	if form.Unordered {
		order = []dialect.BlockType{dialect.ToolUse, dialect.Text, dialect.Thinking, dialect.ToolResult}
	}
	blocks = slices.Clone(blocks)
	slices.SortStableFunc(blocks, func(a, b dialect.Block) int {
		return slices.Index(order, b.Type) - slices.Index(order, a.Type)
	})
	var all []dialect.Block
	for _, b := range blocks {
		last := len(all) - 1
		if joins := form.Unordered && (b.Type == dialect.Text || b.Type == dialect.Thinking); joins && last >= 0 &&
			all[last].Type == b.Type {
			all[last].Text = strings.TrimSpace(all[last].Text + "\n" + b.Text)
		} else {
			all = append(all, b)
		}
	}
	return all
}

// numbered gives tool uses numbers as ids: some decoders generate ids.
func numbered(r *dialect.Request) *dialect.Request {
	ids := map[string]string{"": ""}
	for i := range r.Messages {
		for j := range r.Messages[i].Content {
			id := &r.Messages[i].Content[j].ID
			if _, known := ids[*id]; !known {
				ids[*id] = fmt.Sprint(len(ids))
			}
			*id = ids[*id]
		}
	}
	return r
}

func compact(raw json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}
