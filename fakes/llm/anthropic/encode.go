package anthropic

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Encode writes text, tool uses, thinking, and Other blocks unchanged, such as redacted thinking. Where the request
// enables thinking with a budget, the first answer of a turn begins with thinking. It drops media: no model answers
// with them. [dialect.Reply.LateUse] has no effect: these streams cannot deliver a tool use late.
//
// A stream carries the input of a tool use as text, even invalid JSON. In a plain answer the provider parses it:
// invalid JSON becomes {}.
func (messages) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	m := newMessage(req, reply)
	id := requestID(reply.Serial, 0)
	a := dialect.Answer{Status: http.StatusOK, Header: header("application/json", id), Stream: req.Stream}
	if req.Stream {
		a.Header = header("text/event-stream; charset=utf-8", id)
		a.Header.Set("Cache-Control", "no-cache")
		a.Chunks = m.stream()
	} else {
		a.Chunks = [][]byte{m.object(m.content, m.end, m.usage.Output)}
	}
	addLimits(a.Header)
	return a
}

// withThinking begins content with thinking where that is enabled: the model thinks at the beginning of its turn, and
// the provider refuses a turn without it.
func withThinking(req *dialect.Request, content []dialect.Block) []dialect.Block {
	var kind string
	if json.Unmarshal(jsonvalue.Part(req.Body, "thinking.type"), &kind) != nil || kind != "enabled" {
		return content
	}
	n := len(req.Messages)
	inTurn := n > 0 && slices.ContainsFunc(req.Messages[n-1].Content, func(b dialect.Block) bool {
		return b.Type == dialect.ToolResult
	})
	if inTurn || len(content) == 0 || content[0].Type == dialect.Thinking || content[0].Type == dialect.Other {
		return content
	}
	return slices.Insert(slices.Clone(content), 0, dialect.Block{Type: dialect.Thinking, Text: "Let me think."})
}

type answer struct {
	model, id string
	blocks    []dialect.Block // those that a model can produce
	content   []any           // blocks on the wire
	end       end
	usage     dialect.Usage
}

// end is the part of a message that follows its content. Nil members are null.
type end struct{ reason, sequence, details any }

func (e end) members() []any {
	return []any{"stop_reason", e.reason, "stop_sequence", e.sequence, "stop_details", e.details}
}

func newMessage(req *dialect.Request, reply *dialect.Reply) *answer {
	reason := reply.Word(reasons)
	m := &answer{
		model: cmp.Or(reply.Model, req.Model), id: dialect.GenerateID("msg_01", 22, reply.Serial, 0), content: []any{},
		end: end{reason: reason},
	}
	if reason == refused {
		m.end.details = jsonvalue.Ordered("type", refused, "category", nil, "explanation", nil)
	}
	if reply.Reason() == dialect.StopStopSequence && len(req.StopSequences) > 0 {
		m.end.sequence = req.StopSequences[0]
	}
	size := 0
	for i, b := range withThinking(req, reply.Content) {
		switch {
		case b.Type == dialect.ToolUse && b.ID == "":
			b.ID = dialect.GenerateID("toolu_01", 22, reply.Serial, i)
		case b.Type == dialect.Thinking && b.Signature == "":
			b.Signature = dialect.GenerateID("Er", 32, reply.Serial, i) + "=="
		}
		content := contentBlock(b)
		if content == nil {
			continue
		}
		m.blocks, m.content = append(m.blocks, b), append(m.content, content)
		size += len(b.Text) + len(b.Name) + len(b.Input)
	}
	m.usage = dialect.Usage{Input: countTokens(req.Body), Output: 1 + size/4}
	if reply.Usage != nil {
		m.usage = *reply.Usage
	}
	return m
}

// countTokens estimates roughly four bytes a token; clients cannot rely on more.
func countTokens(body []byte) int { return 8 + len(body)/4 }

func (m *answer) object(content []any, e end, output int) json.RawMessage {
	usage := jsonvalue.Ordered("input_tokens", m.usage.Input-m.usage.Cached, "cache_creation_input_tokens", 0,
		"cache_read_input_tokens", m.usage.Cached,
		"cache_creation", jsonvalue.Ordered("ephemeral_5m_input_tokens", 0, "ephemeral_1h_input_tokens", 0),
		"output_tokens", output, "service_tier", "standard", "inference_geo", "not_available")
	members := []any{"model", m.model, "id", m.id, "type", "message", "role", "assistant", "content", content}
	return jsonvalue.Ordered(append(append(members, e.members()...), "usage", usage)...)
}

var noInput = json.RawMessage("{}")

// contentBlock returns a block as in a plain answer. Nil: a model cannot produce such a block.
func contentBlock(b dialect.Block) any {
	switch b.Type {
	case dialect.Text:
		return jsonvalue.Ordered("type", "text", "text", b.Text)
	case dialect.Thinking:
		return jsonvalue.Ordered("type", "thinking", "thinking", b.Text, "signature", b.Signature)
	case dialect.ToolUse:
		input := b.Input
		if !json.Valid(input) {
			input = noInput
		}
		// The caller is the model itself, not code that it wrote.
		return jsonvalue.Ordered("type", "tool_use", "id", b.ID, "name", b.Name, "input", input,
			"caller", jsonvalue.Ordered("type", "direct"))
	case dialect.Other:
		if json.Valid(b.Raw) {
			return b.Raw
		}
	}
	return nil
}
