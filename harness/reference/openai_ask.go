package reference

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// askOpenAI asks by a chat completion.
func (m *model) askOpenAI(ctx context.Context, params map[string]any) (map[string]any, error) {
	body, err := openAIBody(params, !m.config.Plain)
	if err != nil {
		return nil, err
	}
	answer, err := m.post(ctx, dialect.OpenAIChat, "/chat/completions", m.bearer(), body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	var t *turn
	if m.config.Plain {
		t, err = m.readCompletion(answer)
	} else {
		t, err = m.readStream(answer)
	}
	if err != nil {
		return nil, err
	}
	return t.result(), nil
}

func (m *model) readCompletion(body io.Reader) (*turn, error) {
	var c completion
	if err := json.NewDecoder(body).Decode(&c); err != nil {
		return nil, err
	}
	if len(c.Choices) == 0 {
		return nil, errors.New("a completion without choices")
	}
	choice := c.Choices[0]
	t := &turn{finish: choice.FinishReason, model: c.Model}
	t.say(&choice.Message, &m.config.broken)
	for _, tc := range choice.Message.ToolCalls {
		t.calls = append(t.calls, call{tc.ID, tc.Function.Name, tc.Function.Arguments})
	}
	return t, nil
}

// readStream reads the chunks to the very end: what comes after the finish reason counts too. A stream that ends without [DONE]
// was cut short and is no answer.
func (m *model) readStream(body io.Reader) (*turn, error) {
	broken := &m.config.broken
	t := &turn{}
	byIndex := map[int]*call{}
	done := false
	var bad error
	err := events(body, func(data []byte) bool {
		if string(data) == "[DONE]" {
			done = true
			return false
		}
		if broken.stopsAtFinish && t.finish != "" {
			return true // hanging up would be seen by the model in some runs, and in others not
		}
		var c completion
		if bad = json.Unmarshal(data, &c); bad == nil && c.Error != nil {
			bad = errors.New("the provider reported an error in the stream")
		}
		if bad != nil {
			return false
		}
		if c.Model != "" {
			t.model = c.Model
		}
		for _, choice := range c.Choices {
			if choice.FinishReason != "" {
				t.finish = choice.FinishReason
			}
			if !broken.stopsAtFinish || t.finish == "" {
				t.say(&choice.Delta, broken)
				t.add(&choice.Delta, byIndex)
			}
		}
		return true
	})
	switch {
	case bad != nil:
		return nil, bad
	case broken.keepsPartial && t.text != "":
	case err != nil:
		return nil, err
	case !done:
		return nil, errors.New("the stream ended before it was whole")
	}
	indexes := make([]int, 0, len(byIndex))
	for i := range byIndex {
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	if broken.keepsLastStreamed && len(indexes) > 1 {
		indexes = indexes[len(indexes)-1:]
	}
	for _, i := range indexes {
		t.calls = append(t.calls, *byIndex[i])
	}
	return t, nil
}

// add takes in the fragments of calls in one chunk.
func (t *turn) add(d *delta, byIndex map[int]*call) {
	for _, tc := range d.ToolCalls {
		c := byIndex[tc.Index]
		if c == nil {
			c = &call{}
			byIndex[tc.Index] = c
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
