package model

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
)

func (m *Model) anthropic(params map[string]any) (*exchange, error) {
	read := readAnthropicStream
	if m.options.Plain {
		read = readAnthropic
	}
	header := http.Header{"X-Api-Key": {m.options.Key}, "Anthropic-Version": {"2023-06-01"}}
	body, err := m.anthropicBody(params)
	return &exchange{"/v1/messages", header, body, read}, err
}

// anthropicAnswerBlock is a block of the answer, or its beginning.
type anthropicAnswerBlock struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

func (b *anthropicAnswerBlock) addTo(t *turn) {
	switch b.Type {
	case "text":
		t.say(b.Text)
	case "tool_use":
		t.use(b.ID, b.Name, b.Input)
	}
}

func readAnthropic(answer io.Reader) (*turn, error) {
	var message struct {
		Type       string                 `json:"type"`
		Model      string                 `json:"model"`
		Content    []anthropicAnswerBlock `json:"content"`
		StopReason string                 `json:"stop_reason"`
	}
	if err := json.NewDecoder(answer).Decode(&message); err != nil {
		return nil, err
	}
	if message.Type != "message" {
		return nil, fmt.Errorf("expected a message, found type %q", message.Type)
	}
	t := &turn{model: message.Model, finish: message.StopReason}
	for i := range message.Content {
		message.Content[i].addTo(t)
	}
	return t, nil
}

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
	turn
	begun   bool
	open    map[int]bool // blocks that have not ended
	byIndex map[int]*anthropicAnswerBlock
}

// readAnthropicStream reads events up to message_stop.
func readAnthropicStream(answer io.Reader) (*turn, error) {
	s := &anthropicStream{open: map[int]bool{}, byIndex: map[int]*anthropicAnswerBlock{}}
	complete, err := readEvents(answer, s.take)
	if err := whole(complete && len(s.open) == 0, err); err != nil {
		return nil, err
	}
	for _, i := range slices.Sorted(maps.Keys(s.byIndex)) {
		s.byIndex[i].addTo(&s.turn)
	}
	return &s.turn, nil
}

// take adds one event. Unknown events and deltas are skipped: the API may add new ones.
func (s *anthropicStream) take(e *anthropicEvent) (complete bool, err error) {
	if !s.begun && e.Type != "message_start" && e.Type != "ping" && e.Type != "error" {
		return false, fmt.Errorf("expected message_start at the beginning of the stream, found %q", e.Type)
	}
	switch e.Type {
	case "error":
		return false, errInStream
	case "message_start":
		s.begun, s.model = true, e.Message.Model
	case "content_block_start":
		if s.byIndex[e.Index] != nil {
			return false, fmt.Errorf("block %d begins twice", e.Index)
		}
		e.Block.Input = nil // always {} at the beginning
		s.byIndex[e.Index], s.open[e.Index] = &e.Block, true
	case "content_block_delta":
		if !s.open[e.Index] {
			return false, fmt.Errorf("a delta for block %d, which is not open", e.Index)
		}
		b := s.byIndex[e.Index]
		b.Text += e.Delta.Text
		b.Input = append(b.Input, e.Delta.PartialJSON...)
	case "content_block_stop":
		delete(s.open, e.Index)
	case "message_delta":
		s.finish = e.Delta.StopReason
	case "message_stop":
		return true, nil
	}
	return false, nil
}
