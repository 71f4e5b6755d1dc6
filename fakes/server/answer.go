package server

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Answer is a CreateMessageResult, for [As].
type Answer struct {
	Role       string            `json:"role"`
	Model      string            `json:"model"`
	StopReason string            `json:"stopReason"`
	Content    []json.RawMessage `json:"-"`
}

// UnmarshalJSON reads the result of a client. Its content is a block or an array of blocks.
func (a *Answer) UnmarshalJSON(raw []byte) error {
	type plain Answer
	var members struct {
		*plain
		Content json.RawMessage `json:"content"`
	}
	members.plain = (*plain)(a)
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	a.Content = nil
	if json.Unmarshal(members.Content, &a.Content) != nil {
		a.Content = []json.RawMessage{members.Content}
	}
	return nil
}

// Text returns the texts of the answer, joined by newlines.
func (a Answer) Text() string {
	var texts []string
	for _, raw := range a.Content {
		var block TextContent
		if json.Unmarshal(raw, &block) == nil && block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ToolUses returns the tool uses of the answer, in order.
func (a Answer) ToolUses() []ToolUseContent {
	return ToolUses(mustEncode(map[string]any{"content": a.Content}))
}

// As decodes the client's result into a type, such as [Answer] or an SDK's own:
//
//	answer, err := server.As[server.Answer](s.Sample(s.Ask("Summarise: the cat sat on the mat.")))
//
// An error of the sample stays as it is.
func As[T any](result json.RawMessage, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(result, &v); err != nil {
		return v, fmt.Errorf("reading the client's result as %T: %w", v, err)
	}
	return v, nil
}
