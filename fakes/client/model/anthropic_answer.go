package model

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// askAnthropic asks Anthropic's messages.
func (m *Model) askAnthropic(ctx context.Context, params map[string]any) (map[string]any, error) {
	body, err := anthropicBody(params, !m.options.Plain)
	if err != nil {
		return nil, err
	}
	header := http.Header{"X-Api-Key": {m.options.Key}, "Anthropic-Version": {"2023-06-01"}}
	answer, err := m.post(ctx, "/v1/messages", header, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	read := readAnthropicStream
	if m.options.Plain {
		read = readAnthropic
	}
	t, err := read(answer)
	if err != nil {
		return nil, err
	}
	return t.result(), nil
}

// anthropicTurn is the model's turn: its blocks as MCP writes them, and why it ended.
type anthropicTurn struct {
	blocks        []map[string]any
	reason, model string
}

// anthropicReasons are MCP's words. Other reasons of the provider are passed on.
var anthropicReasons = map[string]string{
	"end_turn": "endTurn", "tool_use": "toolUse", "max_tokens": "maxTokens", "stop_sequence": "stopSequence",
}

// result returns the turn as a CreateMessageResult: without tool uses as one text, which every revision can read.
func (t *anthropicTurn) result() map[string]any {
	result := map[string]any{"role": "assistant", "model": t.model, "stopReason": t.reason}
	if word, ok := anthropicReasons[t.reason]; ok {
		result["stopReason"] = word
	}
	said, uses := "", false
	blocks := []any{}
	for _, b := range t.blocks {
		uses = uses || b["type"] == "tool_use"
		said += mcpjson.Text(b, "text")
		if b["type"] != "text" || b["text"] != "" {
			blocks = append(blocks, b)
		}
	}
	result["content"] = any(blocks)
	if !uses {
		result["content"] = map[string]any{"type": "text", "text": said}
	}
	return result
}

// anthropicAnswerBlock is a block of the answer, or its beginning.
type anthropicAnswerBlock struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// add adds a block. The model's thinking is not for the server.
func (t *anthropicTurn) add(b *anthropicAnswerBlock) {
	switch b.Type {
	case "text":
		t.blocks = append(t.blocks, map[string]any{"type": "text", "text": b.Text})
	case "tool_use":
		use := map[string]any{"type": "tool_use", "id": b.ID, "name": b.Name, "input": inputOf(b.Input)}
		t.blocks = append(t.blocks, use)
	}
}

func readAnthropic(answer io.Reader) (*anthropicTurn, error) {
	var message struct {
		Type       string                 `json:"type"`
		Model      string                 `json:"model"`
		Content    []anthropicAnswerBlock `json:"content"`
		StopReason string                 `json:"stop_reason"`
	}
	if err := decode(answer, &message); err != nil {
		return nil, err
	}
	if message.Type != "message" {
		return nil, fmt.Errorf("expected a message, found type %q", message.Type)
	}
	t := &anthropicTurn{model: message.Model, reason: message.StopReason}
	for i := range message.Content {
		t.add(&message.Content[i])
	}
	return t, nil
}

// anthropicEvent is the data of an event.
type anthropicEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string `json:"model"`
	} `json:"message"`
	Block anthropicAnswerBlock `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
}

// anthropicStream is the part of a stream that was read.
type anthropicStream struct {
	anthropicTurn
	begun, done bool
	open        map[int]bool // blocks that have not ended
	byIndex     map[int]*anthropicAnswerBlock
}

// readAnthropicStream reads events up to message_stop.
func readAnthropicStream(answer io.Reader) (*anthropicTurn, error) {
	s := &anthropicStream{open: map[int]bool{}, byIndex: map[int]*anthropicAnswerBlock{}}
	var invalid error
	err := sse.Events(answer, func(data []byte) bool {
		var e anthropicEvent
		if invalid = json.Unmarshal(data, &e); invalid == nil {
			invalid = s.take(&e)
		}
		return invalid == nil && !s.done
	})
	switch {
	case invalid != nil:
		return nil, invalid
	case err != nil:
		return nil, err
	case !s.done || len(s.open) > 0:
		return nil, errCutShort
	}
	for _, i := range slices.Sorted(maps.Keys(s.byIndex)) {
		b := s.byIndex[i]
		if len(b.Input) == 0 {
			b.Input = []byte("{}")
		}
		s.add(b)
	}
	return &s.anthropicTurn, nil
}

// take adds one event. Unknown events and deltas are skipped: the API may add new ones.
func (s *anthropicStream) take(e *anthropicEvent) error {
	if !s.begun && e.Type != "message_start" && e.Type != "ping" && e.Type != "error" {
		return fmt.Errorf("expected message_start at the beginning of the stream, found %q", e.Type)
	}
	switch e.Type {
	case "error":
		return errInStream
	case "message_start":
		s.begun, s.model = true, e.Message.Model
	case "content_block_start":
		if s.byIndex[e.Index] != nil {
			return fmt.Errorf("block %d begins twice", e.Index)
		}
		e.Block.Input = nil // always {} at the beginning
		s.byIndex[e.Index], s.open[e.Index] = &e.Block, true
	case "content_block_delta":
		if !s.open[e.Index] {
			return fmt.Errorf("a delta for block %d, which is not open", e.Index)
		}
		b := s.byIndex[e.Index]
		b.Text += e.Delta.Text
		b.Input = append(b.Input, e.Delta.PartialJSON...)
	case "content_block_stop":
		delete(s.open, e.Index)
	case "message_delta":
		s.reason = e.Delta.StopReason
	case "message_stop":
		s.done = true
	}
	return nil
}
