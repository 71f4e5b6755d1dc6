package anthropic

import (
	"encoding/json"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Encode writes text, tool uses, thinking, and Other blocks unchanged, such as redacted thinking. It drops media: no
// model answers with them. [dialect.Reply.LateUse] has no effect: these streams cannot deliver a tool use late.
//
// A stream carries the input of a tool use as text, even invalid JSON. In a plain answer the provider parses it:
// invalid JSON becomes {}.
func (messages) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	m := newMessage(req, reply)
	id := requestID(reply.Serial, 0)
	if req.Stream {
		h := header("text/event-stream; charset=utf-8", id)
		h.Set("Cache-Control", "no-cache")
		addLimits(h)
		return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: m.stream(), Stream: true}
	}
	h := header("application/json", id)
	addLimits(h)
	return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{dialect.Marshal(m)}}
}

// answer is a message of the model. At the start of a stream it is empty.
type answer struct {
	Model        string       `json:"model"`
	ID           string       `json:"id"`
	Type         string       `json:"type"`
	Role         dialect.Role `json:"role"`
	Content      []any        `json:"content"`
	StopReason   *string      `json:"stop_reason"`
	StopSequence *string      `json:"stop_sequence"`
	StopDetails  *stopDetails `json:"stop_details"`
	Usage        usage        `json:"usage"`

	blocks []dialect.Block // the source of Content
}

// stopDetails is present only for a refusal.
type stopDetails struct {
	Type        string  `json:"type"`
	Category    *string `json:"category"`
	Explanation *string `json:"explanation"`
}

type usage struct {
	Input         int `json:"input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	Cached        struct {
		FiveMinutes int `json:"ephemeral_5m_input_tokens"`
		OneHour     int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Output       int    `json:"output_tokens"`
	ServiceTier  string `json:"service_tier"`
	InferenceGeo string `json:"inference_geo"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type useBlock struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Caller caller          `json:"caller"`
}

// caller says who called the tool: the model itself, or code that it wrote.
type caller struct {
	Type string `json:"type"`
}

func newMessage(req *dialect.Request, reply *dialect.Reply) *answer {
	reason := stopReason(reply.Reason())
	m := &answer{
		Model: reply.Model, ID: dialect.MintID("msg_01", 22, reply.Serial, 0), Type: "message", Role: dialect.Assistant,
		Content: []any{}, StopReason: &reason,
	}
	if m.Model == "" {
		m.Model = req.Model
	}
	if reason == refused {
		m.StopDetails = &stopDetails{Type: refused}
	}
	if reply.Reason() == dialect.StopStopSequence && len(req.StopSequences) > 0 {
		m.StopSequence = &req.StopSequences[0]
	}
	spoken := 0
	for i, b := range reply.Content {
		switch {
		case b.Type == dialect.ToolUse && b.ID == "":
			b.ID = dialect.MintID("toolu_01", 22, reply.Serial, i)
		case b.Type == dialect.Thinking && b.Signature == "":
			b.Signature = dialect.MintID("Er", 32, reply.Serial, i) + "=="
		}
		content := whole(b)
		if content == nil {
			continue
		}
		m.blocks, m.Content = append(m.blocks, b), append(m.Content, content)
		spoken += len(b.Text) + len(b.Name) + len(b.Input)
	}
	// Roughly four bytes a token; clients cannot rely on more.
	m.Usage = usage{Input: countTokens(req.Body), Output: 1 + spoken/4, ServiceTier: "standard", InferenceGeo: "not_available"}
	return m
}

func countTokens(body []byte) int { return 8 + len(body)/4 }

// whole returns a block as in a plain answer. Nil: a model cannot produce such a block.
func whole(b dialect.Block) any {
	switch b.Type {
	case dialect.Text:
		return textBlock{"text", b.Text}
	case dialect.Thinking:
		return thinkingBlock{"thinking", b.Text, b.Signature}
	case dialect.ToolUse:
		input := b.Input
		if !json.Valid(input) {
			input = noInput
		}
		return useBlock{"tool_use", b.ID, b.Name, input, caller{"direct"}}
	case dialect.Other:
		if json.Valid(b.Raw) {
			return b.Raw
		}
	}
	return nil
}

var noInput = json.RawMessage("{}")
