package model

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// askChat asks OpenAI's chat completions.
func (m *Model) askChat(ctx context.Context, params map[string]any) (map[string]any, error) {
	body, err := chatBody(params, !m.options.Plain)
	if err != nil {
		return nil, err
	}
	answer, err := m.post(ctx, "/chat/completions", m.bearer(), body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	read := readChatStream
	if m.options.Plain {
		read = readChat
	}
	t, err := read(answer)
	if err != nil {
		return nil, err
	}
	return t.result(), nil
}

// completion is a chat completion, or a chunk of one.
type completion struct {
	Model   string `json:"model"`
	Choices []struct {
		Message      delta  `json:"message"`
		Delta        delta  `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"` // instead of an answer, with any finish reason
	ToolCalls []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (t *turn) say(d *delta) {
	t.text += d.Content + d.Refusal
	t.refuses = t.refuses || d.Refusal != ""
}

func readChat(answer io.Reader) (*turn, error) {
	var c completion
	if err := decode(answer, &c); err != nil {
		return nil, err
	}
	if len(c.Choices) == 0 {
		return nil, errors.New("the completion has no choices")
	}
	choice := c.Choices[0]
	t := &turn{finish: choice.FinishReason, model: c.Model}
	t.say(&choice.Message)
	for _, tc := range choice.Message.ToolCalls {
		t.calls = append(t.calls, call{tc.ID, tc.Function.Name, tc.Function.Arguments})
	}
	return t, nil
}

// chatStream is the part of a stream that was read.
type chatStream struct {
	turn
	byIndex map[int]*call
	done    bool
}

// readChatStream reads chunks up to [DONE]: what comes after the finish reason counts too.
func readChatStream(answer io.Reader) (*turn, error) {
	s := &chatStream{byIndex: map[int]*call{}}
	var invalid error
	err := sse.Events(answer, func(data []byte) bool {
		if string(data) == "[DONE]" {
			s.done = true
			return false
		}
		var c completion
		if invalid = json.Unmarshal(data, &c); invalid == nil {
			invalid = s.add(&c)
		}
		return invalid == nil
	})
	switch {
	case invalid != nil:
		return nil, invalid
	case err != nil:
		return nil, err
	case !s.done:
		return nil, errCutShort
	}
	for _, i := range slices.Sorted(maps.Keys(s.byIndex)) {
		s.calls = append(s.calls, *s.byIndex[i])
	}
	return &s.turn, nil
}

// add adds a chunk.
func (s *chatStream) add(c *completion) error {
	if c.Error != nil {
		return errInStream
	}
	if c.Model != "" {
		s.model = c.Model
	}
	for _, choice := range c.Choices {
		if choice.FinishReason != "" {
			s.finish = choice.FinishReason
		}
		s.say(&choice.Delta)
		s.addCalls(&choice.Delta)
	}
	return nil
}

// addCalls adds fragments of tool calls.
func (s *chatStream) addCalls(d *delta) {
	for _, tc := range d.ToolCalls {
		c := s.byIndex[tc.Index]
		if c == nil {
			c = &call{}
			s.byIndex[tc.Index] = c
		}
		if tc.ID != "" {
			c.id = tc.ID
		}
		if tc.Function.Name != "" {
			c.name = tc.Function.Name
		}
		c.arguments += tc.Function.Arguments
	}
}
