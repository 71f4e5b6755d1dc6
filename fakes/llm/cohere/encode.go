package cohere

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Encode writes text, thinking and tool uses. It drops media and Other: no model answers with them.
// [dialect.Reply.LateUse] has no effect: each call of a stream has an end of its own.
func (chat) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	c := newCompletion(req, reply)
	a := dialect.Answer{Status: http.StatusOK, Header: header("application/json", reply.Serial), Stream: req.Stream}
	if req.Stream {
		a.Header = header("text/event-stream", reply.Serial)
		a.Chunks = c.stream()
	} else {
		a.Chunks = [][]byte{jsonvalue.Marshal(c)}
	}
	return a
}

// completion is an answer.
type completion struct {
	ID           string        `json:"id"`
	Message      answerMessage `json:"message"`
	FinishReason string        `json:"finish_reason"`
	Usage        tokens        `json:"usage"`
}

type answerMessage struct {
	Role      string    `json:"role"`
	Plan      string    `json:"tool_plan,omitempty"`
	Content   []content `json:"content,omitempty"`
	ToolCalls []used    `json:"tool_calls,omitempty"`
}

// content is a text or thinking, or a piece of it. Members that it does not have are nil.
type content struct {
	Type     string  `json:"type,omitempty"`
	Text     *string `json:"text,omitempty"`
	Thinking *string `json:"thinking,omitempty"`
}

// used is a tool call, or a piece of one, which has arguments only.
type used struct {
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// tokens are the tokens of an answer, and those that are billed.
type tokens struct {
	Billed counts `json:"billed_units"`
	Tokens counts `json:"tokens"`
	Cached int    `json:"cached_tokens"`
}

type counts struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

func newCompletion(req *dialect.Request, reply *dialect.Reply) *completion {
	c := &completion{ID: uuid(reply.Serial), Message: answerMessage{Role: "assistant"}, FinishReason: reply.Word(reasons)}
	var texts []string
	size := 0
	for i, b := range reply.Content {
		size += len(b.Text) + len(b.Name) + len(b.Input)
		switch b.Type {
		case dialect.Text:
			texts = append(texts, b.Text)
		case dialect.Thinking:
			c.Message.Content = append(c.Message.Content, content{Type: "thinking", Thinking: &b.Text})
		case dialect.ToolUse:
			u := used{ID: b.ID, Type: "function"}
			if u.ID == "" {
				u.ID = b.Name + "_" + strings.ToLower(dialect.GenerateID("", 12, reply.Serial, i))
			}
			u.Function.Name, u.Function.Arguments = b.Name, string(b.Input)
			c.Message.ToolCalls = append(c.Message.ToolCalls, u)
		}
	}
	if c.Message.ToolCalls != nil {
		c.Message.Plan, texts = strings.Join(texts, ""), nil
	}
	for _, text := range texts {
		c.Message.Content = append(c.Message.Content, content{Type: "text", Text: &text})
	}
	count := dialect.Usage{Input: 8 + len(req.Body)/4, Output: 1 + size/4} // about four bytes a token
	if reply.Usage != nil {
		count = *reply.Usage
	}
	all := counts{count.Input, count.Output}
	c.Usage = tokens{Billed: all, Tokens: all, Cached: count.Cached}
	return c
}

// event is an event of a stream.
type event struct {
	ID    string `json:"id,omitempty"`
	Type  string `json:"type"`
	Index *int   `json:"index,omitempty"`
	Delta any    `json:"delta,omitempty"`
}

// delta is the delta of an event; message has one member of a message.
type delta struct {
	Message any `json:"message"`
}

func (e event) bytes() []byte {
	return append(append([]byte("event: "+e.Type+"\ndata: "), jsonvalue.Marshal(e)...), "\n\n"...)
}

// stream returns the events: the empty message, the plan, each part of the content and each call, then the end.
func (c *completion) stream() [][]byte {
	empty := jsonvalue.Ordered("role", "assistant", "content", []string{}, "tool_plan", "", "tool_calls", []string{},
		"citations", []string{})
	events := [][]byte{event{ID: c.ID, Type: "message-start", Delta: delta{empty}}.bytes()}
	add := func(kind string, index *int, member string, value any) {
		e := event{Type: kind, Index: index}
		if member != "" {
			e.Delta = delta{map[string]any{member: value}}
		}
		events = append(events, e.bytes())
	}
	for i, part := range c.Message.Content {
		fragments, piece := part.pieces()
		add("content-start", &i, "content", piece(part.Type, ""))
		for _, fragment := range fragments {
			add("content-delta", &i, "content", piece("", fragment))
		}
		add("content-end", &i, "", nil)
	}
	for _, fragment := range dialect.Fragments(c.Message.Plan) {
		add("tool-plan-delta", nil, "tool_plan", fragment)
	}
	for i, call := range c.Message.ToolCalls {
		arguments := call.Function.Arguments
		call.Function.Arguments = ""
		add("tool-call-start", &i, "tool_calls", call)
		for _, fragment := range dialect.Fragments(arguments) {
			var piece used
			piece.Function.Arguments = fragment
			add("tool-call-delta", &i, "tool_calls", piece)
		}
		add("tool-call-end", &i, "", nil)
	}
	end := jsonvalue.Ordered("finish_reason", c.FinishReason, "usage", c.Usage)
	return append(events, event{Type: "message-end", Delta: end}.bytes(), []byte("data: [DONE]\n\n"))
}

// pieces returns the fragments of a part, and what makes a part of one.
func (p content) pieces() (fragments []string, piece func(kind, text string) content) {
	if p.Thinking != nil {
		return dialect.Fragments(*p.Thinking), func(kind, text string) content {
			return content{Type: kind, Thinking: &text}
		}
	}
	return dialect.Fragments(*p.Text), func(kind, text string) content { return content{Type: kind, Text: &text} }
}

func errorBody(e *dialect.Error) json.RawMessage {
	return e.Object("id", uuid(int64(e.Status)<<32+int64(len(e.Message))), "message", e.Message)
}

// EncodeError writes {"id","message"}. The SDKs decide by the status whether to retry.
func (chat) EncodeError(e *dialect.Error) dialect.Answer {
	h := header("application/json", int64(e.Status))
	maps.Copy(h, e.Header)
	return dialect.Answer{Status: e.Status, Header: h, Chunks: [][]byte{errorBody(e)}}
}

// EncodeErrorEvent writes the end of a message that failed.
func (chat) EncodeErrorEvent(_ *dialect.Request, _ *dialect.Reply, _ int, e *dialect.Error) []byte {
	return event{Type: "message-end",
		Delta: jsonvalue.Ordered("error", e.Message, "finish_reason", failed)}.bytes()
}
