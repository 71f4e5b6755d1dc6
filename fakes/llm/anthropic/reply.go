package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// replyMessage is a message, or an event of its stream.
type replyMessage struct {
	Type       string
	ID         string
	Model      string
	Content    []json.RawMessage
	StopReason string `json:"stop_reason"`
	Error      json.RawMessage

	Index   int
	Message *replyMessage
	Block   json.RawMessage `json:"content_block"`
	Delta   struct {
		Text, Thinking, Signature string
		PartialJSON               string `json:"partial_json"`
		StopReason                string `json:"stop_reason"`
	}
}

// DecodeReply reads a message or a stream, whose deltas may come in any order. Blocks of other types, such as redacted
// thinking, become [dialect.Other] as they begin.
func (messages) DecodeReply(body []byte) (*dialect.DecodedReply, error) {
	r, err := readReply(body)
	if err != nil {
		return nil, err
	}
	return &r.DecodedReply, nil
}

func readReply(body []byte) (*replyReader, error) {
	r := &replyReader{blocks: map[int]*dialect.Block{}}
	if _, err := dialect.EachDocument(body, r.take); err != nil {
		return nil, err
	}
	if !r.begun {
		return nil, errors.New("the answer has no message")
	}
	for _, i := range slices.Sorted(maps.Keys(r.blocks)) {
		r.Content = append(r.Content, *r.blocks[i])
	}
	r.End(r.reason, reasons)
	r.Complete = r.Complete || r.reason != ""
	return r, nil
}

type replyReader struct {
	dialect.DecodedReply
	begun  bool
	id     string
	blocks map[int]*dialect.Block
	reason string
}

func (r *replyReader) take(m *replyMessage) error {
	switch m.Type {
	case "error":
		return dialect.ReportedError(m.Error)
	case "message":
		r.begun, r.id, r.Model, r.reason = true, m.ID, m.Model, m.StopReason
		for i, raw := range m.Content {
			if err := r.begin(i, raw); err != nil {
				return err
			}
		}
	case "message_start":
		if m.Message != nil {
			return r.take(m.Message)
		}
	case "content_block_start":
		return r.begin(m.Index, m.Block)
	case "content_block_delta":
		r.add(m)
	case "message_delta":
		r.reason = cmp.Or(m.Delta.StopReason, r.reason)
	case "message_stop":
		r.Complete = true
	}
	return nil
}

// begin adds a block, or the beginning of one.
func (r *replyReader) begin(i int, raw json.RawMessage) error {
	var b struct {
		Type, Text, Thinking, Signature, ID, Name string
		Input                                     json.RawMessage
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return err
	}
	switch t := dialect.BlockType(b.Type); t {
	case dialect.Text, dialect.Thinking:
		r.blocks[i] = &dialect.Block{Type: t, Text: b.Text + b.Thinking, Signature: b.Signature}
	case dialect.ToolUse:
		r.blocks[i] = &dialect.Block{Type: t, ID: b.ID, Name: b.Name, Input: b.Input}
	default:
		r.blocks[i] = &dialect.Block{Type: dialect.Other, Raw: raw}
	}
	return nil
}

// add adds a delta to its block. The first part of an input replaces the {} of the beginning.
func (r *replyReader) add(m *replyMessage) {
	b := r.blocks[m.Index]
	if b == nil {
		b = &dialect.Block{Type: dialect.Text}
		r.blocks[m.Index] = b
	}
	b.Text += m.Delta.Text + m.Delta.Thinking
	b.Signature += m.Delta.Signature
	if part := m.Delta.PartialJSON; part != "" {
		if string(b.Input) == string(noInput) {
			b.Input = nil
		}
		b.Input = append(slices.Clip(b.Input), part...)
	}
}
