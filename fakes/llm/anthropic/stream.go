package anthropic

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// event writes an event: its name, which is also the type in its data, its other members, and a blank line.
func event(name string, members ...any) []byte {
	data := jsonvalue.Ordered(append([]any{"type", name}, members...)...)
	return append(append([]byte("event: "+name+"\ndata: "), data...), "\n\n"...)
}

// ping has a space in its data, as in real traffic.
var ping = []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n")

// stream returns the events: the empty message, the deltas of each block, then the stop reason.
// A ping follows the start of the first block, as in real traffic.
func (m *answer) stream() [][]byte {
	events := [][]byte{event("message_start", "message", m.object([]any{}, end{}, 1))}
	for i, b := range m.blocks {
		start, deltas := blockEvents(b)
		events = append(events, event("content_block_start", "index", i, "content_block", start))
		if i == 0 {
			events = append(events, ping)
		}
		for _, delta := range deltas {
			events = append(events, event("content_block_delta", "index", i, "delta", delta))
		}
		events = append(events, event("content_block_stop", "index", i))
	}
	usage := jsonvalue.Ordered("input_tokens", m.usage.Input-m.usage.Cached, "cache_creation_input_tokens", 0,
		"cache_read_input_tokens", m.usage.Cached, "output_tokens", m.usage.Output)
	delta := jsonvalue.Ordered(m.end.members()...)
	return append(events, event("message_delta", "delta", delta, "usage", usage), event("message_stop"))
}

// blockEvents returns the start of a block and its deltas. The first delta of a tool use's input is always empty.
func blockEvents(b dialect.Block) (start any, deltas []json.RawMessage) {
	add := func(kind, member, text string) {
		deltas = append(deltas, jsonvalue.Ordered("type", kind, member, text))
	}
	switch b.Type {
	case dialect.Text:
		for _, fragment := range dialect.Fragments(b.Text) {
			add("text_delta", "text", fragment)
		}
		b.Text = ""
	case dialect.Thinking:
		for _, fragment := range dialect.Fragments(b.Text) {
			add("thinking_delta", "thinking", fragment)
		}
		add("signature_delta", "signature", b.Signature)
		b.Text, b.Signature = "", ""
	case dialect.ToolUse:
		add("input_json_delta", "partial_json", "")
		if input := string(b.Input); input != string(noInput) {
			for _, fragment := range dialect.Fragments(input) {
				add("input_json_delta", "partial_json", fragment)
			}
		}
		b.Input = noInput
	}
	return contentBlock(b), deltas
}
