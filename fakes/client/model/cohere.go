package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// cohere asks Cohere's chat. Its answers do not name the model, so it is the one that was asked.
func (m *Model) cohere(params map[string]any) (*exchange, error) {
	read := readCohereStream
	if m.options.Plain {
		read = readCohere
	}
	body, err := m.cohereBody(params)
	return &exchange{"/v2/chat", m.bearer(), body, func(answer io.Reader) (*turn, error) {
		t, err := read(answer)
		if t != nil {
			t.model = jsonvalue.TextIn(body, "model")
		}
		return t, err
	}}, err
}

func (m *Model) cohereBody(params map[string]any) (map[string]any, error) {
	name := modelName(params, cmp.Or(m.options.Model, "command-a-03-2025"), "command-r7b-12-2024",
		"command-a-reasoning-08-2025")
	body := map[string]any{"model": name, "max_tokens": params["maxTokens"], "stream": !m.options.Plain}
	var err error
	if body["messages"], err = chatHistory(params, cohereMessages); err != nil {
		return nil, err
	}
	if tools := functionsOf(params); tools != nil {
		body["tools"] = tools
		if choice := choiceOf(params); choice != "auto" { // which the API has no word for
			body["tool_choice"] = strings.ToUpper(choice)
		}
	}
	copyMembers(body, params, map[string]string{"temperature": "temperature", "stopSequences": "stop_sequences"})
	return body, nil
}

// cohereMessages writes one message of MCP like [chatMessages]: the API differs in what the model says before its tool
// calls, and takes no audio and no message without content.
func cohereMessages(role string, blocks []map[string]any) ([]any, error) {
	messages, err := chatMessages(role, blocks)
	kept := messages[:0]
	for _, item := range messages {
		message, _ := item.(map[string]any)
		parts, _ := message["content"].([]any)
		for _, part := range parts {
			if part, _ := part.(map[string]any); part["type"] == "input_audio" {
				return nil, notAccepted(map[string]any{"type": "audio"})
			}
		}
		content, isGiven := message["content"]
		if isGiven && message["tool_calls"] != nil {
			message["tool_plan"] = content
			delete(message, "content")
		}
		if role := message["role"]; message["tool_calls"] != nil || role == "tool" || content != "" && isGiven {
			kept = append(kept, item)
		}
	}
	return kept, err
}

// cohereAnswer is an answer, or an event of its stream.
type cohereAnswer struct {
	Type         string         `json:"type"`
	Index        int            `json:"index"`
	Message      *cohereMessage `json:"message"`
	FinishReason string         `json:"finish_reason"`
	Delta        struct {
		Message      json.RawMessage `json:"message"` // of another type for each type of event
		FinishReason string          `json:"finish_reason"`
	} `json:"delta"`
}

type cohereMessage struct {
	Plan    string `json:"tool_plan"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	ToolCalls []chatCall `json:"tool_calls"`
}

// cohereDelta is the message of an event.
type cohereDelta struct {
	Plan    string `json:"tool_plan"`
	Content struct {
		Text string `json:"text"`
	} `json:"content"`
	Call chatCall `json:"tool_calls"`
}

func readCohere(answer io.Reader) (*turn, error) {
	a, err := decode[cohereAnswer](answer)
	switch {
	case err != nil:
		return nil, err
	case a.Message == nil:
		return nil, errors.New("the answer has no message")
	case a.FinishReason == "ERROR":
		return nil, errInStream
	}
	t := &turn{finish: a.FinishReason}
	for _, part := range a.Message.Content {
		t.say(part.Text)
	}
	t.say(a.Message.Plan)
	for _, call := range a.Message.ToolCalls {
		t.use(call.ID, call.Function.Name, []byte(call.Function.Arguments))
	}
	return t, nil
}

// cohereStream is the part of a stream that was read.
type cohereStream struct {
	turn
	calls map[int]*chatCall // by index
}

// readCohereStream reads events up to message-end.
func readCohereStream(answer io.Reader) (*turn, error) {
	s := &cohereStream{calls: map[int]*chatCall{}}
	complete, err := readEvents(answer, s.take)
	if err := whole(complete && s.finish != "", err); err != nil {
		return nil, err
	}
	for _, i := range slices.Sorted(maps.Keys(s.calls)) {
		s.use(s.calls[i].ID, s.calls[i].Function.Name, []byte(s.calls[i].Function.Arguments))
	}
	return &s.turn, nil
}

// take adds one event. Unknown events are skipped: the API may add new ones.
func (s *cohereStream) take(e *cohereAnswer) (complete bool, err error) {
	var delta cohereDelta
	switch e.Type {
	case "content-start", "content-delta", "tool-plan-delta", "tool-call-start", "tool-call-delta":
		if err := json.Unmarshal(e.Delta.Message, &delta); err != nil {
			return false, err
		}
	case "message-end":
		if s.finish = e.Delta.FinishReason; s.finish == "ERROR" {
			return false, errInStream
		}
		return true, nil
	}
	s.say(delta.Content.Text + delta.Plan)
	switch call := s.calls[e.Index]; {
	case e.Type == "tool-call-start":
		s.calls[e.Index] = &delta.Call
	case e.Type == "tool-call-delta" && call == nil:
		return false, errors.New("a delta for a tool call that has not begun")
	case e.Type == "tool-call-delta":
		call.Function.Arguments += delta.Call.Function.Arguments
	}
	return false, nil
}
