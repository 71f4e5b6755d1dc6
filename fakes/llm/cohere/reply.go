package cohere

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// replyEvent is an answer, or an event of its stream.
type replyEvent struct {
	Type         string
	Index        int
	Message      *replyMessage
	FinishReason string `json:"finish_reason"`
	Delta        struct {
		Message      replyMessage
		FinishReason string `json:"finish_reason"`
		Error        string
	}
}

// replyMessage is a message, or the part of one that an event has: one element in place of a list.
type replyMessage struct {
	Plan      string          `json:"tool_plan"`
	Content   list[replyPart] `json:"content"`
	ToolCalls list[replyCall] `json:"tool_calls"`
}

// list is a list, or its only element.
type list[T any] []T

func (l *list[T]) UnmarshalJSON(raw []byte) error {
	if !jsonvalue.IsKind(raw, '{') {
		return json.Unmarshal(raw, (*[]T)(l))
	}
	*l = make([]T, 1)
	return json.Unmarshal(raw, &(*l)[0])
}

type replyPart struct{ Type, Text, Thinking string }

type replyCall struct {
	ID       string
	Function struct{ Name, Arguments string }
}

// DecodeReply reads an answer or a stream. The tool plan is a text before the tool uses.
func (chat) DecodeReply(body []byte) (*dialect.DecodedReply, error) {
	r := &replyReader{parts: map[int]*dialect.Block{}, calls: map[int]*dialect.Block{}}
	done, err := dialect.EachDocument(body, r.take)
	if err != nil {
		return nil, err
	}
	if !r.begun {
		return nil, errors.New("the answer has no message")
	}
	for _, i := range slices.Sorted(maps.Keys(r.parts)) {
		r.Content = append(r.Content, *r.parts[i])
	}
	if r.plan.Len() > 0 {
		r.Content = append(r.Content, dialect.Block{Type: dialect.Text, Text: r.plan.String()})
	}
	for _, i := range slices.Sorted(maps.Keys(r.calls)) {
		r.Content = append(r.Content, *r.calls[i])
	}
	r.End(r.reason, reasons)
	r.Complete = done || r.reason != ""
	return &r.DecodedReply, nil
}

type replyReader struct {
	dialect.DecodedReply
	begun        bool
	plan         strings.Builder
	parts, calls map[int]*dialect.Block // by index
	reason       string
}

func (r *replyReader) take(e *replyEvent) error {
	m := &e.Delta.Message
	if e.Message != nil {
		m = e.Message
	}
	r.begun = r.begun || e.Message != nil || e.Type == "message-start"
	if r.reason = cmp.Or(e.FinishReason, e.Delta.FinishReason, r.reason); r.reason == failed {
		return dialect.ReportedError(jsonvalue.Marshal(cmp.Or(e.Delta.Error, failed)))
	}
	r.plan.WriteString(m.Plan)
	for i, p := range m.Content {
		b := at(r.parts, e.Index+i)
		switch b.Text += p.Text + p.Thinking; {
		case p.Type == "thinking", p.Thinking != "":
			b.Type = dialect.Thinking
		case b.Type == "":
			b.Type = dialect.Text
		}
	}
	for i, c := range m.ToolCalls {
		b := at(r.calls, e.Index+i)
		b.Type = dialect.ToolUse
		b.ID, b.Name = cmp.Or(c.ID, b.ID), cmp.Or(c.Function.Name, b.Name)
		b.Input = append(b.Input, c.Function.Arguments...)
	}
	return nil
}

func at(blocks map[int]*dialect.Block, i int) *dialect.Block {
	if blocks[i] == nil {
		blocks[i] = &dialect.Block{}
	}
	return blocks[i]
}
