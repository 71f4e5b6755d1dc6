package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// askOllama asks by a chat of Ollama's.
func (m *model) askOllama(ctx context.Context, params map[string]any) (map[string]any, error) {
	body, err := m.ollamaBody(params)
	if err != nil {
		return nil, err
	}
	answer, err := m.post(ctx, dialect.Ollama, "/api/chat", m.bearer(), body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	t, err := m.readLines(answer)
	if err != nil {
		return nil, err
	}
	m.mintIDs(t, params)
	return t.result(), nil
}

// chatLine is an answer, or a line of one.
type chatLine struct {
	Model   string `json:"model"`
	Message struct {
		Content   string `json:"content"`
		Thinking  string `json:"thinking"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Error      json.RawMessage `json:"error"`
}

// readLines reads the lines to the very end, or the one object that is a plain answer: the last says something, too. Lines that end without
// one that is done were cut short and are no answer.
func (m *model) readLines(body io.Reader) (*turn, error) {
	broken := &m.config.broken
	t, done := &turn{}, false
	for dec := json.NewDecoder(body); ; {
		var line chatLine
		err := dec.Decode(&line)
		switch {
		case errors.Is(err, io.EOF) && !done:
			return nil, errors.New("the stream ended before it was whole")
		case errors.Is(err, io.EOF):
			return t, nil
		case err != nil:
			return nil, err
		case line.Error != nil:
			return nil, errors.New("the provider reported an error in the stream")
		}
		t.model = line.Model
		if line.Done {
			done, t.finish = true, line.DoneReason
			if broken.stopsAtFinish {
				return t, nil
			}
		}
		if broken.thinksAloud {
			t.text += line.Message.Thinking
		}
		t.text += line.Message.Content
		if broken.keepsLastStreamed && line.Message.ToolCalls != nil {
			t.calls = nil
		}
		for _, c := range line.Message.ToolCalls {
			t.calls = append(t.calls, call{c.ID, c.Function.Name, string(c.Function.Arguments)})
		}
	}
}

// mintIDs gives ids to the calls that came without one: no two in a conversation are the same, however often it is asked.
func (m *model) mintIDs(t *turn, params map[string]any) {
	n := 1
	eachMessage(params, func(m map[string]any) {
		if m["role"] == "assistant" {
			n++
		}
	})
	for i := range t.calls {
		switch c := &t.calls[i]; {
		case m.config.broken.idsFromNames:
			c.id = c.name
		case c.id == "":
			c.id = fmt.Sprintf("call_%d_%d", n, i+1)
		}
	}
}
