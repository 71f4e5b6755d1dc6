package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// askAnthropic asks by Anthropic Messages.
func (m *model) askAnthropic(ctx context.Context, params map[string]any) (map[string]any, error) {
	body, err := anthropicBody(params, !m.config.Plain)
	if err != nil {
		return nil, err
	}
	header := http.Header{"X-Api-Key": {m.env.Key}, "Anthropic-Version": {"2023-06-01"}}
	answer, err := m.post(ctx, dialect.Anthropic, "/v1/messages", header, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	var t *anthropicTurn
	if m.config.Plain {
		t, err = readAnthropicMessage(answer)
	} else {
		t, err = m.readAnthropicStream(answer)
	}
	if err != nil {
		return nil, err
	}
	return t.result(), nil
}

// anthropicBlockWire is a block of the model's, whole or at its beginning.
type anthropicBlockWire struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// mcp returns the block in the shape of MCP; nil for one that the server is not to see, such as the model's thinking.
func (b *anthropicBlockWire) mcp() map[string]any {
	switch b.Type {
	case "text":
		return map[string]any{"type": "text", "text": b.Text}
	case "tool_use":
		return map[string]any{"type": "tool_use", "id": b.ID, "name": b.Name, "input": inputOf(b.Input)}
	}
	return nil
}

func (t *anthropicTurn) add(b *anthropicBlockWire) {
	if block := b.mcp(); block != nil {
		t.blocks = append(t.blocks, block)
	}
}

func readAnthropicMessage(body io.Reader) (*anthropicTurn, error) {
	var message struct {
		Type       string               `json:"type"`
		Model      string               `json:"model"`
		Content    []anthropicBlockWire `json:"content"`
		StopReason string               `json:"stop_reason"`
	}
	if err := json.NewDecoder(body).Decode(&message); err != nil {
		return nil, err
	}
	if message.Type != "message" {
		return nil, fmt.Errorf("the answer is a %q: want a message", message.Type)
	}
	t := &anthropicTurn{model: message.Model, reason: message.StopReason}
	for i := range message.Content {
		t.add(&message.Content[i])
	}
	return t, nil
}

// anthropicEvent is the data of an event of a stream.
type anthropicEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string `json:"model"`
	} `json:"message"`
	Block anthropicBlockWire `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
}

// anthropicStream is as much of a stream as has come.
type anthropicStream struct {
	anthropicTurn
	broken      *faults
	begun, done bool
	open        map[int]bool // blocks that have not ended
	byIndex     map[int]*anthropicBlockWire
}

// readAnthropicStream reads the events to message_stop. A stream that ends before it was cut short and is no answer.
func (m *model) readAnthropicStream(body io.Reader) (*anthropicTurn, error) {
	s := &anthropicStream{broken: &m.config.broken, open: map[int]bool{}, byIndex: map[int]*anthropicBlockWire{}}
	var bad error
	err := events(body, func(data []byte) bool {
		var e anthropicEvent
		if bad = json.Unmarshal(data, &e); bad == nil {
			bad = s.take(&e)
		}
		return bad == nil && !s.done
	})
	switch {
	case bad != nil:
		return nil, bad
	case err != nil:
		return nil, err
	case !s.done || len(s.open) > 0:
		return nil, errors.New("the stream ended before it was whole")
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

// take takes in one event. Events and deltas that it does not know are left out: the API may send new ones.
func (s *anthropicStream) take(e *anthropicEvent) error {
	if !s.begun && e.Type != "message_start" && e.Type != "ping" && e.Type != "error" {
		return fmt.Errorf("the stream begins with %q: want message_start", e.Type)
	}
	if s.broken.ignoresIndex {
		e.Index = 0
		if e.Type == "content_block_start" && s.byIndex[0] != nil {
			s.open[0] = true
			return nil
		}
	}
	switch e.Type {
	case "error":
		return errors.New("the provider reported an error in the stream")
	case "ping":
		if s.broken.pingIsAnError {
			return errors.New("broken on purpose: an event that it does not know")
		}
	case "message_start":
		s.begun, s.model = true, e.Message.Model
	case "content_block_start":
		if s.byIndex[e.Index] != nil {
			return fmt.Errorf("block %d begins twice", e.Index)
		}
		if !s.broken.keepsFirstInput {
			e.Block.Input = nil // {} as yet
		}
		s.byIndex[e.Index], s.open[e.Index] = &e.Block, true
	case "content_block_delta":
		if !s.open[e.Index] {
			return fmt.Errorf("a delta of block %d, which is not open", e.Index)
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
