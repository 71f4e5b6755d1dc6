package anthropic

import (
	"encoding/json"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Encode writes text, tool uses and thinking, and an Other block as it stands, such as redacted thinking; media are left out, as
// the model answers with none. Its streams have no order in which a tool use could come late: [dialect.Reply.LateUse] changes nothing.
//
// A stream carries a tool use's input as text, whatever it is. A plain answer carries it as JSON, which the provider reads out of
// what the model wrote: of an input that is no JSON nothing is left, and it is {}.
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

// answer is a message of the model's, as it stands in a plain answer and, empty, at the beginning of a stream.
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

	blocks []dialect.Block // that the content is made of
}

// stopDetails are there for a refusal only.
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

// caller says who asked for the tool: the model itself, where no code of its own did.
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
	// A token is some four bytes; nobody can hold the fake to more.
	m.Usage = usage{Input: countTokens(req.Body), Output: 1 + spoken/4, ServiceTier: "standard", InferenceGeo: "not_available"}
	return m
}

func countTokens(body []byte) int { return 8 + len(body)/4 }

// whole is a block as a plain answer has it; nil for one that the model has no way to say.
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
