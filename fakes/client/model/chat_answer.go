package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
)

func (m *Model) chat(params map[string]any) (*exchange, error) {
	read := readChatStream
	if m.options.Plain {
		read = readChat
	}
	body, err := m.chatBody(params)
	return &exchange{"/chat/completions", m.bearer(), body, read}, err
}

// completion is a chat completion, or a chunk of one.
type completion struct {
	Model   string `json:"model"`
	Choices []struct {
		Message      chatMessage `json:"message"`
		Delta        chatMessage `json:"delta"`
		FinishReason string      `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

type chatMessage struct {
	Content   chatContent `json:"content"`
	Refusal   string      `json:"refusal"` // instead of an answer, with any finish reason
	ToolCalls []chatCall  `json:"tool_calls"`
}

// chatContent is the text of a message. Mistral has an array of parts beside its thinking, which is not part of it.
type chatContent string

func (c *chatContent) UnmarshalJSON(raw []byte) error {
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return json.Unmarshal(raw, (*string)(c))
	}
	for _, p := range parts {
		*c += chatContent(p.Text)
	}
	return nil
}

type chatCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func readChat(answer io.Reader) (*turn, error) {
	c, err := decode[completion](answer)
	if err != nil {
		return nil, err
	}
	if len(c.Choices) == 0 {
		return nil, errors.New("the completion has no choices")
	}
	choice := c.Choices[0]
	t := &turn{finish: choice.FinishReason, model: c.Model}
	t.say(string(choice.Message.Content) + choice.Message.Refusal)
	if choice.Message.Refusal != "" {
		t.finish = "refusal"
	}
	for _, call := range choice.Message.ToolCalls {
		t.use(call.ID, call.Function.Name, []byte(call.Function.Arguments))
	}
	return t, nil
}

// chatStream is the part of a stream that was read.
type chatStream struct {
	turn
	refuses bool
	calls   map[int]*chatCall // by index
}

// readChatStream reads chunks up to [DONE]: what comes after the finish reason counts too. Without [DONE], which some
// gateways do not send, the finish reason says that the answer is complete.
func readChatStream(answer io.Reader) (*turn, error) {
	s := &chatStream{calls: map[int]*chatCall{}}
	complete, err := readEvents(answer, s.add)
	if err := whole(complete || s.finish != "", err); err != nil {
		return nil, err
	}
	for _, i := range slices.Sorted(maps.Keys(s.calls)) {
		call := s.calls[i]
		s.use(call.ID, call.Function.Name, []byte(call.Function.Arguments))
	}
	if s.refuses {
		s.finish = "refusal"
	}
	return &s.turn, nil
}

func (s *chatStream) add(c *completion) (complete bool, err error) {
	if c.Error != nil {
		return false, errInStream
	}
	s.model = cmp.Or(c.Model, s.model)
	for _, choice := range c.Choices {
		s.finish = cmp.Or(choice.FinishReason, s.finish)
		s.say(string(choice.Delta.Content) + choice.Delta.Refusal)
		s.refuses = s.refuses || choice.Delta.Refusal != ""
		for _, piece := range choice.Delta.ToolCalls {
			call := s.calls[piece.Index]
			if call == nil {
				call = &chatCall{}
				s.calls[piece.Index] = call
			}
			call.ID = cmp.Or(piece.ID, call.ID)
			call.Function.Name = cmp.Or(piece.Function.Name, call.Function.Name)
			call.Function.Arguments += piece.Function.Arguments
		}
	}
	return false, nil
}
