package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// chatReply is a completion, or a chunk of one.
type chatReply struct {
	Model   string
	Choices []struct {
		Index          int
		Message, Delta chatSaid
		FinishReason   string `json:"finish_reason"`
	}
	Error json.RawMessage
}

// chatSaid is a message or a delta. Compatible servers name the thinking in two ways, and content may be an array.
type chatSaid struct {
	Content, Reasoning json.RawMessage
	ReasoningContent   json.RawMessage `json:"reasoning_content"`
	Refusal            string
	ToolCalls          []chatCall    `json:"tool_calls"`
	FunctionCall       *chatFunction `json:"function_call"`
}

type chatCall struct {
	Index    *int
	ID       string
	Function chatFunction
}

type chatFunction struct {
	Name      string
	Arguments json.RawMessage // a string; with some servers an object
}

// DecodeReply reads a completion or a stream. Deltas after the finish reason count. A refusal is a text, and the stop
// reason [dialect.StopRefusal].
func (c chat) DecodeReply(body []byte) (*dialect.DecodedReply, error) {
	r := &chatReader{calls: map[int]int{}, last: -1}
	done, err := dialect.EachDocument(body, r.take)
	if err != nil {
		return nil, err
	}
	r.End(r.finish, reasons)
	if r.finish == "function_call" { // legacy
		r.StopReason = dialect.StopToolUse
	}
	if r.refuses && r.StopReason == dialect.EndTurn {
		r.StopReason = dialect.StopRefusal
	}
	r.Complete = done || r.finish != ""
	return &r.DecodedReply, nil
}

type chatReader struct {
	dialect.DecodedReply
	calls   map[int]int // the position in the content, by index
	last    int         // the position of the last fragment; -1 for none
	finish  string
	refuses bool
}

func (r *chatReader) take(c *chatReply) error {
	if jsonvalue.IsGiven(c.Error) {
		return dialect.ReportedError(c.Error)
	}
	r.Model = cmp.Or(c.Model, r.Model)
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // an alternative
		}
		r.finish = cmp.Or(choice.FinishReason, r.finish)
		for _, said := range []*chatSaid{&choice.Message, &choice.Delta} {
			r.say(dialect.Thinking, cmp.Or(textOf(said.ReasoningContent), textOf(said.Reasoning), thoughtOf(said.Content)))
			r.say(dialect.Text, textOf(said.Content)+said.Refusal)
			r.refuses = r.refuses || said.Refusal != ""
			for _, call := range said.ToolCalls {
				r.call(call)
			}
			if said.FunctionCall != nil {
				r.call(chatCall{Index: new(int), Function: *said.FunctionCall})
			}
		}
	}
	return nil
}

// textOf returns a string, or the joined texts of an array of parts; "" for anything else.
func textOf(raw json.RawMessage) string {
	var text string
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	_ = json.Unmarshal(raw, &parts)
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(p.Text)
	}
	return all.String()
}

// thoughtOf returns the thinking in an array of parts, as Mistral has it.
func thoughtOf(raw json.RawMessage) string {
	var parts []struct{ Thinking json.RawMessage }
	_ = json.Unmarshal(raw, &parts) // a string has none
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(textOf(p.Thinking))
	}
	return all.String()
}

// say adds text to the block of its type: a message has one content, whatever comes between its fragments.
func (r *chatReader) say(t dialect.BlockType, text string) {
	if i := slices.IndexFunc(r.Content, func(b dialect.Block) bool { return b.Type == t }); i >= 0 {
		r.Content[i].Text += text
		return
	}
	r.Say(t, text)
}

// call adds a call or a fragment. An index with another id, or a name without an index, begins a call; servers may
// repeat id and name.
func (r *chatReader) call(c chatCall) {
	at, known := r.last, r.last >= 0 && c.Function.Name == ""
	if c.Index != nil {
		at, known = r.calls[*c.Index]
	}
	if !known || c.ID != "" && r.Content[at].ID != "" && r.Content[at].ID != c.ID {
		at = len(r.Content)
		r.Content = append(r.Content, dialect.Block{Type: dialect.ToolUse})
	}
	if r.last = at; c.Index != nil {
		r.calls[*c.Index] = at
	}
	use := &r.Content[at]
	use.ID = cmp.Or(c.ID, use.ID)
	if c.Function.Name != use.Name {
		use.Name += c.Function.Name
	}
	var arguments string
	if json.Unmarshal(c.Function.Arguments, &arguments) != nil {
		arguments = string(c.Function.Arguments)
	}
	use.Input = append(use.Input, arguments...)
}
